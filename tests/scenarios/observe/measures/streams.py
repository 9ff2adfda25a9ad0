"""Events without an emulator: a trace on a clock that the test moves by hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

from emulator.protocol.events import (
    Appended,
    FetchPosition,
    HighWatermark,
    LogLoaded,
    MoveFinished,
    MoveStarted,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr, encode_topic, state_path, topic_path
from emulator.trace import Trace
from emulator.trace.events import ZkWritten
from scenarios.observe.measures import Figures, Measured, Measures
from tests.scenarios.observe.columns import emit

ORDERS_0 = TopicPartition("orders", 0)


class Stream:
    """Emits events at its current time; times are milliseconds."""

    def __init__(self, **measured: Any) -> None:
        self._world = SimpleNamespace(now=0)
        self.trace = Trace(cast("Any", self._world))
        self.measures = Measures(self.trace, Measured(**measured))
        self._versions: dict[str, int] = {}

    def at(self, ms: float) -> Stream:
        assert round(ms * 1000) >= self._world.now, "time does not run backwards"
        self._world.now = round(ms * 1000)
        return self

    def emit(self, kind: Any, *fields: Any) -> None:
        emit(self.trace, kind, *fields)

    def write(self, path: str, data: str, op: str = "setData", client: int = 0) -> None:
        version = self._versions[path] = self._versions.get(path, -1) + 1
        self.emit(ZkWritten, client, op, path, version, 0, data)

    def topic(self, topic: str, assignment: Mapping[int, tuple[int, ...]]) -> None:
        self.write(topic_path(topic), encode_topic(assignment))

    def state(self, leader: int, isr: tuple[int, ...], epoch: int = 0, tp: TopicPartition = ORDERS_0) -> None:
        self.write(state_path(tp), LeaderAndIsr(leader, epoch, isr, 1).encode())

    def loaded(self, node: int, end: int = 0, tp: TopicPartition = ORDERS_0) -> None:
        self.emit(LogLoaded, node, *tp, 0, end, end)

    def append(
        self, node: int, end: int, *, base: int = 0, leader: bool = False, tp: TopicPartition = ORDERS_0
    ) -> None:
        self.emit(Appended, node, *tp, leader, 0, base, end, 1, 100)

    def high_watermark(self, node: int, offset: int, tp: TopicPartition = ORDERS_0) -> None:
        self.emit(HighWatermark, node, *tp, True, 0, offset)

    def fetching(self, node: int, offset: int, leader: int = 0, tp: TopicPartition = ORDERS_0) -> None:
        self.emit(FetchPosition, node, *tp, leader, 0, offset)

    def move(self, target: tuple[int, ...], tp: TopicPartition = ORDERS_0) -> None:
        self.emit(MoveStarted, *tp, target)

    def moved(self, tp: TopicPartition = ORDERS_0) -> None:
        self.emit(MoveFinished, *tp, ())

    def finish(self, ms: float) -> Figures:
        return self.at(ms).measures.finish(round(ms * 1000))

    def rows(self, table: str) -> list[Any]:
        return self.measures.tables()[table]
