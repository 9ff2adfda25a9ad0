"""The offsets that one group has committed (the offsets of kafka.coordinator.group.GroupMetadata, 3.0)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from attrs import define, field

from brokers.groups.records import OffsetAndMetadata
from emulator.protocol.types import TopicPartition

NOT_YET = -1
"""The place in the log of an offset that is not written yet."""


class Appended(NamedTuple):
    """A committed offset, and the place in ``__consumer_offsets`` where its batch begins."""

    value: OffsetAndMetadata
    at: int


@define(eq=False)
class CommittedOffsets:
    """The newest offset of each partition.

    Attributes:
        offsets: the committed offsets: they are in the log, on all in-sync replicas.
        pending: the offsets whose commit is not decided yet.
        transactional: by producer id, the offsets of transactions that have not ended.
    """

    offsets: dict[TopicPartition, Appended] = field(factory=dict)
    pending: dict[TopicPartition, OffsetAndMetadata] = field(factory=dict)
    transactional: dict[int, dict[TopicPartition, Appended]] = field(factory=dict)

    @property
    def keeps_anything(self) -> bool:
        return bool(self.offsets or self.pending or self.transactional)

    def appended(self, tp: TopicPartition, value: OffsetAndMetadata, at: int) -> None:
        """Take note that the commit of ``value`` has succeeded. If another commit has succeeded, too, the later one in
        the log counts. A commit that was removed meanwhile (``remove``) does not come back."""
        if tp not in self.pending:
            return
        before = self.offsets.get(tp)
        if before is None or before.at < at:
            self.offsets[tp] = Appended(value, at)
        self.settled(tp, value)

    def settled(self, tp: TopicPartition, value: OffsetAndMetadata) -> None:
        """Take note that the commit of ``value`` has succeeded or failed: it is no longer pending."""
        if self.pending.get(tp) == value:
            del self.pending[tp]

    def is_unstable(self, tp: TopicPartition) -> bool:
        """Whether another commit of ``tp`` is pending, or waits for the end of its transaction."""
        return tp in self.pending or any(tp in offsets for offsets in self.transactional.values())

    @property
    def outlasting(self) -> tuple[TopicPartition, ...]:
        """The partitions with an offset that no tombstone removes from the log if it is removed here: of a transaction
        that has not ended, or of the first commit, which is not decided."""
        first = (tp for tp in self.pending if tp not in self.offsets)
        return tuple(dict.fromkeys((*(tp for offsets in self.transactional.values() for tp in offsets), *first)))

    # -- transactions -----------------------------------------------------------------------------------------------

    def begin(self, producer_id: int, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        """Begin the commit of ``offsets`` by a transaction (prepareTxnOffsetCommit)."""
        known = self.transactional.setdefault(producer_id, {})
        known.update((tp, Appended(value, NOT_YET)) for tp, value in offsets.items())

    def written(self, producer_id: int, tp: TopicPartition, value: OffsetAndMetadata, at: int) -> None:
        """Take note that such an offset is in the log (onTxnOffsetCommitAppend)."""
        known = self.transactional.get(producer_id, {})
        if tp in known and known[tp].value == value:
            known[tp] = Appended(value, at)

    def failed(self, producer_id: int, tp: TopicPartition) -> None:
        """Take note that such an offset could not be written (failPendingTxnOffsetCommit)."""
        known = self.transactional.get(producer_id, {})
        known.pop(tp, None)
        if not known:
            self.transactional.pop(producer_id, None)

    def end(self, producer_id: int, *, committed: bool) -> dict[TopicPartition, Appended]:
        """End a transaction. Returns the offsets that count now (completePendingTxnOffsetCommit)."""
        ended = self.transactional.pop(producer_id, {})
        counts: dict[TopicPartition, Appended] = {}
        for tp, appended in ended.items() if committed else ():
            before = self.offsets.get(tp)
            if appended.at != NOT_YET and (before is None or before.at < appended.at):
                self.offsets[tp] = counts[tp] = appended
        return counts

    # -- what is removed --------------------------------------------------------------------------------------------

    def remove(self, partitions: Iterable[TopicPartition]) -> tuple[TopicPartition, ...]:
        """Forget the offsets of ``partitions``. Returns the partitions that had any."""
        removed = []
        for tp in partitions:
            self.pending.pop(tp, None)
            for offsets in self.transactional.values():
                offsets.pop(tp, None)
            if self.offsets.pop(tp, None) is not None:
                removed.append(tp)
        return tuple(removed)

    def expired(
        self, now_ms: int, retention_ms: int, since_ms: Callable[[OffsetAndMetadata], int],
        subscribed: Collection[str] = (),
    ) -> tuple[TopicPartition, ...]:  # fmt: skip
        """The partitions whose offsets have expired. Partitions of the topics ``subscribed``, and those with a pending
        commit, do not expire.

        Args:
            since_ms: gives the time at which ``retention_ms`` begins for an offset. It is not asked for an offset with
                an expiry time of its own.
        """
        return tuple(
            tp
            for tp, (value, _at) in self.offsets.items()
            if tp.topic not in subscribed
            and not self.is_unstable(tp)
            and now_ms >= (since_ms(value) + retention_ms if value.expire_ms is None else value.expire_ms)
        )

    def load(
        self, offsets: Mapping[TopicPartition, Appended], transactional: Mapping[int, dict[TopicPartition, Appended]]
    ) -> None:
        self.offsets.update(offsets)
        self.transactional.update(transactional)
