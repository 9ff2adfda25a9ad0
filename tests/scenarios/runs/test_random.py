"""With any single fault during a move under load, nothing acknowledged with acks=all is lost, and the run ends.

The suite draws a few histories; the campaign many: ``pytest -m slow tests/scenarios/runs/test_random.py``.
"""

import pytest
from hypothesis import HealthCheck, given, settings

from scenarios.language import Scenario
from tests.scenarios.runs.building import EXECUTE, HEAL, at_step, play, scenario
from tests.scenarios.runs.random_cases import histories

SLOW_DRAWS = (HealthCheck.too_slow, HealthCheck.data_too_large)
EVEN = settings(deadline=None, database=None, derandomize=True, suppress_health_check=SLOW_DRAWS)
"""Settings with which Hypothesis draws the same histories each time."""


def check(wanted: Scenario, runs: int = 2) -> None:
    played = [play(wanted).run for _ in range(runs)]
    run = played[0]
    assert run.violations == (), run.explanation
    assert run.virtual_s <= wanted.horizon_us / 1e6
    assert all(again.digest == run.digest for again in played)


@settings(EVEN, max_examples=5)
@given(histories())
def test_one_fault_loses_nothing(wanted: Scenario) -> None:
    check(wanted)


@pytest.mark.slow
@settings(EVEN, max_examples=2000)
@given(histories())
def test_campaign_of_one_fault(wanted: Scenario) -> None:
    check(wanted, runs=1)


@pytest.mark.slow
@settings(EVEN, max_examples=2000)
@given(histories(faults=3))
def test_campaign_of_three_faults(wanted: Scenario) -> None:
    check(wanted, runs=1)


# -- what the campaigns have found ---------------------------------------------------------------------------------


def test_a_backlog_of_requests_is_no_recursion() -> None:
    """While the ISR is being waited for, requests queue; once the leader is alone, each is answered at once, and the
    answer to one took the next: hundreds of calls, one in the other."""
    cut = {"at": "2s", "action": "link.cut", "target": 0, "peer": 1}
    config = {"replica.lag.time.max.ms": 60_000, "request.timeout.ms": 120_000}
    wanted = scenario(
        brokers=3, controller=2, assignment=[[0, 1]], method=[cut], rate=300, config=config, horizon="2m",
        expect=[{"within": "100s", "isr": {"orders-0": [0]}}],
    )  # fmt: skip
    play(wanted).run.assert_expectations()


def test_a_process_killed_in_the_instant_of_its_thaw() -> None:
    """Its tasks were runnable already, and ran once more: inside a nursery of their own that ended the whole run."""
    pause = at_step("wiki.5", "before", "broker.pause", target=0, duration="3s")
    crash = at_step("wiki.5", "after", "controller.crash", duration="1s")
    moves = {3: (3, 0), 0: (2, 3, 1, 0), 1: (0, 1)}
    wanted = scenario(
        brokers=4, controller=0, assignment=[[3], [2], [0], [0]], plan=moves, method=[EXECUTE, pause, crash],
        rollbacks=HEAL, rate=300, config={"replica.lag.time.max.ms": 1000},
    )  # fmt: skip
    check(wanted, runs=1)


@pytest.mark.parametrize("step", ["kafka-6794.5", "kafka-6794.6"])
def test_a_hop_cut_short_before_the_leader_has_received_it(step: str) -> None:
    """The next controller finds the new replica in ZooKeeper; the leader has to receive it in a new epoch."""
    edge = "after" if step == "kafka-6794.5" else "before"
    end = {"within": "1m", "assignment": {"orders-0": [3, 1]}}
    wanted = scenario(
        assignment=[[0, 1]], plan={0: [3, 1]}, method=[EXECUTE, at_step(step, edge, "controller.crash")],
        strategy="kafka-6794", expect=[end],
    )  # fmt: skip
    play(wanted).run.assert_expectations()


@pytest.mark.parametrize("after_ms", [5, 8, 11, 13, 15])
def test_a_session_that_expires_while_its_broker_starts(after_ms: int) -> None:
    """The registration raised SessionExpired, which was not caught."""
    crash = {"at": "2s", "action": "broker.stop", "target": 0, "duration": "1s"}
    expire = {"at": f"{3000 + after_ms}ms", "action": "zk.expire", "target": 0}
    isr = {"within": "30s", "isr": {"orders-0": [0, 1]}}
    played = play(scenario(brokers=3, controller=2, assignment=[[0, 1]], method=[crash, expire], expect=[isr]))
    played.run.assert_expectations()


def test_a_fetcher_woken_in_the_instant_of_its_death_writes_nothing() -> None:
    """It appended records to the disk without an event; to the checker the log had lost its beginning."""
    pause = at_step("wiki.1", "before", "broker.pause", target=1, duration="3s")
    crash = at_step("wiki.1", "before", "broker.crash", target=1, duration="50ms")
    config = {"min.insync.replicas": 2, "replica.lag.time.max.ms": 1000}
    wanted = scenario(
        brokers=4, controller=1, assignment=[[0, 2, 1]], plan={0: [1]}, method=[EXECUTE, pause, crash],
        rollbacks=HEAL, config=config, rate=300, size="0B", seed=0, horizon="4m",
    )  # fmt: skip
    check(wanted, runs=1)
