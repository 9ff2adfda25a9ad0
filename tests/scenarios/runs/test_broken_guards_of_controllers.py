"""The checkers of what a controller has to do and may do, end to end: a guard is taken out of the cluster."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from controller.channel_manager import RequestSendThread
from controller.operations.rebalance import AutoLeaderRebalance
from controller.reassignment import by_api
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_election_algorithms import Candidates
from controller.state_machines.leader_elections import LeaderElections
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import ReplicaState
from emulator.network import Disconnected
from emulator.protocol.control_requests import ControlDelivered
from emulator.protocol.znodes import LeaderAndIsr
from fetchers.failures import FailureRule, Verdict
from fetchers.manager import ReplicaFetcherManager
from scenarios.language import Scenario
from scenarios.runs import Run
from tests.scenarios.runs.building import EXECUTE, play, scenario
from tests.scenarios.runs.test_broken_guards import leader_dies


def broken(wanted: Scenario, **options: Any) -> list[str]:
    """The checkers that find something wrong."""
    run: Run = play(wanted, **options).run
    return list(dict.fromkeys(violation.invariant for violation in run.violations))


def test_a_controller_that_elects_no_leader_when_a_broker_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    trigger = PartitionStateMachine.trigger_online_state_change

    async def only_at_first(self: PartitionStateMachine, topic: str | None = None) -> None:
        if self.elections.process.world.now < 3_000_000:
            await trigger(self, topic)

    wanted = leader_dies()
    assert broken(wanted) == []
    monkeypatch.setattr(PartitionStateMachine, "trigger_online_state_change", only_at_first)
    assert "led_in_time" in broken(wanted)


def last_in_sync_dies() -> Scenario:
    """The leader is alone in the ISR when it dies, and comes back after 20 s."""
    cut = {"at": "3s", "action": "link.cut", "target": 0, "peer": [1, 2]}
    crash = {"at": "10s", "action": "broker.crash", "target": 0, "duration": "20s"}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut, crash], seed=3, horizon="1m",
        config={"replica.lag.time.max.ms": 1000},
    )  # fmt: skip


def test_an_election_that_never_asks_whether_unclean_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = LeaderElections._candidates

    async def always(self: LeaderElections, *of: Any) -> Candidates:
        return evolve(await candidates(self, *of), unclean=True)

    wanted = last_in_sync_dies()
    assert broken(wanted) == []
    monkeypatch.setattr(LeaderElections, "_candidates", always)
    assert "unclean_where_allowed" in broken(wanted)
    allowed = evolve(wanted, cluster=evolve(wanted.cluster, config={"unclean.leader.election.enable": True}))
    assert "unclean_where_allowed" not in broken(allowed)


def test_a_leader_that_does_not_count_its_isr(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"replica.lag.time.max.ms": 1000, "min.insync.replicas": 2}
    cut = {"at": "3s", "action": "link.cut", "target": 0, "peer": [1, 2]}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut], seed=3, horizon="20s", config=config
    )
    assert broken(wanted) == []
    monkeypatch.setattr(BrokerPolicies, "min_insync_replicas", lambda *_: 1)
    assert broken(wanted) == ["acks_all_in_sync"]


def test_a_request_that_is_given_up_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    async def once(self: RequestSendThread, request: Any, done: Any, cause: int) -> None:
        trace = self.process.node.trace
        trace.cause = cause
        try:
            answer = await self._client.call(request, request.size)
        except Disconnected:
            return
        trace.show(ControlDelivered, self.process.node.id, self.broker, request)
        if done is not None:
            done(answer)

    cut = {"at": "3s", "action": "link.cut", "target": 3, "peer": 1, "duration": "10s"}
    stop = {"at": "4s", "action": "broker.stop", "target": 0, "duration": "1s"}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut, stop], horizon="2m",
        config={"controller.socket.timeout.ms": 2000},
    )  # fmt: skip
    assert broken(wanted) == []
    monkeypatch.setattr(RequestSendThread, "_deliver", once)
    assert "requests_delivered" in broken(wanted)


def shut_down() -> Scenario:
    shut = {"at": "3s", "action": "broker.controlled_shutdown", "target": 0, "duration": "5s"}
    return scenario(brokers=4, controller=3, assignment=[(0, 1, 2)], method=[shut], horizon="1m")


def test_kafka_7482_brokers_that_shut_down_are_not_notified() -> None:
    assert broken(shut_down()) == []
    assert broken(evolve(shut_down(), profile="kafka-1.1")) == ["replicas_notified"]


def test_kafka_9212_a_raised_epoch_that_the_memory_does_not_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = scenario(
        assignment=[(0, 1, 2)], plan={0: (0, 2, 1)}, method=[EXECUTE], profile="kafka-2.4", strategy="kip-455"
    )
    bump = LeaderElections.raise_leader_epoch

    async def forgotten(self: LeaderElections, tp: Any) -> LeaderAndIsr:
        self.remembers_bumps = False
        return await bump(self, tp)

    assert broken(wanted) == []
    monkeypatch.setattr(LeaderElections, "raise_leader_epoch", forgotten)
    assert broken(wanted) == ["metadata_follows", "metadata_kept"]


def test_an_error_on_one_partition_that_ends_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    fail = {"at": "3s", "action": "fetcher.fail_partition", "target": 1, "partition": "orders-0", "cause": "append"}
    wanted = scenario(brokers=4, controller=3, assignment=[(0, 1, 2), (0, 1, 2)], method=[fail], horizon="1m")
    assert broken(wanted) == []
    monkeypatch.setattr(FailureRule, "judge", lambda *_: Verdict.DIE)
    assert "followed_in_time" in broken(wanted)


def test_a_follower_that_is_not_given_to_a_fetcher(monkeypatch: pytest.MonkeyPatch) -> None:
    """KAFKA-9769: the epoch is taken over, and then something fails."""
    add = ReplicaFetcherManager.add_fetcher_for_partitions

    def some(self: ReplicaFetcherManager, starts: Any) -> None:
        add(self, [start for start in starts if start.leader_epoch == 0])

    monkeypatch.setattr(ReplicaFetcherManager, "add_fetcher_for_partitions", some)
    assert "followed_in_time" in broken(shut_down())


def test_state_machines_that_make_every_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic is deleted whose replicas go online again meanwhile."""
    delete = {"at": "3s", "action": "topic.delete", "topic": "orders"}
    wanted = scenario(brokers=4, controller=3, assignment=[(0, 1, 2)], method=[delete], rate=0, horizon="1m")
    handle = ReplicaStateMachine.handle_state_changes

    async def skipping(self: ReplicaStateMachine, replicas: Any, target: ReplicaState) -> None:
        if target is not ReplicaState.OFFLINE:
            await handle(self, replicas, target)

    assert broken(wanted) == []
    monkeypatch.setattr(ReplicaStateMachine, "handle_state_changes", skipping)
    assert broken(wanted) == []  # what is not legal is refused
    monkeypatch.setattr(ReplicaStateMachine, "_legal", lambda _self, _broker, partitions, _target: partitions)
    assert "legal_transitions" in broken(wanted)


def test_a_mark_that_a_later_change_takes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    add = ControllerBrokerRequestBatch.add_leader_and_isr

    def unmarked(self: ControllerBrokerRequestBatch, *of: Any, is_new: bool) -> None:
        add(self, *of, is_new=is_new and not self.context.reassignments)

    wanted = scenario(
        assignment=[(0, 1, 2)], plan={0: (0, 1, 3)}, method=[EXECUTE], profile="kafka-2.7", strategy="kip-455"
    )
    assert broken(wanted) == []
    monkeypatch.setattr(ControllerBrokerRequestBatch, "add_leader_and_isr", unmarked)
    assert broken(wanted) == ["new_replicas_marked"]


def follower_and_controller_die(profile: str) -> Scenario:
    """There is no load; the follower is dead before the next controller is elected."""
    follower = {"at": "3s", "action": "broker.crash", "target": 1}
    controller = {"at": "3s", "action": "broker.crash", "target": 3}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[controller, follower], rate=0, horizon="1m",
        profile=profile,
    )  # fmt: skip


def test_kafka_3143_a_new_controller_that_leaves_the_dead_as_they_are() -> None:
    """Up to 2.2 it does so; the leader, which gets no records, does not remove them either."""
    assert broken(follower_and_controller_die("kafka-2.3")) == []
    assert broken(follower_and_controller_die("kafka-1.1")) == ["dead_leave_isr"]


def test_a_controller_that_gives_no_leadership_back(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing_is_due(_self: AutoLeaderRebalance) -> None:
        return

    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], config={"leader.imbalance.check.interval.seconds": 5},
        method=[
            {"at": "5s", "action": "broker.crash", "target": 0, "duration": "3s"},
            {"at": "22s", "action": "link.heal", "target": 3},
        ],
        rate=20, horizon="40s",
    )  # fmt: skip
    assert play(wanted).run.violations == ()
    monkeypatch.setattr(AutoLeaderRebalance, "_balance", nothing_is_due)
    [first, *_] = play(wanted).run.violations
    assert first.invariant == "elects_in_order"
    assert "broker 0 comes first in the assignment, lives and is in the ISR" in first.state


def test_a_controller_that_wants_what_stays_to_live(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of_it(target: tuple[int, ...], _now: object, live: tuple[int, ...]) -> bool:
        return all(replica in live for replica in target)

    method: list[dict[str, Any]] = [
        {"at": "5s", "action": "broker.crash", "target": 1, "duration": "40s"},
        {"at": "20s", "action": "reassign.execute", "via": "api"},
    ]
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1)], plan={0: (1, 2)}, method=method, rate=20, horizon="2m",
        profile="kafka-2.4", strategy="kip-455",
    )  # fmt: skip
    assert "refusals_have_reasons" not in broken(wanted)
    monkeypatch.setattr(by_api, "valid", all_of_it)
    assert "refusals_have_reasons" in broken(wanted)
