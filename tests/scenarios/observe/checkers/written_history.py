"""A run written by hand: events on a clock that moves one millisecond with each of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from emulator.protocol import events as e
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER_EPOCH, LeaderAndIsr, encode_topic, state_path, topic_path
from emulator.trace import Trace
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers import Checkers, Violation
from tests.scenarios.observe.columns import emit

ORDERS_0 = TopicPartition("orders", 0)
COUNT = 10
"""Records per batch."""


class WrittenHistory:
    """One partition, ``orders-0``. In an undisturbed log batch n, counted from 1, ends at offset 10 n."""

    def __init__(self, *names: str, **options: Any) -> None:
        self.world = SimpleNamespace(now=0)
        self.trace = Trace(cast("Any", self.world))
        self.events: list[Any] = []
        self.trace.sink(self.events.extend)
        self.checkers = Checkers(self.trace, names or None, **options)
        self._version = -1

    def emit(self, kind: Any, *fields: Any) -> Any:
        self.world.now += 1000
        return emit(self.trace, kind, *fields)

    def show(self, kind: Any, *fields: Any) -> None:
        """Let the checkers see what is not recorded."""
        self.world.now += 1000
        self.trace.show(kind, *fields)

    def state(self, leader: int, isr: tuple[int, ...], epoch: int, controller_epoch: int = 1) -> Any:
        self._version += 1
        data = self.encoded(leader, isr, epoch, controller_epoch)
        return self.emit(ZkWritten, 0, "setData", state_path(ORDERS_0), self._version, 0, data)

    @property
    def version(self) -> int:
        """The version of the partition's state znode."""
        return self._version

    def encoded(self, leader: int, isr: tuple[int, ...], epoch: int, controller_epoch: int) -> str:
        """The content of a state znode."""
        return LeaderAndIsr(leader, epoch, isr, controller_epoch).encode()

    def assigned(self, replicas: tuple[int, ...], by: int = 0) -> Any:
        return self.emit(ZkWritten, by, "setData", topic_path("orders"), 0, 0, encode_topic({0: replicas}))

    def rest(self) -> None:
        """Nothing is going to happen by itself."""
        self.checkers.at_rest(self.world.now)

    def deleted(self) -> None:
        self.emit(ZkWritten, 0, "delete", state_path(ORDERS_0), self._version, 0, "")

    def loaded(self, node: int, end: int = 0, high_watermark: int = 0) -> Any:
        return self.emit(e.LogLoaded, node, *ORDERS_0, 0, end, high_watermark)

    def controller(self, node: int, epoch: int) -> Any:
        """``node`` wins the controller's election."""
        return self.emit(ZkWritten, node, "setData", CONTROLLER_EPOCH, epoch, 0, str(epoch))

    def leads(
        self, node: int, epoch: int, high_watermark: int = 0, end: int = 0, replicas: tuple[int, ...] = ()
    ) -> Any:
        return self.emit(e.BecameLeader, node, *ORDERS_0, epoch, end, high_watermark, (), replicas, (), ())

    def proposes(self, node: int, kind: str, replica: int, **changes: Any) -> Any:
        """``node``, leader of epoch 1, proposes to add or remove ``replica``: it is at 10 of 20, fetches under epoch 1
        and was caught up 11 s ago, of 10 s."""
        found: dict[str, Any] = {"end": 10, "epoch": 1, "overdue_us": 11_000_000, "max_messages": -1} | changes
        return self.emit(
            e.IsrProposed, node, *ORDERS_0, 1, kind, (), 0, 0, 20, (replica,), (found["end"],), (found["epoch"],),
            (found["overdue_us"],), 10_000_000, found["max_messages"],
        )  # fmt: skip

    def follows(self, node: int, leader: int, epoch: int, high_watermark: int = 0, end: int = 0) -> Any:
        return self.emit(e.BecameFollower, node, *ORDERS_0, epoch, leader, end, high_watermark)

    def append(self, node: int, base: int, id: int, epoch: int = 0, *, leader: bool = False) -> Any:
        return self.emit(e.Appended, node, *ORDERS_0, leader, epoch, base, base + COUNT, id, 100)

    def everywhere(self, base: int, id: int, epoch: int = 0, nodes: tuple[int, ...] = (0, 1, 2)) -> None:
        """The first of ``nodes`` leads, the others fetch."""
        for node in nodes:
            self.append(node, base, id, epoch, leader=node == nodes[0])

    def truncated(self, node: int, end: int, epoch: int = 1, high_watermark: int = 0) -> Any:
        return self.emit(e.Truncated, node, *ORDERS_0, epoch, end, high_watermark)

    def acked(self, base: int, id: int, leader: int = 0, acks: int = -1, error: str = "NONE") -> Any:
        return self.emit(
            e.Produced, -2, *ORDERS_0, id, acks, error, base, base + COUNT, leader, 5000, 1,
            "acked" if error == "NONE" else "expired",
        )  # fmt: skip

    def high_watermark(self, node: int, offset: int, epoch: int = 0, *, leader: bool = False) -> Any:
        return self.emit(e.HighWatermark, node, *ORDERS_0, leader, epoch, offset)

    def begin(self, nodes: tuple[int, ...] = (0, 1, 2)) -> WrittenHistory:
        """Broker ``nodes[0]`` leads in epoch 0 with all of them in the ISR."""
        for node in nodes:
            self.loaded(node)
        self.state(nodes[0], nodes, 0)
        self.leads(nodes[0], 0)
        return self

    def events_so_far(self) -> list[Any]:
        """All events so far."""
        self.trace.flush()
        return self.events

    def violations(self) -> list[Violation]:
        return self.checkers.finish()

    def invariants(self) -> list[str]:
        return [violation.invariant for violation in self.violations()]
