"""The lag of followers, as a value that changes at grid instants only (every 100 ms; readings §10).

Two lags per follower, both against the leader that ZooKeeper names:

- ``lag``: Kafka's gauge, max(0, leader's high watermark - fetch offset); null while the follower has no fetch state for
  the partition (failed, KIP-461; not fetching; its process down) or while there is no leader;
- ``true_lag``: the distance of the two logs, |leader's log end - follower's log end|, never null. A log that is *ahead*
  of the leader's (after an election, until it is truncated) has that distance too. Without a leader it keeps its last
  value.

A follower is an assigned replica (topic znode) that is not the leader.

In a leap (``Leapt``) a follower that is behind goes evenly from where it was to where the leap brings it: such rows
stand for equal parts of the leap, each with the values in its middle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar, NamedTuple

from attrs import Factory, define

from emulator.protocol.events import (
    BatchesAppended,
    BecameFollower,
    BecameLeader,
    FetchPosition,
    HighWatermarksMoved,
    LeapBegan,
    Leapt,
    LogLoaded,
    NodeCrashed,
    PartitionFailed,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.mbeans import CONSUMER_LAG
from scenarios.observe.measures.burrow import STATUSES, FollowerStatus
from scenarios.observe.measures.figure import Better, Figure, Limit, Value, percentiles
from scenarios.observe.measures.fold import RunParts, Table
from scenarios.observe.measures.grid import OnGrid
from scenarios.observe.measures.percentile import lag_figures
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

PARTS = 100
"""The number of rows that a leap has for a follower that is behind, at most."""
LEAST_PART_US, FINEST = 1_000_000, 1_000
SHORTEST_LEAP_US = 100_000
"""The least length of these rows, and its least part of the time so far."""


class LagRow(NamedTuple):
    """One follower's lag, in records. It is read every 100 ms; a new row is written when it has changed.

    Attributes:
        fetch_offset: the follower's fetch offset at ``t_us``; null where ``lag`` is null. While the follower lags, a
            change of the fetch offset begins a new row, too.
    """

    t_us: int
    w_us: int
    topic: str
    partition: int
    node: int
    leader: int
    lag: int | None
    true_lag: int
    fetch_offset: int | None


class _Even(NamedTuple):
    """The replicas of some partitions: high watermarks and log ends on their leader, log ends on each follower."""

    high_watermarks: dict[int, int]
    ends: dict[int, int]
    followers: tuple[dict[int, int], ...]


@define(eq=False)
class _AssignedPartition:
    """One partition as ZooKeeper has it.

    Attributes:
        open: the rows that still hold, by follower.
        even: the source of the last rows, if these said that each follower has all of the leader's log and fetches from
            its end. If there were only appends and high watermarks since then, the rows still hold as long as the ends
            of the logs are equal. None: another event has come, or the rows said otherwise.
    """

    leader: int = -1
    assignment: tuple[int, ...] = ()
    open: dict[int, LagRow] = Factory(dict)
    even: _Even | None = None


@define(eq=False)
class _Broker:
    """The replicas of one topic on one broker, by partition.

    Attributes:
        ends: the log end offsets.
        high_watermarks: the high watermarks that the broker knows.
        fetching: the replicas that have a fetch state. Their fetch offset is the end of their log.
        apart: the fetch offsets of those for which that is not so.
    """

    ends: dict[int, int] = Factory(dict)
    high_watermarks: dict[int, int] = Factory(dict)
    fetching: dict[int, None] = Factory(dict)
    apart: dict[int, int] = Factory(dict)

    def position(self, partition: int) -> int | None:
        """The fetch offset; None without a fetch state."""
        if partition not in self.fetching:
            return None
        return self.apart.get(partition, self.ends.get(partition, 0))

    def fetch_from(self, partition: int, offset: int | None) -> None:
        """Set the fetch offset; None: there is no fetch state any more."""
        self.apart.pop(partition, None)
        if offset is None:
            self.fetching.pop(partition, None)
        else:
            self.fetching[partition] = None
            if offset != self.ends.get(partition, 0):
                self.apart[partition] = offset

    def place(self, partition: int, end: int, high_watermark: int) -> None:
        """Set the end of the log, which has not changed by an append: the fetch offset stays where it is."""
        position = self.position(partition)
        self.ends[partition], self.high_watermarks[partition] = end, high_watermark
        if position is not None:
            self.fetch_from(partition, position)

    def stay(self, partitions: Iterable[int]) -> None:
        """Keep the fetch offsets of partitions whose logs grow, but not by fetched records."""
        self.apart |= {each: at for each in partitions if (at := self.position(each)) is not None}


@define(eq=False)
class _Topic:
    """One topic.

    Attributes:
        changed: the partitions that each event since the last instant has changed.
        evens: the values of its partitions' ``even``, by leader and followers: many partitions share one.
    """

    partitions: dict[int, _AssignedPartition] = Factory(lambda: defaultdict(_AssignedPartition))
    brokers: dict[int, _Broker] = Factory(lambda: defaultdict(_Broker))
    changed: list[Iterable[int]] = Factory(list)
    evens: dict[tuple[int, ...], _Even] = Factory(dict)

    def even(self, leader: int, followers: tuple[int, ...]) -> _Even:
        found = self.evens.get((leader, *followers))
        if found is None:
            source, ends = self.brokers[leader], tuple(self.brokers[node].ends for node in followers)
            found = self.evens[leader, *followers] = _Even(source.high_watermarks, source.ends, ends)
        return found


class ReplicaLags(OnGrid):
    """The fold over one run. Its rows are closed intervals, in the order of their ends.

    Appends and high watermarks are taken in as columns, and the state is read at instants. So an event costs a few
    updates of dictionaries, however many partitions it touches.
    """

    FIGURES = (
        *percentiles("lag", "Kafka's replica lag (leader high watermark less fetch offset)", jmx=CONSUMER_LAG),
        *percentiles("true_lag", "the distance of the follower's log from the leader's"),
        *(
            Figure(
                name=f"burrow_{status.value}_us",
                text=f"time of followers that {text}, by Burrow's rules for consumers",
                unit="replica-seconds",
                better=Better.LOWER,
                limit=Limit.AT_THE_END,
            )
            for status, text in STATUSES.items()
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"replica_lag": Table(LagRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._rows: list[LagRow] = []
        self._lag_us: dict[int, int] = {}  # lag in records -> microseconds, over all followers
        self._true_lag_us: dict[int, int] = {}
        self._status = FollowerStatus()
        self._keep_rows = source.measured.keep_rows
        self._topics: dict[str, _Topic] = defaultdict(_Topic)
        self._leap = (0, 0)
        """Begin and end of the last leap."""
        self._leaps_since_us: int | None = None

    def figures(self) -> Mapping[str, Value]:
        return {
            **lag_figures("lag", self._lag_us),
            **lag_figures("true_lag", self._true_lag_us),
            **{
                f"burrow_{status.value}_us": None if self._has_leapt else held_us
                for status, held_us in self._status.held_us.items()
            },
        }

    def tables(self) -> Mapping[str, list[Any]]:
        return {"replica_lag": self._rows}

    # -- events -----------------------------------------------------------------------------------------------------

    def _change(self, t_us: int, topic: str, partitions: Iterable[int]) -> _Topic:
        """The topic, of which appends or high watermarks at ``t_us`` are about to change ``partitions``."""
        if t_us > self._instant_us:
            self._read_before(t_us)
        found = self._topics[topic]
        found.changed.append(partitions)
        return found

    def _upset(self, t_us: int, topic: str, partitions: Collection[int]) -> _Topic:
        """The topic, of which any other event at ``t_us`` is about to change ``partitions``."""
        found = self._change(t_us, topic, partitions)
        for each in partitions:
            if each in found.partitions:
                found.partitions[each].even = None
        return found

    def _partition(self, t_us: int, tp: TopicPartition) -> _AssignedPartition:
        return self._upset(t_us, tp.topic, (tp.partition,)).partitions[tp.partition]

    def _replica(self, t_us: int, topic: str, partition: int, node: int) -> _Broker:
        return self._upset(t_us, topic, (partition,)).brokers[node]

    def on_assigned(self, event: AssignmentWritten) -> None:
        self._partition(event.t_us, event.tp).assignment = event.replicas

    def on_stated(self, event: StateWritten) -> None:
        self._partition(event.t_us, event.tp).leader = -1 if event.state is None else event.state.leader

    def on_appended(self, event: BatchesAppended) -> None:
        t_us, _, _, node, topic, leader, partitions, _, _, next_offsets, _, _ = event
        if t_us > self._instant_us:  # as ``_change``, without the call
            self._read_before(t_us)
        found = self._topics[topic]
        found.changed.append(partitions)
        broker = found.brokers[node]
        if leader and not broker.fetching.keys().isdisjoint(partitions):
            self._upset(t_us, topic, partitions)
            broker.stay(partitions)
        elif broker.apart and not leader:
            for each in partitions:
                broker.apart.pop(each, None)
        broker.ends.update(zip(partitions, next_offsets, strict=True))

    def on_high_watermarks_moved(self, event: HighWatermarksMoved) -> None:
        t_us, _, _, node, topic, _, partitions, _, high_watermarks = event
        if t_us > self._instant_us:  # as ``_change``, without the call
            self._read_before(t_us)
        found = self._topics[topic]
        found.changed.append(partitions)
        found.brokers[node].high_watermarks.update(zip(partitions, high_watermarks, strict=True))

    def on_placed(self, event: LogLoaded | Truncated | BecameFollower) -> None:
        broker = self._replica(event.t_us, event.topic, event.partition, event.node)
        broker.place(event.partition, event.log_end_offset, event.high_watermark)

    def on_became_leader(self, event: BecameLeader) -> None:
        broker = self._replica(event.t_us, event.topic, event.partition, event.node)
        broker.fetch_from(event.partition, None)
        broker.place(event.partition, event.log_end_offset, event.high_watermark)

    def on_fetch_position(self, event: FetchPosition) -> None:
        broker = self._replica(event.t_us, event.topic, event.partition, event.node)
        broker.fetch_from(event.partition, event.offset if event.offset >= 0 else None)

    def on_failed(self, event: PartitionFailed) -> None:
        broker = self._replica(event.t_us, event.topic, event.partition, event.node)
        broker.fetch_from(event.partition, None)

    def on_stopped(self, event: ReplicaStopped) -> None:
        broker = self._replica(event.t_us, event.topic, event.partition, event.node)
        broker.fetch_from(event.partition, None)
        if event.deleted:
            broker.ends.pop(event.partition, None)
            broker.high_watermarks.pop(event.partition, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        """End the fetches of a crashed process. Its log keeps its end until it is loaded again."""
        for topic, found in self._topics.items():
            if event.node in found.brokers:
                broker = found.brokers[event.node]
                self._upset(event.t_us, topic, tuple(broker.fetching))
                broker.fetching.clear()
                broker.apart.clear()

    @property
    def _has_leapt(self) -> bool:
        """Whether there was a leap: followers are not looked at in one."""
        return bool(self._leap[1])

    def on_leap_began(self, event: LeapBegan) -> None:
        self._leaps_since_us = event.t_us

    def on_leapt(self, event: Leapt) -> None:
        self._leaps_since_us = None
        if event.t_us > event.since_us:
            self._leap = event.since_us, event.t_us

    # -- the grid ---------------------------------------------------------------------------------------------------

    def _read(self, instant_us: int) -> None:
        for name, topic in self._topics.items():
            if not topic.changed:
                continue
            changed = sorted(set().union(*topic.changed))
            topic.changed.clear()
            for number in changed:
                partition = topic.partitions.get(number)
                if partition is None:
                    continue
                # This runs for every partition with traffic at every instant: no call where the replicas are even.
                if partition.even is not None:
                    high_watermarks, ends, followers = partition.even
                    end = ends[number]
                    for theirs in followers:
                        if theirs[number] != end:
                            break
                    else:
                        if high_watermarks.get(number, 0) <= end:
                            continue
                self._read_partition(name, topic, number, partition, instant_us)

    def _read_partition(
        self, name: str, topic: _Topic, number: int, partition: _AssignedPartition, instant_us: int
    ) -> None:
        leader, open_rows, brokers = partition.leader, partition.open, topic.brokers
        source = brokers[leader]
        source_end, source_high_watermark = source.ends.get(number, 0), source.high_watermarks.get(number, 0)
        followers = tuple(node for node in partition.assignment if node != leader)
        for node in [node for node in open_rows if node not in followers]:
            self._close(open_rows.pop(node), instant_us)
        even = leader >= 0 and number in source.ends
        for node in followers:
            broker = brokers[node]
            before = open_rows.get(node)
            lag: int | None = None
            position: int | None = None
            if leader >= 0:
                end = broker.ends.get(number, 0)
                true_lag = abs(source_end - end)
                position = broker.position(number)
                if position is not None:
                    lag = max(0, source_high_watermark - position)
                even = even and position == end and lag == true_lag == 0 and number in broker.ends
            else:
                true_lag = 0 if before is None else before.true_lag
            if before is not None:
                if (
                    before.true_lag == true_lag
                    and before.lag == lag
                    and before.leader == leader
                    and (not lag or before.fetch_offset == position)
                ):
                    continue
                if (leapt := self._leapt_over(before, instant_us)) is not None:
                    arrived = (lag, true_lag, position)
                    if lag is None:  # the leap has brought it, and since then it is fetched no more
                        arrived = (true_lag, true_lag, source_end - true_lag)
                    self._close_leapt(before, leapt, instant_us, *arrived)
                else:
                    self._close(before, instant_us)
            open_rows[node] = LagRow(instant_us, 0, name, number, node, leader, lag, true_lag, position)
        partition.even = topic.even(leader, followers) if even else None

    def _leapt_over(self, before: LagRow, instant_us: int) -> tuple[int, int] | None:
        """The part of the time of ``before``, up to ``instant_us``, that was leapt; None: none was."""
        since_us, until_us = self._leap
        if self._leaps_since_us is not None and self._leaps_since_us < instant_us:
            since_us, until_us = self._leaps_since_us, instant_us  # the partition is brought to now before it is over
        since_us = max(since_us, before.t_us)
        return (since_us, until_us) if since_us + SHORTEST_LEAP_US <= until_us <= instant_us else None

    def _close_leapt(
        self, before: LagRow, leapt: tuple[int, int], instant_us: int, lag: int | None, true_lag: int,
        position: int | None,
    ) -> None:  # fmt: skip
        """Close the rows of a follower up to ``instant_us``, after a leap, for which ``before`` was open."""
        begin_us, end_us = leapt
        length_us = end_us - begin_us
        parts = max(1, min(PARTS, length_us // max(LEAST_PART_US, end_us // FINEST)))
        last = before
        for part in range(parts):
            at_us = begin_us + length_us * part // parts
            if at_us <= last.t_us:
                continue
            if part:
                self._keep(last, at_us)
            else:
                self._close(last, at_us)
            done, of = 2 * part + 1, 2 * parts
            last = before._replace(
                t_us=at_us,
                lag=_between(before.lag, lag, done, of),
                true_lag=_between(before.true_lag, true_lag, done, of),
                fetch_offset=_between(before.fetch_offset, position, done, of),
            )
        self._keep(last, instant_us)

    def _close_all(self, end_us: int) -> None:
        for topic in self._topics.values():
            for partition in topic.partitions.values():
                for row in partition.open.values():
                    self._close(row, end_us, last=True)
                partition.open.clear()

    def _close(self, row: LagRow, t_us: int, *, last: bool = False) -> None:
        held_us = t_us - row.t_us
        if held_us <= 0:
            return
        if not (last and row.lag == 0):  # there are many followers that never lag, and their status is known
            self._status.ended(row, t_us)
        self._keep(row, t_us)

    def _keep(self, row: LagRow, t_us: int) -> None:
        """Count ``row``, which held until ``t_us``, for all but the status."""
        held_us = t_us - row.t_us
        if row.lag is not None:
            self._lag_us[row.lag] = self._lag_us.get(row.lag, 0) + held_us
        self._true_lag_us[row.true_lag] = self._true_lag_us.get(row.true_lag, 0) + held_us
        if self._keep_rows:
            self._rows.append(row._replace(w_us=held_us))


def _between(before: int | None, after: int | None, done: int, of: int) -> Any:
    """The value ``done / of`` of the way from ``before`` to ``after``; where one is not known, ``before``."""
    return before if before is None or after is None else before + (after - before) * done // of
