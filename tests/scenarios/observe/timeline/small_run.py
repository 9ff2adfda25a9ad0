"""A hand-made run on seven brokers: a move, a controller that dies, a paused broker, a failed partition."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from emulator.protocol import events as e
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    CONTROLLER,
    REASSIGN_PARTITIONS,
    LeaderAndIsr,
    encode_controller,
    encode_reassignment,
    encode_topic,
    state_path,
    topic_path,
)
from emulator.trace import Event, Trace
from emulator.trace.events import Step, ZkSession, ZkWritten
from tests.scenarios.observe.columns import emit

ORDERS_0 = TopicPartition("orders", 0)
PAYMENTS_0 = TopicPartition("payments", 0)


class Teller:
    """Emits events; times are milliseconds."""

    def __init__(self) -> None:
        self._world = SimpleNamespace(now=0)
        self._trace = Trace(cast("Any", self._world))
        self._events: list[Any] = []
        self._trace.sink(self._events.extend)

    def at(self, ms: int, kind: Any, *fields: Any, cause: int = 0) -> int:
        """The event's seq."""
        self._world.now, self._trace.cause = ms * 1000, cause
        return cast("int", emit(self._trace, kind, *fields).seq)

    def zk(self, ms: int, client: int, op: str, path: str, version: int, data: str = "") -> None:
        self.at(ms, ZkWritten, client, op, path, version, 0, data)

    def step(self, ms: int, step: str, edge: str, node: int, tp: TopicPartition = ORDERS_0) -> None:
        self.at(ms, Step, step, edge, *tp, -1, 0, node, "")

    def appended(self, ms: int, tp: TopicPartition, leader: int, batch: int, *followers: int) -> None:
        base = batch * 10
        for node in (leader, *followers):
            self.at(ms, e.Appended, node, *tp, node == leader, 0, base, base + 10, batch + 1, 100)
        if followers:
            self.at(ms, e.HighWatermark, leader, *tp, True, 0, base + 10)
            self.at(ms, e.Produced, -2, *tp, batch + 1, -1, "NONE", base, base + 10, leader, 5000, 1, "acked")

    def events(self) -> list[Event]:
        self._trace.flush()
        return self._events


def small_run() -> list[Event]:
    run = Teller()
    state = state_path(ORDERS_0)
    for broker in range(7):
        run.at(0, e.NodeStarted, broker, 1)
    run.zk(30, 6, "create", CONTROLLER, 0, encode_controller(6, 30))
    run.at(31, e.ControllerElected, 6, 1)
    run.zk(40, 6, "create", topic_path("orders"), 0, encode_topic({0: (0, 1, 2)}))
    run.zk(41, 6, "create", topic_path("payments"), 0, encode_topic({0: (5, 6)}))
    run.zk(50, 6, "create", state, 0, LeaderAndIsr(0, 0, (0, 1, 2), 1).encode())
    run.at(51, e.LeaderElected, *ORDERS_0, 0, 0, (0, 1, 2), "new", 1, False)
    request = run.at(52, e.ControlRequest, "LeaderAndIsr", 6, 0, 1, 20, 1, "orders-0")
    run.at(52, e.ControlRequest, "UpdateMetadata", 6, 0, 1, 20, 1, "orders-0")
    run.at(53, e.LogLoaded, 0, *ORDERS_0, 0, 0, 0)
    run.at(53, e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, (), (), (), ())
    run.at(53, e.ControlResponse, "LeaderAndIsr", 0, 6, 1, "NONE", (), (), cause=request)
    run.at(54, e.BecameFollower, 1, *ORDERS_0, 0, 0, 0, 0)
    run.at(55, e.FetchPosition, 1, *ORDERS_0, 0, 0, 0)
    for batch in range(3):
        run.appended(100 * batch + 100, ORDERS_0, 0, batch, 1, 2)
        run.appended(100 * batch + 110, PAYMENTS_0, 5, batch, 6)
    run.appended(400, ORDERS_0, 0, 3)
    run.at(5000, e.Fault, "reassign.execute", "", "")
    run.zk(5001, -3, "create", REASSIGN_PARTITIONS, 0, encode_reassignment({ORDERS_0: (3, 4, 5)}))
    run.at(5002, e.MoveStarted, *ORDERS_0, (3, 4, 5))
    run.step(5003, "wiki.1", "before", 6)
    run.zk(5004, 6, "setData", topic_path("orders"), 1, encode_topic({0: (0, 1, 2, 3, 4, 5)}))
    run.step(5005, "wiki.1", "after", 6)
    run.at(5006, e.Fault, "controller.crash", "6", "process")
    run.at(5006, e.NodeCrashed, 6, 1, "process")
    run.at(11000, ZkSession, 6, 5, "expired")
    run.zk(11000, -1, "delete", CONTROLLER, 0)
    run.at(11010, e.ControllerElected, 4, 2)
    run.at(11020, e.PartitionFailed, 3, "ReplicaFetcherThread-0-0", *ORDERS_0, 1, "corrupt record", "CorruptBatch")
    run.zk(11030, 0, "setData", state, 1, LeaderAndIsr(0, 0, (0, 1, 2, 4), 1).encode())
    run.at(11031, e.IsrChanged, 0, *ORDERS_0, 0, "expand", (0, 1, 2, 4), 1)
    run.at(12000, e.Fault, "broker.pause", "1", "")
    run.zk(20000, 0, "setData", state, 2, LeaderAndIsr(0, 0, (0, 2, 4), 1).encode())
    run.at(20001, e.Fault, "broker.resume", "1", "")
    run.appended(20100, ORDERS_0, 0, 4, 2)
    run.at(20200, e.Produced, -2, *ORDERS_0, 9, -1, "REQUEST_TIMED_OUT", -1, -1, 0, 30_000_000, 2, "expired")
    run.at(20300, e.PartitionFailureCleared, 3, *ORDERS_0, "stop-replica")
    run.at(20301, e.ReplicaStopped, 3, *ORDERS_0, True)
    run.zk(20302, 4, "delete", REASSIGN_PARTITIONS, 0)
    run.at(20303, e.MoveFinished, *ORDERS_0, (3, 4, 5))
    run.at(20304, e.Violated, "one_leader_per_epoch", "leads[p, e] is set once; found: " + "x" * 100)
    return run.events()
