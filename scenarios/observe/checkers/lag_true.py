"""T3: ConsumerLag is never more than what the leader has committed beyond the follower's position."""

from __future__ import annotations

from collections import defaultdict

from attrs import define

from emulator.metrics import mbean
from emulator.metrics.grid import GAUGES_US
from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol.events import BecameLeader, ConsumerLag, FetchPosition, HighWatermarksMoved, NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Moment, forget
from scenarios.observe.findings.gauge_facts import CountWrong, LagTooLarge

MOST = {
    client_id: mbean("kafka.server", f"{client_id}{kind}Manager", "MaxLag", clientId=client_id)
    for client_id, kind in (("Replica", "Fetcher"), ("ReplicaAlterLogDirs", ""))
}
"""MaxLag of each fetcher manager, by what its threads are called."""
Replica = tuple[int, str, int]
"""Broker, topic and partition."""


@define(eq=False)
class _Position:
    """The position at which a replica fetcher started, and when; from there it follows the end of its log."""

    leader: int
    offset: int
    since_us: int
    lag: int = 0


class LagTrue(Checker):
    """A follower's ConsumerLag against its leader's high watermark and its own position.

    Verified: each value that is written is at most the true lag: a fetch response carries a high watermark that the
        leader may have passed since. When the cluster is at rest, a follower that has all committed records shows no
        lag, whether idle or not. Once a second, where nothing of it has just changed: MaxLag is the largest lag that
        the threads of a broker show (AbstractFetcherManager, 0.8 to 3.9).

    Not verified: values within 100 ms after a truncation; a lag that is stale because no response comes, as in Kafka.
    """

    ids = ("T3",)
    statement = (
        "lag(p, f) ≤ max(0, leader hw - fetch offset): "
        "a follower's lag is no more than what its leader has committed beyond the follower's position"
    )
    catches = ("KAFKA-7704",)
    fails_when = "an empty answer shows the high watermark as the lag"

    def begin(self) -> None:
        self._logs = self.history.logs
        self._high_watermarks: dict[tuple[int, str], dict[int, int]] = defaultdict(dict)
        """High watermarks of the partitions that a broker has led, by broker and topic."""
        self._positions: dict[Replica, _Position] = {}
        self._lags: dict[tuple[int, str], dict[tuple[str, str, int], int]] = defaultdict(dict)
        """By broker and MaxLag, the lags that this is the largest of."""
        self._most: dict[tuple[int, str], int] = {}
        """MaxLag, of those brokers that have it."""
        self._moved: dict[tuple[int, str], int] = {}
        """When one of either has changed, since they were compared."""

    def on_became_leader(self, event: BecameLeader) -> None:
        self._high_watermarks[event.node, event.topic][event.partition] = event.high_watermark

    def on_high_watermarks(self, event: HighWatermarksMoved) -> None:
        if event.leader:
            now = zip(event.partitions, event.high_watermarks, strict=True)
            self._high_watermarks[event.node, event.topic].update(now)

    def on_position(self, event: FetchPosition) -> None:
        replica = event.node, event.topic, event.partition
        if event.offset < 0:
            self._positions.pop(replica, None)
        else:
            self._positions[replica] = _Position(event.leader, event.offset, event.t_us)

    def on_registered(self, event: MetricRegistered) -> None:
        if event.metric in MOST.values():
            self._most[event.node, event.metric] = 0

    def on_most(self, event: GaugeSet) -> None:
        key = event.node, event.metric
        if key in self._most:
            self._most[key] = event.value
            self._moved[key] = event.t_us

    def _note(self, event: ConsumerLag) -> None:
        of = event.node, MOST[event.fetcher.partition("Thread")[0].removesuffix("Fetcher")]
        lags, which = self._lags[of], (event.fetcher, event.topic, event.partition)
        if event.lag > 0:
            lags[which] = event.lag
        else:
            lags.pop(which, None)
        self._moved[of] = event.t_us

    def look(self, moment: Moment) -> None:
        for of, moved_us in list(self._moved.items()):
            if moment.t_us - moved_us > GAUGES_US:
                del self._moved[of]
                shown, most = self._most.get(of), max(self._lags[of].values(), default=0)
                if shown is not None and shown != most:
                    self.violated(moment, CountWrong(of[0], "MaxLag", shown, most), None, (of[0],))

    def on_lag(self, event: ConsumerLag) -> None:
        self._note(event)
        if not event.fetcher.startswith("ReplicaFetcherThread"):
            return
        replica = event.node, event.topic, event.partition
        position = self._positions.get(replica)
        if position is None:
            return
        position.lag = event.lag
        if event.t_us - position.since_us >= GAUGES_US:
            self._check(event, replica, position)

    def on_crashed(self, event: NodeCrashed) -> None:
        forget(event.node, self._lags, self._most, self._moved, self._positions)

    def at_rest(self, moment: Moment) -> None:
        for replica, position in self._positions.items():
            if self._offset(replica, position) >= self._committed(replica, position):
                self._check(moment, replica, position)

    def _check(self, event: Event, replica: Replica, position: _Position) -> None:
        offset, committed = self._offset(replica, position), self._committed(replica, position)
        if position.lag > max(0, committed - offset):
            node, topic, partition = replica
            facts = LagTooLarge(node, position.lag, offset, position.leader, committed)
            self.violated(event, facts, TopicPartition(topic, partition))

    def _offset(self, replica: Replica, position: _Position) -> int:
        node, topic, partition = replica
        log = self._logs.get(node, TopicPartition.of(topic, partition))
        return position.offset if log is None else max(position.offset, log.end_offset)

    def _committed(self, replica: Replica, position: _Position) -> int:
        _, topic, partition = replica
        return self._high_watermarks[position.leader, topic].get(partition, 0)
