"""A consumer's fetch session: what is below the high watermark, from the leader alone (2.3; KIP-392 is 2.4's)."""

from collections.abc import Iterable

from attrs import define

from brokers.requests.consumer_reads import ConsumerReads, measure, refused
from brokers.requests.reader_session import Collected, ReaderSession, SessionPosition
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import NO_EPOCH, FetchedFields, FetchFields, FetchRequest
from emulator.protocol.types import TopicPartition


@define(eq=False)
class ConsumerSession(ReaderSession):
    """A consumer's fetch session. It counts for no ISR and is not throttled; a new high watermark wakes it."""

    def reads(self, _tp: TopicPartition) -> bool:
        """Only what followers read counts for an ISR."""
        return False

    def leader_epoch(self, _tp: TopicPartition) -> int | None:
        return None

    def high_watermark_moved(self, position: SessionPosition) -> None:
        """There are more records that it may read."""
        self.wake(position)

    def _take(self, wanted: Iterable[FetchFields], now_us: int) -> None:
        for tp, epoch, offset, _start, _last_epoch in wanted:
            position = self.positions.get(tp)
            if position is None:
                self._others_read()
                position = self.positions[tp] = SessionPosition(self, tp, offset, epoch)
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
        self._others_read()
        position = self.positions.pop(tp, None)
        if position is None:
            return
        self.dirty.pop(position, None)
        self.unserved.pop(position, None)
        partition = self.manager.partitions.get(tp)
        if partition is not None and partition.readers is not None:
            partition.readers.pop(position, None)

    def _collect(self, request: FetchRequest, arrived: bool) -> Collected:
        found: list[SessionPosition] = []
        answers: list[FetchedFields] = []
        reads = ConsumerReads(self.manager, request.max_bytes)
        reads.failed = bool(self.unknown) and len(self.unknown) == len(self.positions)
        names_epochs = self._names_epochs
        for position in self.dirty:
            if position in self.unknown:
                answer = refused(position.tp, Errors.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                epoch = position.leader_epoch if names_epochs else NO_EPOCH
                answer = reads.read(position.tp, epoch, position.offset, request.max_partition_bytes)
            _tp, error, high_watermark, _log_start, batches, _diverging = answer
            if error or batches or position.high_watermark != high_watermark:
                found.append(position)
                answers.append(answer)
        return Collected(found, answers, reads.size, reads.reach(request.min_bytes))

    def _sent(self, positions: list[SessionPosition], answers: list[FetchedFields]) -> None:
        """Note what was sent. An answer that the reader drops, as it validates its position again, is sent again."""
        for position, (_tp, error, high_watermark, _log_start, _batches, _diverging) in zip(
            positions, answers, strict=True
        ):
            position.high_watermark = high_watermark
            if not error and position.offset >= high_watermark:
                del self.dirty[position]

    def _measure(self, answers: list[FetchedFields], size: int) -> None:
        measure(self.manager, answers)


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
