"""Many batches of equal shape as one object: what a topic holds when a run begins, or what a leader got in a long
stretch of time.

An ``Extent`` is never changed. The logs that hold batches of it share it, each with the part that it has, an
``ExtentPart``; what is read of a part is ordinary batches, made when they are read.
"""

from bisect import bisect_right
from typing import ClassVar

from attrs import define, evolve, field, frozen

from emulator.protocol.types import Batch, SequencedBatch

NO_PRODUCER_ID = -1


@frozen(eq=False)
class Extent:
    """``count`` batches, one after the other, which differ only in offsets, ids, times and sequence numbers.

    Attributes:
        base_offset: the first offset.
        records, batch_size: the number of records and the size in bytes of each batch, both above 0.
        first_id, id_step: batch ``i`` has the id ``first_id + i * id_step``.
        first_us, over_us: batch ``i`` was appended ``over_us * i // count`` after ``first_us``: evenly spread.
        producer_id, base_sequence, producer_epoch: of an idempotent producer, as in ``SequencedBatch``;
            ``NO_PRODUCER_ID``: its batches are not numbered.
    """

    base_offset: int
    count: int
    records: int
    batch_size: int
    leader_epoch: int
    first_id: int
    id_step: int = 1
    first_us: int = field(default=0, kw_only=True)
    over_us: int = field(default=0, kw_only=True)
    producer_id: int = field(default=NO_PRODUCER_ID, kw_only=True)
    base_sequence: int = field(default=-1, kw_only=True)
    producer_epoch: int = field(default=0, kw_only=True)

    @property
    def sequenced(self) -> bool:
        return self.producer_id != NO_PRODUCER_ID

    @property
    def whole(self) -> "ExtentPart":
        return ExtentPart(self, 0, self.count)

    def placed(self, base_offset: int, leader_epoch: int, _now_us: int) -> "ExtentPart":
        """All batches of it, as a leader of ``leader_epoch`` appends them at ``base_offset``; their times are its
        own."""
        return evolve(self, base_offset=base_offset, leader_epoch=leader_epoch).whole

    def timestamp_us(self, index: int) -> int:
        return self.first_us + self.over_us * index // self.count

    def batch(self, index: int) -> Batch:
        """Batch ``index`` of it: a new object each time."""
        base = self.base_offset + index * self.records
        id, at_us = self.first_id + index * self.id_step, self.timestamp_us(index)
        if self.producer_id == NO_PRODUCER_ID:
            return ExtentBatch(
                base, base + self.records, self.leader_epoch, self.batch_size, id, self, index, timestamp_us=at_us
            )
        return SequencedExtentBatch(
            base, base + self.records, self.leader_epoch, self.batch_size, id, self.producer_id,
            self.base_sequence + index * self.records, self, index, timestamp_us=at_us,
            producer_epoch=self.producer_epoch,
        )  # fmt: skip


@frozen(eq=False)
class ExtentPart:
    """The batches ``[begin, end)`` of an extent, by their index in it; at least one. It has the attributes of a batch
    that are the sums of theirs."""

    extent: Extent
    begin: int
    end: int
    in_extent: ClassVar[bool] = True

    @property
    def count(self) -> int:
        return self.end - self.begin

    @property
    def base_offset(self) -> int:
        return self.extent.base_offset + self.begin * self.extent.records

    @property
    def next_offset(self) -> int:
        return self.extent.base_offset + self.end * self.extent.records

    @property
    def leader_epoch(self) -> int:
        return self.extent.leader_epoch

    @property
    def id(self) -> int:
        """The id of its first batch."""
        return self.extent.first_id + self.begin * self.extent.id_step

    @property
    def size(self) -> int:
        return self.count * self.extent.batch_size

    @property
    def newest_us(self) -> int:
        """The time of its last batch, and so the latest one."""
        return self.extent.timestamp_us(self.end - 1)

    def between(self, begin: int, end: int) -> "ExtentPart":
        """The batches ``[begin, end)`` of this part, counted from its own first one."""
        return ExtentPart(self.extent, self.begin + begin, self.begin + end)

    def batch(self, place: int) -> Batch:
        """Batch ``place`` of this part, counted from its own first one."""
        return self.extent.batch(self.begin + place)

    def batches(self) -> list[Batch]:
        return [self.extent.batch(index) for index in range(self.begin, self.end)]

    def ended(self, offset: int) -> int:
        """The number of its batches that end at or before ``offset``."""
        whole = (offset - self.base_offset) // self.extent.records
        return min(max(whole, 0), self.count)

    def until(self, at_us: int) -> int:
        """The number of its batches that were appended at ``at_us`` or before."""
        return bisect_right(range(self.begin, self.end), at_us, key=self.extent.timestamp_us)


@define(eq=False)
class ExtentBatch(Batch):
    """A batch of an extent; ``index``: its place in it."""

    extent: Extent
    index: int
    in_extent: ClassVar[bool] = True


@define(eq=False)
class SequencedExtentBatch(SequencedBatch):
    """A numbered batch of an extent; ``index``: its place in it."""

    extent: Extent
    index: int
    in_extent: ClassVar[bool] = True
