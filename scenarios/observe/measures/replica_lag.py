"""How far followers are behind, as a value that changes at grid instants only (every 100 ms; readings §10).

Two lags per follower, both against the leader that ZooKeeper names:

- ``lag``: Kafka's gauge, max(0, leader's high watermark - fetch offset); null while the follower has no
  fetch state for the partition (failed, KIP-461; not fetching; its process down) or while there is no leader;
- ``true_lag``: the distance of the two logs, |leader's log end - follower's log end|, never null. A log that
  is *ahead* of the leader's (after an election, until it is truncated) has that distance too. Without a leader
  it keeps its last value.

A follower is an assigned replica (topic znode) that is not the leader.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from attrs import Factory, define

from emulator.protocol.events import (
    Appended,
    BecameFollower,
    BecameLeader,
    FetchPosition,
    HighWatermark,
    LogLoaded,
    NodeCrashed,
    PartitionFailed,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import ZkWritten
from scenarios.observe.mbeans import CONSUMER_LAG
from scenarios.observe.measures.figure import Value, percentiles
from scenarios.observe.measures.fold import Source, Table
from scenarios.observe.measures.grid import OnGrid
from scenarios.observe.measures.percentile import lag_figures


class LagRow(NamedTuple):
    """One follower's lag on the grid of 100 ms, on change. Unit: records."""

    t_us: int
    w_us: int
    topic: str
    partition: int
    node: int
    leader: int
    lag: int | None
    true_lag: int


@define(eq=False)
class _Log:
    """One replica: ``position`` is its fetch offset, None without a fetch state."""

    end: int = 0
    high_watermark: int = 0
    position: int | None = None


@define(eq=False)
class _Partition:
    topic: str
    partition: int
    leader: int = -1
    assignment: tuple[int, ...] = ()
    dirty: bool = False
    logs: dict[int, _Log] = Factory(dict)
    open: dict[int, LagRow] = Factory(dict)


_NOTHING = _Log()


class ReplicaLags(OnGrid[_Partition]):
    """The fold over one run. Its rows are closed intervals, in the order of their ends."""

    FIGURES = (
        *percentiles("lag", "Kafka's replica lag (leader high watermark less fetch offset)", jmx=CONSUMER_LAG),
        *percentiles("true_lag", "the distance of the follower's log from the leader's"),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"replica_lag": Table(LagRow)}

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._rows: list[LagRow] = []
        self._lag_us: dict[int, int] = {}  # lag in records -> microseconds, over all followers
        self._true_lag_us: dict[int, int] = {}
        self._keep_rows = source.measured.keep_rows
        source.topology.subscribe(self._assigned, self._stated)
        trace = source.trace
        trace.fold(Appended, self._appended)
        trace.fold(HighWatermark, self._high_watermark)
        trace.fold(LogLoaded, self._loaded)
        trace.fold(Truncated, self._truncated)
        trace.fold(BecameLeader, self._became_leader)
        trace.fold(BecameFollower, self._became_follower)
        trace.fold(FetchPosition, self._fetch_position)
        trace.fold(PartitionFailed, self._failed)
        trace.fold(ReplicaStopped, self._stopped)
        trace.fold(NodeCrashed, self._crashed)

    def figures(self) -> Mapping[str, Value]:
        return {**lag_figures("lag", self._lag_us), **lag_figures("true_lag", self._true_lag_us)}

    def tables(self) -> Mapping[str, list[Any]]:
        return {"replica_lag": self._rows}

    def _create(self, topic: str, number: int) -> _Partition:
        return _Partition(topic, number)

    def _log(self, t_us: int, topic: str, number: int, node: int) -> _Log:
        logs = self._touch(t_us, topic, number).logs
        log = logs.get(node)
        if log is None:
            log = logs[node] = _Log()
        return log

    def _assigned(self, event: ZkWritten, tp: TopicPartition, replicas: tuple[int, ...]) -> None:
        self._touch(event.t_us, tp.topic, tp.partition).assignment = replicas

    def _stated(self, event: ZkWritten, tp: TopicPartition, state: LeaderAndIsr | None) -> None:
        self._touch(event.t_us, tp.topic, tp.partition).leader = -1 if state is None else state.leader

    def _appended(self, event: Appended) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.end = event.next_offset
        if log.position is not None and not event.leader:
            log.position = event.next_offset

    def _high_watermark(self, event: HighWatermark) -> None:
        self._log(event.t_us, event.topic, event.partition, event.node).high_watermark = event.high_watermark

    def _loaded(self, event: LogLoaded) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.end, log.high_watermark = event.log_end_offset, event.high_watermark

    def _truncated(self, event: Truncated) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.end, log.high_watermark = event.log_end_offset, event.high_watermark

    def _became_leader(self, event: BecameLeader) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.end, log.high_watermark, log.position = event.log_end_offset, event.high_watermark, None

    def _became_follower(self, event: BecameFollower) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.end, log.high_watermark = event.log_end_offset, event.high_watermark

    def _fetch_position(self, event: FetchPosition) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.position = event.offset if event.offset >= 0 else None

    def _failed(self, event: PartitionFailed) -> None:
        self._log(event.t_us, event.topic, event.partition, event.node).position = None

    def _stopped(self, event: ReplicaStopped) -> None:
        log = self._log(event.t_us, event.topic, event.partition, event.node)
        log.position = None
        if event.deleted:
            log.end = log.high_watermark = 0

    def _crashed(self, event: NodeCrashed) -> None:
        """A process that has crashed fetches nothing; its log keeps its end until it is loaded again."""
        for topic, number in [key for key, partition in self._partitions.items() if event.node in partition.logs]:
            self._log(event.t_us, topic, number, event.node).position = None

    def _read(self, partition: _Partition, instant_us: int) -> None:
        leader, open_rows, logs = partition.leader, partition.open, partition.logs
        source = logs.get(leader, _NOTHING)
        followers = [node for node in partition.assignment if node != leader]
        for node in [node for node in open_rows if node not in followers]:
            self._close(open_rows.pop(node), instant_us)
        for node in followers:
            log = logs.get(node, _NOTHING)
            before = open_rows.get(node)
            lag: int | None = None
            if leader >= 0:
                true_lag = abs(source.end - log.end)
                if log.position is not None:
                    lag = max(0, source.high_watermark - log.position)
            else:
                true_lag = 0 if before is None else before.true_lag
            if before is not None:
                if before.true_lag == true_lag and before.lag == lag and before.leader == leader:
                    continue
                self._close(before, instant_us)
            open_rows[node] = LagRow(instant_us, 0, partition.topic, partition.partition, node, leader, lag, true_lag)

    def _close(self, row: LagRow, t_us: int) -> None:
        held_us = t_us - row.t_us
        if held_us <= 0:
            return
        if row.lag is not None:
            self._lag_us[row.lag] = self._lag_us.get(row.lag, 0) + held_us
        self._true_lag_us[row.true_lag] = self._true_lag_us.get(row.true_lag, 0) + held_us
        if self._keep_rows:
            self._rows.append(row._replace(w_us=held_us))
