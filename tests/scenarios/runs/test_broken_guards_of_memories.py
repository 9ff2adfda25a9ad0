"""The checkers of what processes remember, end to end: a guard is taken out of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from brokers.dynamic_config import DynamicConfigManager
from brokers.log.log import Log
from controller.channel_manager import ControllerChannelManager
from controller.context import ControllerContext
from controller.move import Move
from controller.operations.notifications import Notifications
from controller.operations.rebalance import AutoLeaderRebalance
from controller.reassignment.steps_work import StepsWork
from controller.request_batch import ControllerBrokerRequestBatch
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from emulator.zookeeper.messages import Exists, ZkResponse
from emulator.zookeeper.server.database import _READS, Database
from scenarios.language import Scenario
from tests.scenarios.runs.building import EXECUTE, at_step, play, scenario

CONVERGED = {"converged": True, "within": "2m"}
EXPIRE = {"at": "3s", "action": "zk.expire", "target": "controller"}


def findings(wanted: Scenario, *checkers: str) -> dict[str, str]:
    """The first state that each of the checkers finds; none where it finds nothing."""
    found: dict[str, str] = {}
    for violation in play(wanted).run.violations:
        if not checkers or violation.invariant in checkers:
            found.setdefault(violation.invariant, violation.state)
    return found


def settings_change(**more: Any) -> Scenario:
    """The session of the leader expires; later orders needs three replicas in sync."""
    expire = {"at": "3s", "action": "zk.expire", "target": "leader(orders-0)"}
    change = {"at": "20s", "action": "config.set", "topic": "orders", "config": {"min.insync.replicas": 3}}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], topic_config={"min.insync.replicas": 2},
        method=[expire, change], expect=[CONVERGED], rate=20, horizon="2m", **more,
    )  # fmt: skip


def test_a_broker_that_follows_no_setting_since_its_session_has_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    look = DynamicConfigManager.look

    def until_it_expires(self: DynamicConfigManager) -> None:
        if self._process.world.now < 3_000_000:
            look(self)

    assert findings(settings_change()) == {}
    monkeypatch.setattr(DynamicConfigManager, "look", until_it_expires)
    states = [violation.state for violation in play(settings_change()).run.violations]
    wrong = "settings of topic orders: min.insync.replicas=2; a fresh process has min.insync.replicas=3"
    assert any(wrong in state for state in states)


def isr_changes() -> Scenario:
    """A follower of orders-0 is cut off until it has left the ISR, and comes back."""
    cut = {"at": "3s", "action": "link.cut", "target": 0, "peer": 1, "duration": "20s"}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut], expect=[CONVERGED], rate=20, horizon="3m",
        config={"replica.lag.time.max.ms": 5000},
    )  # fmt: skip


def test_announced_isrs_that_are_deleted_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def deletes(self: Notifications) -> None:
        await self._delete(
            znodes.ISR_CHANGE_NOTIFICATION, await self.zk_client.children(znodes.ISR_CHANGE_NOTIFICATION)
        )

    assert findings(isr_changes()) == {}
    monkeypatch.setattr(Notifications, "process_isr_changes", deletes)
    found = findings(isr_changes())
    assert "orders-0: controller 3 remembers as leaders" in found["controller_remembers"]
    assert "orders-0: broker 0 remembers as metadata: the ISR" in found["broker_remembers"]


def controller_expires(**more: Any) -> Scenario:
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1)], method=[EXPIRE], expect=[CONVERGED], rate=20, horizon="2m", **more
    )


@pytest.mark.parametrize(
    ("owner", "method", "memory"),
    [
        (Watches, "clear", "watched_topics"),
        (ControllerContext, "reset", "brokers"),
        (ControllerChannelManager, "clear", "channels"),
        (AutoLeaderRebalance, "stop", "rebalance"),
    ],
)
def test_a_controller_that_resigns_and_keeps_something(
    owner: type, method: str, memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert findings(controller_expires()) == {}
    monkeypatch.setattr(owner, method, lambda _self: None)
    assert f"broker 3 keeps {memory}" in findings(controller_expires(), "resigned_forgets")["resigned_forgets"]


def test_a_controller_that_resigns_with_requests_in_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """It finds that it has been replaced between what it adds to the batch and what it writes."""
    clear, send = ControllerBrokerRequestBatch.clear, ControllerBrokerRequestBatch.send_to_brokers

    def sends_and_clears(self: ControllerBrokerRequestBatch) -> None:
        send(self)
        clear(self)

    held = [
        {"at": at, "action": "gate.hold", "gate": {"step": step, "edge": "before"}, "duration": duration}
        for at, step, duration in (("1s", "wiki.8", "10s"), ("5s", "failover.F2", "15s"))
    ]
    delete = {"at": "8s", "action": "zk.delete", "path": "/controller"}
    wanted = scenario(
        brokers=5, controller=4, assignment=[(1, 0)], plan={0: (1, 2)}, rate=20, horizon="3m",
        method=[EXECUTE, *held, delete], expect=[CONVERGED],
    )  # fmt: skip
    assert findings(wanted) == {}
    monkeypatch.setattr(ControllerBrokerRequestBatch, "clear", lambda _self: None)
    monkeypatch.setattr(ControllerBrokerRequestBatch, "send_to_brokers", sends_and_clears)
    assert findings(wanted, "resigned_forgets")["resigned_forgets"] == "broker 4 keeps batch (1) when it resigns"


def skips_last(read: Callable[..., Any]) -> Callable[..., Any]:
    async def skips(self: KafkaZkClient, partitions: list[TopicPartition]) -> Any:
        found = await read(self, partitions)
        return dict(list(found.items())[:-1])

    return skips


def test_a_new_controller_that_does_not_read_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = controller_expires()
    monkeypatch.setattr(KafkaZkClient, "states", skips_last(KafkaZkClient.states))
    state = findings(wanted, "controller_remembers")["controller_remembers"]
    assert "remembers after its failover as leaders: nothing; a new one reads leader 0 in epoch" in state


def test_a_controller_that_takes_over_without_a_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    """ZooKeeper forgets the watch of exists: its client does not know."""
    wanted = controller_expires()

    def exists(database: Database, request: Exists, watcher: object) -> ZkResponse:
        stat = database.tree.stat(request.path)
        return ZkResponse(ZkCode.NO_NODE if stat is None else ZkCode.OK, request.path, "", stat)

    monkeypatch.setitem(_READS, Exists, exists)
    state = findings(wanted, "controller_remembers")["controller_remembers"]
    assert "remembers after its failover as unarmed of /admin/" in state


def test_producers_that_are_remembered_after_a_truncation(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = {"at": "3s", "action": "link.cut", "target": 0, "peer": [1, 2], "duration": "30s"}
    crash = {"at": "4s", "action": "broker.crash", "target": 0, "duration": "20s"}
    stop = {"at": "4s", "action": "client.crash", "target": "clients"}
    load = {"topic": "orders", "producerRate": 50, "acks": "all", "config": {"enable.idempotence": True}}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut, crash, stop], expect=[CONVERGED], rate=0, seed=3,
        workloads=[load], horizon="3m",
    )  # fmt: skip
    assert findings(wanted) == {}
    monkeypatch.setattr(Log, "_reload_producers", lambda _self: None)
    assert "remembers as producers" in findings(wanted, "broker_remembers").get("broker_remembers", "")


def test_a_controller_that_tells_no_broker_of_announced_isrs(monkeypatch: pytest.MonkeyPatch) -> None:
    async def keeps_to_itself(self: Notifications) -> None:
        names = await self.zk_client.children(znodes.ISR_CHANGE_NOTIFICATION)
        partitions = await self.zk_client.isr_changes(names)
        self.context.leadership_info.update(await self.zk_client.states(partitions))
        await self._delete(znodes.ISR_CHANGE_NOTIFICATION, names)

    monkeypatch.setattr(Notifications, "process_isr_changes", keeps_to_itself)
    assert list(findings(isr_changes())) == ["notifications_taken", "broker_remembers"]


def test_a_controller_that_dies_before_it_stops_what_it_has_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one finds the move done: broker 0 keeps its replica for ever, and was never down."""
    move_leader = StepsWork.move_leader

    async def writes_too_early(self: StepsWork, move: Move, recipients: Sequence[int]) -> None:
        await move_leader(self, move, recipients)
        await self.write_assignment(move.tp, move.step_target)

    dies = at_step("wiki.8", "before", "controller.crash", duration="10s")
    wanted = scenario(
        brokers=5, controller=4, assignment=[(1, 0)], plan={0: (1, 2)}, rate=20, horizon="2m", method=[EXECUTE, dies],
        expect=[CONVERGED],
    )  # fmt: skip
    assert findings(wanted) == {}
    monkeypatch.setattr(StepsWork, "move_leader", writes_too_early)
    assert findings(wanted) == {
        "drops_stopped": "orders-0: controller 4 writes the assignment [1, 2] after [1, 2, 0], and has not asked "
        "broker 0 to delete its replica"
    }


@pytest.mark.parametrize(("profile", "strategy"), [("kafka-2.4", "kip-455"), ("kafka-2.7", "kip-455")])
def test_a_cancelled_move_that_stops_nothing(profile: str, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """kip-455 writes first when it drops what a replaced request added (U1), and stops it afterwards (U3)."""
    cut = {"at": "1s", "action": "link.cut", "target": 2, "peer": [0, 1], "duration": "20s"}
    back = {"at": "10s", "action": "reassign.cancel"}
    wanted = scenario(
        brokers=5, controller=4, assignment=[(1, 0)], plan={0: (1, 2)}, rate=20, horizon="2m", profile=profile,
        strategy=strategy, method=[cut, EXECUTE, back],
    )  # fmt: skip

    async def nothing(*_of: object) -> None:
        return None

    assert findings(wanted, "drops_stopped") == {}
    monkeypatch.setattr(StepsWork, "delete", nothing)
    assert "broker 2 to delete its replica" in findings(wanted, "drops_stopped")["drops_stopped"]


def test_a_protocol_that_records_first_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = scenario(
        brokers=5, controller=4, assignment=[(1, 0)], plan={0: (1, 2)}, rate=20, horizon="2m", strategy="kafka-6794",
        method=[EXECUTE],
    )  # fmt: skip

    async def nothing(*_of: object) -> None:
        return None

    assert findings(wanted, "drops_stopped") == {}
    monkeypatch.setattr(StepsWork, "delete", nothing)
    assert "broker 0 to delete its replica" in findings(wanted, "drops_stopped")["drops_stopped"]


def test_offline_replicas_that_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    down, once = ControllerBrokerRequestBatch._down, dict[int, None]()

    def ever(self: ControllerBrokerRequestBatch, tp: TopicPartition, replicas: tuple[int, ...]) -> tuple[int, ...]:
        once.update(dict.fromkeys(down(self, tp, replicas)))
        return tuple(replica for replica in replicas if replica in once)

    crash = {"at": "5s", "action": "broker.crash", "target": 2, "duration": "5s"}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[crash], rate=20, horizon="2m", expect=[CONVERGED]
    )
    assert findings(wanted) == {}
    monkeypatch.setattr(ControllerBrokerRequestBatch, "_down", ever)
    state = findings(wanted)["broker_remembers"]
    assert "metadata: the offline replicas [2]; a fresh process has the offline replicas []" in state
