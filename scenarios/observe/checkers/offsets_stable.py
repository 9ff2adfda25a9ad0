"""G12: a client that asks for stable offsets gets none that an open transaction may replace."""

from __future__ import annotations

from collections import deque

from brokers.groups.config import GROUP_METADATA_TOPIC
from emulator.protocol.events import GroupsUnloaded, NodeCrashed, OffsetsRemoved, TransactionMarked
from emulator.protocol.records import NO_PRODUCER_ID
from emulator.protocol.shown import Deviated
from emulator.protocol.shown_coordination import CommitAccepted, CoordinatorWrote, MarkerAppends, OffsetsRead
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog
from scenarios.observe.findings.coordination_facts import OffsetNotStable, OffsetStaysUnstable
from scenarios.observe.history.coordinated_past import offset_name

TOLD_US = 1_000_000
"""How long a coordinator may go on saying that an offset is not stable: a marker has its effect at once."""

Offset = tuple[str, TopicPartition]
"""The offset of a group in a partition."""

REMOVAL = "GroupMetadata.removeOffsets"
"""The ticket of a removal of offsets that the log keeps."""


class OffsetsStable(CoordinatorsLog):
    """A coordinator that is asked for stable offsets answers with no offset that an open transaction may replace
    (OffsetFetch 7, KIP-447; GroupCoordinator.handleFetchOffsets, 2.5).

    Verified: each such answer of the leader in ZooKeeper, in its leader epoch, against the offsets that transactions
        have written into __consumer_offsets: the partition has the marker of the transaction, or the answer is
        UNSTABLE_OFFSET_COMMIT. That is the answer for 1 s at most once the marker of the last transaction that wrote
        an offset is committed, where no other was committed since, and the coordinator works.

    After an unclean election of a partition of __consumer_offsets, and once a machine has crashed or a leader's log was
    damaged, what was written before is not asked for any more; nor are offsets that were removed.

    Not verified: offsets that are being written.
    """

    ids = ("G12",)
    statement = (
        "stable(g, p) told ⇒ no open transaction wrote (g, p): "
        "a reader of stable offsets gets none that an open transaction may replace"
    )
    fails_when = "a coordinator takes each offset for stable"

    def begin(self) -> None:
        super().begin()
        self._being_written: dict[int, dict[str, deque[tuple[Offset, int]]]] = {}
        """The offsets whose writes have no outcome, each with its producer (-1: none), by coordinator and by name, in
        the order in which they were accepted."""
        self._homes: dict[str, TopicPartition] = {}
        """The partition of __consumer_offsets of each group."""
        self._open: dict[int, dict[Offset, None]] = {}
        """The offsets that transactions have written which have no marker, by producer."""
        self._perhaps_open: dict[int, dict[Offset, None]] = {}
        """Likewise, where it is not known whether they are in the log: they excuse that an offset is not stable."""
        self._ending: dict[int, dict[Offset, None]] = {}
        self._ended: dict[Offset, int] = {}
        """The offset of the marker of the last transaction that wrote an offset of a group, of those for which no other
        was committed since."""
        self._seen_us: dict[Offset, int] = {}
        """The time of the first answer that such an offset is not stable, with that marker committed."""
        self._logs = self.history.commits.logs  # with their high watermarks

    def on_accepted(self, event: CommitAccepted) -> None:
        self._homes[event.group] = event.home
        waiting = self._being_written.setdefault(event.node, {})
        for tp, _offset in event.offsets:
            self._ended.pop((event.group, tp), None)
            self._seen_us.pop((event.group, tp), None)
            name = offset_name(event.group, tp)
            waiting.setdefault(name, deque()).append(((event.group, tp), event.producer_id))

    def on_wrote(self, event: CoordinatorWrote) -> None:
        waiting = self._being_written.get(event.node, {})
        for name in event.of:
            accepted = waiting.get(name)
            if not accepted:
                continue
            if event.failed:  # which of them, is not said
                del waiting[name]
                continue
            offset, producer_id = accepted.popleft()
            if producer_id >= 0:
                self._open.setdefault(producer_id, {})[offset] = None

    def on_marked(self, event: TransactionMarked) -> None:
        if event.topic == GROUP_METADATA_TOPIC:
            here, written = TopicPartition.of(event.topic, event.partition), self._open.get(event.producer_id, {})
            ending = [offset for offset in written if self._homes[offset[0]] == here]
            self._ending[event.producer_id] = dict.fromkeys(ending)
            for offset in ending:
                del written[offset]
            doubtful = self._perhaps_open.get(event.producer_id, {})
            for offset in [offset for offset in doubtful if self._homes[offset[0]] == here]:
                del doubtful[offset]

    def on_marker(self, event: MarkerAppends) -> None:
        if event.tp.topic != GROUP_METADATA_TOPIC:
            return
        ended = self._ending.pop(event.producer_id, {})
        for accepted in self._being_written.get(event.node, {}).values():
            for place, (offset, producer_id) in enumerate(accepted):
                # It is in the log before the marker, also without an outcome.
                if producer_id == event.producer_id and self._homes[offset[0]] == event.tp:
                    accepted[place] = offset, NO_PRODUCER_ID
                    ended[offset] = None
        self._ended.update(dict.fromkeys(ended, event.offset))

    def on_removed(self, event: OffsetsRemoved) -> None:
        for topic, partition in zip(event.topics, event.partitions, strict=True):
            self._forget((event.group, TopicPartition.of(topic, partition)))
        for offsets in self._open.values() if event.group_too else ():
            for offset in [one for one in offsets if one[0] == event.group]:
                del offsets[offset]

    def on_deviated(self, event: Deviated) -> None:
        """A removal forgets what open transactions have written, too, where nothing else is removed."""
        if event.ticket == REMOVAL:
            tp = TopicPartition.of(event.topic, event.partition)
            for offset in [(group, tp) for group in self._homes]:
                self._forget(offset)

    def _forget(self, offset: Offset) -> None:
        """Take note that an offset was removed; one that is being written does not count any more, once it is."""
        self._ended.pop(offset, None)
        self._seen_us.pop(offset, None)
        for offsets in self._open.values():
            offsets.pop(offset, None)
        name = offset_name(*offset)
        for waiting in self._being_written.values():
            accepted = waiting.get(name, deque())
            for place in range(len(accepted)):
                accepted[place] = offset, NO_PRODUCER_ID

    def on_unloaded(self, event: GroupsUnloaded) -> None:
        self._leave_open(event.node)

    def on_crashed(self, event: NodeCrashed) -> None:
        super().on_crashed(event)
        self._leave_open(event.node)

    def _leave_open(self, coordinator: int) -> None:
        """Take note that nothing will say what happens to the offsets that a coordinator was writing."""
        for accepted in self._being_written.pop(coordinator, {}).values():
            for offset, producer_id in accepted:
                if producer_id >= 0:
                    self._perhaps_open.setdefault(producer_id, {})[offset] = None

    def forget_written(self) -> None:
        for coordinator in list(self._being_written):
            self._leave_open(coordinator)
        for producer_id, offsets in self._open.items():
            self._perhaps_open.setdefault(producer_id, {}).update(offsets)
        self._open.clear()
        self._ended.clear()
        self._seen_us.clear()

    def on_read(self, event: OffsetsRead) -> None:
        if not event.stable or not self.coordinates(event.node, event.home):
            return
        for tp, offset in event.offsets:
            producer_id = next((id for id, offsets in self._open.items() if (event.group, tp) in offsets), None)
            if producer_id is not None:
                self.violated(event, OffsetNotStable(event.node, event.group, offset, producer_id), tp)
        for tp in event.unstable:
            self._look_how_long(event, tp)

    def _look_how_long(self, event: OffsetsRead, tp: TopicPartition) -> None:
        """Look since when the offset of the group should be stable: its coordinator has the marker committed."""
        offset = event.group, tp
        ended, log = self._ended.get(offset), self._logs.get(event.node, event.home)
        reached_us = self.now.reached_since_us(event.node)
        if ended is None or log is None or log.high_watermark is None or reached_us is None:
            return
        open_offsets = (*self._open.values(), *self._perhaps_open.values())
        if log.high_watermark <= ended or any(offset in offsets for offsets in open_offsets):
            return
        since_us = self._seen_us.setdefault(offset, event.t_us)
        held_us = event.t_us - max(since_us, reached_us)
        if held_us > TOLD_US:
            self.violated(event, OffsetStaysUnstable(event.node, event.group, held_us), tp)
