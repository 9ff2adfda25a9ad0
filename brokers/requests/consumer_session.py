"""A consumer's fetch session: what is below the high watermark, from the leader alone (2.3; KIP-392 is 2.4's)."""

from attrs import define

from brokers.partition.partition import Partition
from brokers.requests.fetch_session import CachedPartition, FetchSession
from emulator.disks import DiskError
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest
from emulator.protocol.types import Batch, TopicPartition


@define(eq=False)
class ConsumerSession(FetchSession):
    """It does not count for any ISR, no quota throttles it, and the high watermark wakes it."""

    def _take(self, wanted: FetchPartition, now_us: int) -> None:
        tp = wanted.tp
        self.positions[tp] = CachedPartition(wanted.fetch_offset, wanted.leader_epoch)
        self.dirty[tp] = None
        partition = self.manager.partitions.get(tp)
        if partition is not None:
            if partition.readers is None:
                partition.readers = {}
            partition.readers[self] = None

    def _forget(self, tp: TopicPartition) -> None:
        self.positions.pop(tp, None)
        self.dirty.pop(tp, None)
        partition = self.manager.partitions.get(tp)
        if partition is not None and partition.readers is not None:
            partition.readers.pop(self, None)

    def _collect(self, request: FetchRequest, arrived: bool) -> tuple[list[FetchedPartition], int, bool]:
        answers: list[FetchedPartition] = []
        budget, size, failed = request.max_bytes, 0, False
        for tp in self.dirty:
            partition, position = self.manager.partitions.get(tp), self.positions[tp]
            error = self._check(tp, partition, position)
            if error or partition is None:
                answers.append(FetchedPartition(tp, error, -1, -1, ()))
                failed = True
                continue
            try:
                batches = self._readable(partition, position, min(budget, request.max_partition_bytes), not size)
            except DiskError:
                answers.append(FetchedPartition(tp, Errors.KAFKA_STORAGE_ERROR, -1, -1, ()))
                failed = True
                continue
            sent = sum(batch.size for batch in batches)
            size += sent
            budget -= sent
            if batches or position.high_watermark != partition.high_watermark:
                answers.append(
                    FetchedPartition(tp, error, partition.high_watermark, partition.log_start_offset, batches)
                )
        return answers, size, failed or size >= request.min_bytes

    def _readable(self, partition: Partition, position: CachedPartition, limit: int, first: bool) -> tuple[Batch, ...]:
        """The committed batches from there on; only the ``first`` batch of an answer may exceed the limit (KIP-74)."""
        end, log = partition.high_watermark, partition.log
        if position.offset >= end or limit <= 0:
            return ()
        batches = log.read(position.offset, limit)
        log.directory.was_read(batches)
        if not first and batches[0].size > limit:
            return ()
        if batches[-1].next_offset > end:
            batches = tuple(batch for batch in batches if batch.next_offset <= end)
        return batches

    def _check(self, tp: TopicPartition, partition: Partition | None, position: CachedPartition) -> Errors:
        """As for a follower; an old client sends no epoch."""
        if partition is None:
            return self.manager.error_without_replica(tp)
        error = partition.check_current_leader_epoch(position.leader_epoch)
        if error:
            return error
        in_range = partition.log_start_offset <= position.offset <= partition.log_end_offset
        return NO_ERROR if in_range else Errors.OFFSET_OUT_OF_RANGE

    def _sent(self, answers: list[FetchedPartition]) -> None:
        for answer in answers:
            position = self.positions[answer.tp]
            position.high_watermark = answer.high_watermark
            if answer.batches or answer.error or position.offset >= answer.high_watermark:
                del self.dirty[answer.tp]

    def _measure(self, answers: list[FetchedPartition], size: int) -> None:
        """BytesOutPerSec, of each topic and of all topics."""
        topics = self.manager.metrics.topics
        for answer in answers:
            if answer.batches:
                topics.consumed(answer.tp.topic, sum(batch.size for batch in answer.batches))
