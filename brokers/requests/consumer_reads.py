"""The reads of one fetch request of a consumer, emulated or real.

Behavior, for each partition in this order (KafkaApis.handleFetchRequest, ReplicaManager.readFromLocalLog,
Partition.readRecords, Log.read; 2.3.1):

1. the broker's metadata had the partition when the request came: UNKNOWN_TOPIC_OR_PARTITION (``refused``)
2. there is a replica here: NOT_LEADER_FOR_PARTITION, KAFKA_STORAGE_ERROR; its log is of the topic with the id that the
   reader named, if it named one: INCONSISTENT_TOPIC_ID
3. the reader's leader epoch is that of the replica, if it names one: FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH
4. the replica leads, unless any replica will do: NOT_LEADER_FOR_PARTITION
5. the reader's last record is in the log, if it names its epoch: the diverging epoch, and no records (KIP-595)
6. the offset is in the log: OFFSET_OUT_OF_RANGE
7. the disk can be read: KAFKA_STORAGE_ERROR

A reader gets what is before the high watermark, or before the last stable offset. Only the first batch of an answer may
be larger than the limits (KIP-74).

Version notes:

- up to 0.10.0 a message that is larger than the limits is not sent at all (before KIP-74): ``sends_first_batch``
- 2.1: leader epochs (KIP-320): ``checks_epochs``
- 2.4: any replica will do for a consumer whose version a leader can send to a follower (KIP-392):
  ``followers_serve_consumers``. A follower has its own high watermark and start; a reader that is ahead of its log gets
  OFFSET_OUT_OF_RANGE. Up to 2.3 any replica will do for replica id -2 alone
- 2.7: diverging epochs, of real clients that name the epoch of their last record; an offset before the log's start is
  OFFSET_OUT_OF_RANGE whatever the epoch (KAFKA-12996, 2.7.2), as is an
  epoch of which the log knows nothing
- 3.1: topics by their ids (KIP-516, KAFKA-10580)
"""

from collections.abc import Iterable

from attrs import define

from brokers.partition.partition import Partition
from brokers.replica_manager import ReplicaManager
from emulator.disks import DiskError
from emulator.protocol.clients.fetch import READ_COMMITTED, READ_UNCOMMITTED
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchedFields, ReadRefused
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET
from emulator.protocol.types import Batch, TopicPartition


def show_refusals(manager: ReplicaManager, reader: int, answers: Iterable[FetchedFields]) -> None:
    process = manager.process
    for answer in answers:
        if answer[1]:
            process.mark(ReadRefused, process.node.id, reader, answer[0], answer[1].name)


def refused(tp: TopicPartition, error: Errors) -> FetchedFields:
    return tp, error, -1, -1, (), None


def readable_end(partition: Partition, isolation: int) -> int:
    """Up to where a consumer may read: the high watermark, or the last stable offset."""
    end = partition.high_watermark
    return partition.log.last_stable_offset(end) if isolation == READ_COMMITTED else end


def fits(batch: Batch, limit: int) -> bool:
    """Whether a message of ``batch`` is within ``limit`` bytes. Before KIP-98 (0.11) an answer could end inside a
    batch, and its reader took the messages that were whole."""
    return batch.size <= limit * (batch.next_offset - batch.base_offset)


def measure(manager: ReplicaManager, answers: Iterable[FetchedFields]) -> None:
    """Count what readers are sent: BytesOutPerSec, of each topic and of all topics."""
    topics = manager.metrics.topics
    for tp, _error, _high_watermark, _log_start, batches, _diverging in answers:
        if batches:
            topics.consumed(tp.topic, sum(batch.size for batch in batches))


@define(eq=False)
class ConsumerReads:
    """The reads of one request, one partition after the other.

    Attributes:
        max_bytes: limit of the whole answer.
        from_leader: whether only a leader may answer.
        size: the bytes that were read so far.
        cut: the bytes that limits have left free, though there is more to read: Kafka sends a part of a batch there,
            and counts it.
        failed: a partition gets an error, or has diverged: that completes the request.
    """

    manager: ReplicaManager
    max_bytes: int
    isolation: int = READ_UNCOMMITTED
    from_leader: bool = True
    size: int = 0
    cut: int = 0
    failed: bool = False

    def reach(self, min_bytes: int) -> bool:
        """Whether what was read completes a request for ``min_bytes``."""
        return self.failed or self.size + self.cut >= min_bytes

    def read(
        self,
        tp: TopicPartition,
        leader_epoch: int,
        offset: int,
        max_bytes: int,
        last_epoch: int = UNDEFINED_EPOCH,
        topic_id: str = "",
    ) -> FetchedFields:
        """Read a partition from ``offset`` on.

        Args:
            max_bytes: limit of this partition.
            last_epoch: the epoch of the reader's last record.
            topic_id: the id of the topic that it reads; "": it named none.
        """
        partition = self.manager.partitions.get(tp)
        if topic_id and partition is not None and not partition.log.directory.metadata.is_of(tp, topic_id):
            answer = refused(tp, Errors.INCONSISTENT_TOPIC_ID)
        else:
            answer = self._read(tp, leader_epoch, offset, min(max_bytes, self.max_bytes - self.size), last_epoch)
        self.failed = self.failed or bool(answer[1]) or answer[5] is not None
        return answer

    def _read(self, tp: TopicPartition, leader_epoch: int, offset: int, limit: int, last_epoch: int) -> FetchedFields:
        partition = self.manager.partitions.get(tp)
        if partition is None:
            return refused(tp, self.manager.error_without_replica(tp, self.from_leader))
        error = partition.check_current_leader_epoch(leader_epoch, require_leader=self.from_leader)
        if error:
            return refused(tp, error)
        log = partition.log
        high_watermark = max(partition.high_watermark, 0)
        if last_epoch != UNDEFINED_EPOCH:
            diverging = partition.diverging(last_epoch, offset)
            below = offset < log.start_offset and not self.manager.policies.diverges_below_start
            if diverging is not None and (below or diverging[1] == UNDEFINED_OFFSET):
                return refused(tp, Errors.OFFSET_OUT_OF_RANGE)
            if diverging is not None:
                return tp, NO_ERROR, high_watermark, log.start_offset, (), diverging
        if not log.start_offset <= offset <= log.end_offset:
            return refused(tp, Errors.OFFSET_OUT_OF_RANGE)
        try:
            batches = self._readable(partition, offset, limit)
        except DiskError:
            return refused(tp, Errors.KAFKA_STORAGE_ERROR)
        return tp, NO_ERROR, high_watermark, log.start_offset, batches, None

    def _readable(self, partition: Partition, offset: int, limit: int) -> tuple[Batch, ...]:
        """The batches from ``offset`` on that a consumer may read now, within the limits. Raises: DiskError."""
        end, log, first = readable_end(partition, self.isolation), partition.log, not self.size
        if offset >= end or (limit <= 0 and not first):
            return ()
        batches = log.read(offset, max(limit, 0))
        sends_first = self.manager.policies.sends_first_batch
        if batches[0].size > limit and not (first and (sends_first or fits(batches[0], limit))):
            return ()
        log.directory.was_read(batches)
        if batches[-1].next_offset > end:
            batches = tuple(batch for batch in batches if batch.next_offset <= end)
        sent = sum(batch.size for batch in batches)
        self.size += sent
        if batches and batches[-1].next_offset < end:
            self.cut += max(0, limit - sent)
        return batches
