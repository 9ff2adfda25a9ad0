"""The Hypothesis strategies and the state machine of ``understudy.testing``: what they draw is sound, and they find a
bug."""

import attrs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test

from scenarios.language import Scenario
from scenarios.testing.drawing import clusters, faults, loads, plans, scenarios
from scenarios.testing.machine import ClusterMachine, SteppedCluster
from scenarios.testing.verdict import KnownFinding

quick = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(clusters(), st.data())
def test_the_parts_fit_their_cluster(scenario: Scenario, data: st.DataObject) -> None:
    whole = attrs.evolve(
        scenario,
        workloads=(data.draw(loads(scenario)),),
        plan=data.draw(plans(scenario)),
        method=data.draw(faults(scenario)),
    )
    whole.check()
    assert Scenario.loads(whole.to_toml(), source="again") == whole


@settings(quick, max_examples=5, derandomize=True)
@given(scenarios(brokers=(3, 4)))
def test_whole_scenarios_break_no_invariant(scenario: Scenario) -> None:
    run = scenario.run()
    assert not run.violations, run.explanation


def test_the_same_steps_give_the_same_events() -> None:
    def digest() -> str:
        cluster = SteppedCluster(Scenario.from_table({"title": "t", "cluster": {"brokers": 3}}))
        cluster.do(lambda c: c.crash(1))
        cluster.wait_for(lambda c: c.sleep("20s"))
        found = cluster.do(lambda c: c.digest)
        cluster.close()
        return found

    assert digest() == digest()


def test_what_a_step_raises_comes_out_and_the_cluster_goes_on() -> None:
    cluster = SteppedCluster(Scenario.from_table({"title": "t", "cluster": {"brokers": 1}}))
    with pytest.raises(ZeroDivisionError):
        cluster.do(lambda _: 1 // 0)
    assert cluster.do(lambda c: c.up()) == [0]
    cluster.close()


class WithABug(ClusterMachine):
    drawn = clusters(brokers=(3, 3), partitions=1).map(lambda drawn: attrs.evolve(drawn, bugs=("KAFKA-1028",)))


def test_the_machine_finds_that_the_last_in_sync_replica_leaves_the_isr() -> None:
    """KAFKA-1028, switched on: under kafka-0.8 it is known."""
    found = settings(quick, max_examples=60, stateful_step_count=12, phases=[Phase.generate], derandomize=True)
    with pytest.raises(AssertionError, match="leader_in_isr"):
        run_state_machine_as_test(WithABug, settings=found)


class ShutsDown(ClusterMachine):
    drawn = clusters(brokers=(3, 3), partitions=1, profile="kafka-1.1")

    @rule()
    def shut_down_a_leader(self) -> None:
        leader = self.running.do(lambda c: c.leader("orders-0"))
        if self.running.do(lambda c: c.up()) == [0, 1, 2] and leader >= 0:
            self.running.wait_for(lambda c: c.stop(leader))


def test_what_the_release_does_wrong_by_itself_stops_no_machine() -> None:
    """KAFKA-7482, which kafka-1.1 has."""
    found = settings(quick, max_examples=20, stateful_step_count=6, phases=[Phase.generate], derandomize=True)
    with pytest.warns(KnownFinding, match="known under kafka-1.1: KAFKA-7482"):
        run_state_machine_as_test(ShutsDown, settings=found)
