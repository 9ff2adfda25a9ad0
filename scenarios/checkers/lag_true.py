"""T3: ConsumerLag is never more than what the leader has committed beyond the follower's position."""

from __future__ import annotations

from typing import ClassVar

from attrs import define

from emulator.metrics.grid import GAUGES_US
from emulator.protocol.events import Appended, BecameLeader, FetchPosition, HighWatermark, NodeCrashed
from emulator.protocol.metric_events import ConsumerLag
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.checkers.checker import Checker, Moment, Report
from scenarios.checkers.ghosts import Ghosts

Replica = tuple[TopicPartition, int]


@define(eq=False)
class _Position:
    """Where a replica fetcher stands. ``since_us``: when it was put there, not by an append."""

    leader: int
    offset: int
    since_us: int
    lag: int = 0


class LagTrue(Checker):
    """A follower's ConsumerLag against its leader's high watermark and its own position.

    Verified: each value that is written, from above: an answer shows a high watermark that the leader has passed since;
        and when nothing is left to do, that who has all that is committed has no lag, idle or not.

    Not verified: values within 100 ms after a truncation; a lag that is stale because no answer comes.
    """

    name: ClassVar[str] = "lag_true"
    ids: ClassVar[tuple[str, ...]] = ("T3",)
    statement: ClassVar[str] = (
        "lag(p, f) ≤ max(0, leader hw - fetch offset): "
        "a follower's lag is no more than what its leader has committed beyond it"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-7704", "KAFKA-15080")

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._high_watermarks: dict[Replica, int] = {}
        self._positions: dict[Replica, _Position] = {}

    def on_became_leader(self, event: BecameLeader) -> None:
        self._high_watermarks[TopicPartition(event.topic, event.partition), event.node] = event.high_watermark

    def on_high_watermark(self, event: HighWatermark) -> None:
        if event.leader:
            self._high_watermarks[TopicPartition(event.topic, event.partition), event.node] = event.high_watermark

    def on_position(self, event: FetchPosition) -> None:
        replica = TopicPartition(event.topic, event.partition), event.node
        if event.offset < 0:
            self._positions.pop(replica, None)
        else:
            self._positions[replica] = _Position(event.leader, event.offset, event.t_us)

    def on_appended(self, event: Appended) -> None:
        if not event.leader:
            position = self._positions.get((TopicPartition(event.topic, event.partition), event.node))
            if position is not None:
                position.offset = event.next_offset

    def on_lag(self, event: ConsumerLag) -> None:
        if not event.fetcher.startswith("ReplicaFetcherThread"):
            return
        replica = TopicPartition(event.topic, event.partition), event.node
        position = self._positions.get(replica)
        if position is None:
            return
        position.lag = event.lag
        if event.t_us - position.since_us >= GAUGES_US:
            self._check(event, replica, position)

    def on_crashed(self, event: NodeCrashed) -> None:
        for replica in [replica for replica in self._positions if replica[1] == event.node]:
            del self._positions[replica]

    def at_rest(self, moment: Moment) -> None:
        for replica, position in self._positions.items():
            if position.offset >= self._high_watermarks.get((replica[0], position.leader), 0):
                self._check(moment, replica, position)

    def _check(self, event: Event, replica: Replica, position: _Position) -> None:
        tp, node = replica
        committed = self._high_watermarks.get((tp, position.leader), 0)
        if position.lag > max(0, committed - position.offset):
            self.violated(
                event,
                f"{tp}: broker {node} shows a lag of {position.lag} at {position.offset}, where its leader "
                f"{position.leader} has the high watermark {committed}",
            )
