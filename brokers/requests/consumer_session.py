"""A consumer's fetch session: what is below the high watermark, from the leader alone (2.3; KIP-392 is 2.4's)."""

from collections.abc import Iterable

from attrs import define

from brokers.partition.partition import Partition
from brokers.requests.fetch_session import CachedPartition, Collected, FetchSession
from emulator.disks import DiskError
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchedFields, FetchFields, FetchRequest
from emulator.protocol.types import Batch, TopicPartition


@define(eq=False)
class ConsumerSession(FetchSession):
    """It does not count for any ISR, no quota throttles it, and the high watermark wakes it."""

    def high_watermark_moved(self, position: CachedPartition) -> None:
        """There are more records that it may read."""
        self.wake(position)

    def _take(self, wanted: Iterable[FetchFields], now_us: int) -> None:
        for tp, epoch, offset, _start, _last_epoch in wanted:
            position = self.positions.get(tp)
            if position is None:
                position = self.positions[tp] = CachedPartition(self, tp, offset, epoch)
                if not self.manager.serves(tp):
                    self.unserved[position] = None
            else:
                position.offset, position.leader_epoch, position.high_watermark = offset, epoch, -1
            self.dirty[position] = None
            partition = self.manager.partitions.get(tp)
            if partition is not None:
                if partition.readers is None:
                    partition.readers = {}
                partition.readers[position] = None

    def _forget(self, tp: TopicPartition) -> None:
        position = self.positions.pop(tp, None)
        if position is None:
            return
        self.dirty.pop(position, None)
        self.unserved.pop(position, None)
        partition = self.manager.partitions.get(tp)
        if partition is not None and partition.readers is not None:
            partition.readers.pop(position, None)

    def _collect(self, request: FetchRequest, arrived: bool) -> Collected:
        found: list[CachedPartition] = []
        answers: list[FetchedFields] = []
        budget, size, cut = request.max_bytes, 0, 0
        failed = bool(self.erroneous) and len(self.erroneous) == len(self.positions)
        for position in self.dirty:
            tp = position.tp
            if position in self.erroneous:
                found.append(position)
                answers.append((tp, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, (), None))
                continue
            partition = self.manager.partitions.get(tp)
            error = self._check(partition, position)
            if error or partition is None:
                found.append(position)
                answers.append((tp, error, -1, -1, (), None))
                failed = True
                continue
            limit = min(budget, request.max_partition_bytes)
            try:
                batches = self._readable(partition, position, limit, not size)
            except DiskError:
                found.append(position)
                answers.append((tp, Errors.KAFKA_STORAGE_ERROR, -1, -1, (), None))
                failed = True
                continue
            sent = sum(batch.size for batch in batches)
            size += sent
            budget -= sent
            if batches and batches[-1].next_offset < partition.high_watermark:
                cut += max(0, limit - sent)
            if batches or position.high_watermark != partition.high_watermark:
                found.append(position)
                answers.append((tp, error, partition.high_watermark, partition.log_start_offset, batches, None))
        return Collected(found, answers, size, failed or size + cut >= request.min_bytes)

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

    def _check(self, partition: Partition | None, position: CachedPartition) -> Errors:
        """As for a follower; an old client sends no epoch."""
        if partition is None:
            return self.manager.error_without_replica(position.tp)
        error = self._refused_epoch(partition, position)
        if error:
            return error
        in_range = partition.log_start_offset <= position.offset <= partition.log_end_offset
        return NO_ERROR if in_range else Errors.OFFSET_OUT_OF_RANGE

    def _sent(self, positions: list[CachedPartition], answers: list[FetchedFields]) -> None:
        """What a reader does not take, as it validates its position again, it is sent again."""
        for position, (_tp, error, high_watermark, _log_start, _batches, _diverging) in zip(
            positions, answers, strict=True
        ):
            position.high_watermark = high_watermark
            if not error and position.offset >= high_watermark:
                del self.dirty[position]

    def _measure(self, answers: list[FetchedFields], size: int) -> None:
        """BytesOutPerSec, of each topic and of all topics."""
        topics = self.manager.metrics.topics
        for tp, _error, _high_watermark, _log_start, batches, _diverging in answers:
            if batches:
                topics.consumed(tp.topic, sum(batch.size for batch in batches))


@define(eq=False)
class RacingConsumerSession(ConsumerSession):
    """A consumer that may read to the end of the log gets what is appended while its answer is made: the end of the
    records is taken from the size of the file, which is read twice (``FileRecords.slice``, before KAFKA-9835)."""

    def _answer(self, collected: Collected) -> None:
        ends = [
            batches[-1].next_offset == self.manager.partitions[tp].log_end_offset
            for tp, error, _high_watermark, _log_start, batches, _diverging in collected.answers
            if batches and not error
        ]
        if not any(ends):
            super()._answer(collected)
            return
        self.delayed.request = None
        self.manager.process.call_later(self.manager.policies.read_race_us, self._answer_late, collected)

    def _answer_late(self, collected: Collected) -> None:
        answers = [self._with_appended(answer) for answer in collected.answers]
        super()._answer(collected._replace(answers=answers))

    def _with_appended(self, answer: FetchedFields) -> FetchedFields:
        tp, error, high_watermark, log_start, batches, diverging = answer
        partition = self.manager.partitions.get(tp)
        if not batches or partition is None or batches[-1].next_offset < high_watermark:
            return answer
        more = partition.log.read(batches[-1].next_offset, partition.log.end_offset)
        return tp, error, high_watermark, log_start, (*batches, *more), diverging
