"""Clusters that stand still, end to end: guards that the museum does not take out, and restarts of idle brokers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from brokers.groups.delayed_heartbeats import DelayedHeartbeats
from brokers.groups.group import GroupMetadata
from brokers.groups.member import MemberMetadata
from brokers.groups.rebalance import GroupRebalances
from brokers.log.log_manager import LogsToBeDeleted
from brokers.transactions.coordinator import TransactionCoordinator
from brokers.transactions.transaction_state_manager import TransactionStateManager
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.shown import Remembered
from scenarios.language import Scenario
from scenarios.runs.runner import Stage
from tests.scenarios.runs.building import play, scenario
from tests.scenarios.runs.test_broken_guards_of_memories import CONVERGED, findings

INTERNAL = {
    "offsets.topic.num.partitions": 1, "transaction.state.log.num.partitions": 1, "group.initial.rebalance.delay.ms": 0,
}  # fmt: skip
IDLE_US, IDLE_AGAIN_US = 58_000_000, 98_000_000
MEMBERS = {"behaviour": "group-member", "count": 2, "group": "readers", "partitions": ["orders-0"]}
WRITER = {"behaviour": "transactional", "id": "writer", "partitions": ["orders-0"]}


def coordinated(*clients: dict[str, Any], **more: Any) -> Scenario:
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], expect=[CONVERGED], rate=0, horizon="3m", profile="kafka-2.7",
        config=INTERNAL, clients=list(clients), **more,
    )  # fmt: skip


def test_settings_that_outlive_their_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    delete = KafkaZkClient.delete

    async def spares(self: KafkaZkClient, paths: list[str]) -> Any:
        return await delete(self, [path for path in paths if not path.startswith(znodes.CONFIG_TOPICS)])

    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], topic_config={"min.insync.replicas": 2}, rate=0, horizon="3m",
        method=[{"at": "10s", "action": "topic.delete", "topic": "orders"}], expect=[CONVERGED],
    )  # fmt: skip
    assert findings(wanted) == {}
    monkeypatch.setattr(KafkaZkClient, "delete", spares)
    state = findings(wanted)["gone_topics_forgotten"]
    assert "remembers as settings of topic orders: they are in ZooKeeper" in state


def test_logs_that_are_never_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a broker whose clock was wrong this is no finding: it awaits the next deletion for as long as that seemed to
    be away then, in Kafka too (kafka-1.1, seed 101 of the default swarm). The looks are less than a minute apart, the
    time of brokers that are not told another one."""

    def listen(stage: Stage) -> None:
        for t_us in (38_000_000, 78_000_000):
            stage.world.call_later(t_us, lambda _: stage.cluster.show_memories("rest"), None, True)

    def found(*clock: dict[str, Any]) -> list[str]:
        deletes = {"at": "10s", "action": "topic.delete", "topic": "orders"}
        goes_on = {"at": "80s", "action": "config.set", "brokers": [0], "config": {"log.retention.ms": 7_200_000}}
        run = play(
            scenario(
                brokers=4, controller=3, assignment=[(0, 1, 2)], rate=0, horizon="3m", expect=[CONVERGED],
                config={"log.segment.delete.delay.ms": 1000}, method=[deletes, *clock, goes_on],
            ),
            listen,
        ).run  # fmt: skip
        assert {violation.invariant for violation in run.violations} <= {"gone_topics_forgotten"}
        return [violation.state for violation in run.violations]

    back = {"at": "10500ms", "action": "broker.clock", "target": 1, "step": "-1000s"}
    wrong = (back, {"at": "20s", "action": "heal"})
    assert found() == found(*wrong) == []
    monkeypatch.setattr(LogsToBeDeleted, "_delete", lambda *_of: None)
    assert [state.partition(" remembers as discarded")[0] for state in found()] == ["broker 0", "broker 1", "broker 2"]
    assert [state.partition(" remembers as discarded")[0] for state in found(*wrong)] == ["broker 0", "broker 2"]


def test_a_late_transaction_that_no_coordinator_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No request to end a transaction is answered: only its time ends it."""
    wanted = coordinated(WRITER | {"timeout": "2s", "stop": "60s"}, MEMBERS | {"stop": "110s"})
    monkeypatch.setattr(TransactionCoordinator, "end", lambda *_of: None)
    assert list(findings(wanted)) == ["requests_answered"]
    monkeypatch.setattr(TransactionStateManager, "late", lambda _self: [])
    assert sorted(findings(wanted)) == ["requests_answered", "transactions_end"]


@pytest.mark.parametrize("broker", [0, 1])
def test_an_idle_broker_that_starts_again_has_what_it_had(broker: int) -> None:
    """What the checkers compare at rest (what a broker works with, against what it would read) is what a restart
    brings back: logs, producers, settings, directories, groups and transactional ids. Broker 0 leads, 1 follows."""
    crash = {"at": "60s", "action": "broker.crash", "target": broker, "duration": "5s"}
    goes_on = {"at": "100s", "action": "config.set", "topic": "orders", "config": {"retention.ms": 7_200_000}}
    load = {"topic": "orders", "producerRate": 20, "stop": "20s", "config": {"enable.idempotence": True}}
    clients = [one | {"stop": "20s"} for one in (MEMBERS, WRITER)]
    wanted = coordinated(*clients, method=[crash, goes_on], workloads=[load], topic_config={"retention.ms": 3_600_000})
    before: dict[int, Any] = {}
    after: dict[int, Any] = {}

    def remembers(event: Remembered) -> None:
        if event.role == "broker" and event.t_us in (IDLE_US, IDLE_AGAIN_US):
            (before if event.t_us == IDLE_US else after)[event.node] = event.memories

    def listen(stage: Stage) -> None:
        stage.cluster.trace.fold(Remembered, remembers)
        for t_us in (IDLE_US, IDLE_AGAIN_US):
            stage.world.call_later(t_us, lambda _: stage.cluster.show_memories("rest"), None, True)

    assert play(wanted, listen).run.passed
    for memory in ("settings", "directories", "discarded"):
        assert after[broker][memory] == before[broker][memory], memory
    kept, back = ({tp: one.kept for tp, one in found[broker]["logs"].items()} for found in (before, after))
    assert back == kept
    assert kept[next(iter(kept))].end > 0
    producers = [{tp: one.kept for tp, one in found[broker]["producers"].items()} for found in (before, after)]
    assert producers[0] == producers[1]
    groups = [_coordinated(found) for found in (before, after)]
    assert groups[0]
    assert groups[0] == groups[1]


def _coordinated(memories: dict[int, Any]) -> dict[str, str]:
    """The memories of the coordinators on all brokers."""
    stores = [one for of_broker in memories.values() for one in of_broker["coordinated"].values()]
    return {of: has for one in stores for of, has in one.kept.items()}


def test_a_member_whose_session_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of a new member goes on when its first generation has begun: five minutes."""

    def only_later(self: DelayedHeartbeats, group: GroupMetadata, member: MemberMetadata, timeout_us: int) -> None:
        member.deadline_us = max(member.deadline_us, self.transitions.process.monotonic_us + timeout_us)
        if member.timer is None:
            self._set_timer(group, member, timeout_us)

    crash = {"at": "20s", "action": "client.crash", "target": "clients"}
    wanted = coordinated(MEMBERS | {"count": 1}, method=[crash])
    assert "members_silent" not in findings(wanted)
    monkeypatch.setattr(DelayedHeartbeats, "_extend", only_later)
    assert "in the stable group readers" in findings(wanted)["members_silent"]


def test_a_coordinator_that_gives_one_member_the_assignment_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    assign = GroupRebalances.assign

    def shuffled(self: GroupRebalances, group: GroupMetadata, assignments: Mapping[str, bytes]) -> None:
        assign(self, group, dict(zip(assignments, reversed(tuple(assignments.values())), strict=True)))

    wanted = coordinated(MEMBERS)
    assert "rejoins_rebalance" not in findings(wanted)
    monkeypatch.setattr(GroupRebalances, "assign", shuffled)
    assert "its leader has assigned" in findings(wanted)["rejoins_rebalance"]
