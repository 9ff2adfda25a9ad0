"""The records that clients have a broker delete (KIP-107, 0.11), and the requests that wait for other replicas.

Behavior (ReplicaManager.deleteRecords, Partition.deleteRecordsOnLeader, DelayedDeleteRecords; 2.4.1):

1. the start of the leader's log moves to the offset, if that is after it: UNKNOWN_TOPIC_OR_PARTITION,
   NOT_LEADER_FOR_PARTITION, KAFKA_STORAGE_ERROR, INVALID_TOPIC_EXCEPTION (an internal topic), POLICY_VIOLATION
   (cleanup.policy without delete), OFFSET_OUT_OF_RANGE (negative, or above the high watermark)
2. the followers move theirs when they are answered next, and say so in the fetch after that
3. the answer waits until the partition's *low watermark*, the lowest start among its live replicas, has come to the
   offset. It is looked at when a fetch raises it, and when the high watermark moves; not when a broker dies, and not
   when the leader resigns: the answer is then REQUEST_TIMED_OUT at the end of the request's time

Only the start moves at once. Segments that lie wholly before it go with the next check of
log.retention.check.interval.ms.

Version notes, read in 0.11.0.2 to 3.0.2. Emulated is what all of them do from 1.1 on:

- up to 1.0 the start moved before the policy was looked at, so that a refused request deleted all the same
- 2.1: a topic's policy is looked at before the offset is found negative (KIP-320's commit)
- 2.4: a log knows its high watermark, and refuses what is above it itself; before, its replica did
- 2.7: what an answer waits for is completed at the end of a request, and no longer in the middle
- 2.4.1, 2.7.2 and 3.0.2 differ in nothing else; NOT_LEADER_FOR_PARTITION is called NOT_LEADER_OR_FOLLOWER from 2.6 on
"""

from collections.abc import Callable, Mapping
from typing import Protocol

from attrs import define, field

from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.metadata_cache import MetadataCache
from brokers.partition.partition import Partition
from brokers.partition.remote import RemoteReplica
from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.kernel import Timer
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.delete_records import (
    INVALID_LOW_WATERMARK,
    TO_HIGH_WATERMARK,
    DeletedRecords,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
)
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.shown import DeletionExpired, DeletionWaits, RecordsDeleted
from emulator.protocol.types import TopicPartition

INTERNAL_TOPICS = (GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC)


class Begins(Protocol):
    """A log in another directory that will replace the current one, as far as it counts here."""

    @property
    def log_start_offset(self) -> int: ...


@define(eq=False)
class DelayedDeleteRecords:
    """A request that waits for other replicas, in some of its partitions.

    Attributes:
        results: the results in the order of the request; for a waiting partition, the one at the timeout.
        required: the offset that the low watermark of each waiting partition has to reach.
    """

    channel: Channel
    results: dict[TopicPartition, DeletedRecords]
    required: dict[TopicPartition, int]
    timer: Timer | None = None

    def answer(self) -> None:
        """Answer with the results there are."""
        response = DeleteRecordsResponse(tuple(self.results.values()))
        self.channel.reply(response, response.size)


@define(eq=False)
class RecordDeletion:
    """The part of a broker's replica manager that deletes records on request.

    Attributes:
        offline: the replicas whose log directory has failed.
        futures: the logs in other directories that will replace the current ones.
        error_without_replica: the error for a request that names a partition without a replica here.
        waiting: the requests that wait, by each partition that they wait for.
    """

    process: Process
    partitions: Mapping[TopicPartition, Partition]
    offline: Mapping[TopicPartition, None]
    metadata: MetadataCache
    futures: Mapping[TopicPartition, Begins]
    error_without_replica: Callable[[TopicPartition], Errors]
    waiting: dict[TopicPartition, list[DelayedDeleteRecords]] = field(factory=dict)

    def low_watermark(self, partition: Partition) -> int:
        """The lowest start of the live replicas of a partition that this broker leads, as far as it knows: that of a
        follower which has not fetched yet is -1 (Partition.lowWatermarkIfLeader)."""
        live, lowest = self.metadata.live_brokers, partition.log.start_offset
        for remote in partition.remotes.values():
            if remote.log_start_offset < lowest and remote.broker in live:
                lowest = remote.log_start_offset
        future = self.futures.get(partition.tp)
        return lowest if future is None else min(lowest, future.log_start_offset)

    # -- a request ----------------------------------------------------------------------------------------------------

    def delete(self, request: DeleteRecordsRequest, channel: Channel) -> None:
        """Delete, and answer once the live replicas have followed."""
        delayed = DelayedDeleteRecords(channel, {}, {})
        for tp, offset in dict(request.partitions).items():
            error, required = self._delete(tp, offset)
            low_watermark = INVALID_LOW_WATERMARK
            if error is NO_ERROR:
                low_watermark, error = self.low_watermark(self.partitions[tp]), Errors.REQUEST_TIMED_OUT
                delayed.required[tp] = required
            delayed.results[tp] = DeletedRecords(tp, low_watermark, error)
        self._look_at(delayed)
        if not delayed.required:
            delayed.answer()
            return
        me = self.process.node
        for tp, required in delayed.required.items():
            self.waiting.setdefault(tp, []).append(delayed)
            if tp not in self.futures:
                self.process.show(DeletionWaits, me.id, *tp, self.partitions[tp].leader_epoch, required)
        delayed.timer = self.process.call_later(request.timeout_us, self._expire, delayed)

    def _delete(self, tp: TopicPartition, offset: int) -> tuple[Errors, int]:
        """Delete in one partition, if it is led here; or the error. Also the offset that is meant."""
        if not self.metadata.knows(tp):
            return Errors.UNKNOWN_TOPIC_OR_PARTITION, offset
        if tp.topic in INTERNAL_TOPICS:
            return Errors.INVALID_TOPIC_EXCEPTION, offset
        partition = self.partitions.get(tp)
        if partition is None and tp not in self.offline:
            return self.error_without_replica(tp), offset
        if partition is None or not partition.is_leader:
            return self._not_led(partition, tp), offset
        return self._delete_on_leader(partition, offset)

    def _not_led(self, partition: Partition | None, tp: TopicPartition) -> Errors:
        """Why this broker does not lead ``tp``."""
        if partition is not None:
            return Errors.NOT_LEADER_FOR_PARTITION
        return Errors.KAFKA_STORAGE_ERROR if tp in self.offline else Errors.UNKNOWN_TOPIC_OR_PARTITION

    def _delete_on_leader(self, partition: Partition, offset: int) -> tuple[Errors, int]:
        """Move the start of a log that this broker leads; or the error. Also the offset that is meant."""
        log, high_watermark = partition.log, partition.high_watermark
        if not log.directory.config_of(partition.tp.topic).deletes:
            return Errors.POLICY_VIOLATION, offset
        required = high_watermark if offset == TO_HIGH_WATERMARK else offset
        if not 0 <= required <= high_watermark:
            return Errors.OFFSET_OUT_OF_RANGE, offset
        if required > log.start_offset:
            log.raise_start_to(required)
            log.watch_retention()
            partition.log_start_moved("request")
            for reader in partition.readers or ():
                reader.session.mark_dirty(reader)
        for remote in partition.remotes.values():
            if remote.log_start_offset < required and remote.position is not None:
                remote.position.resend()  # its log may begin there already: no leader had asked
        return NO_ERROR, required

    # -- what completes it --------------------------------------------------------------------------------------------

    def begins_at(self, partition: Partition, remote: RemoteReplica, start: int) -> None:
        """Take note that the log of a follower begins at ``start``, as its fetch says."""
        if partition.tp not in self.waiting:
            remote.log_start_offset = start
            return
        before = self.low_watermark(partition)
        remote.log_start_offset = start
        if self.low_watermark(partition) > before:
            self.look(partition.tp)

    def look(self, tp: TopicPartition) -> None:
        """Answer the requests that wait for ``tp`` and for nothing else any more."""
        for delayed in list(self.waiting.get(tp, ())):
            self._look_at(delayed)
            if not delayed.required:
                if delayed.timer is not None:
                    delayed.timer.cancel()
                delayed.answer()

    def _look_at(self, delayed: DelayedDeleteRecords) -> None:
        """Find the results of the partitions of ``delayed`` that need not wait any more."""
        for tp, required in list(delayed.required.items()):
            partition = self.partitions.get(tp)
            if partition is None or not partition.is_leader:
                self._found(delayed, DeletedRecords(tp, INVALID_LOW_WATERMARK, self._not_led(partition, tp)))
                continue
            reached = self.low_watermark(partition)
            if reached >= required:
                self._show(partition, required, reached)
                self._found(delayed, DeletedRecords(tp, reached, NO_ERROR))

    def _show(self, partition: Partition, required: int, low_watermark: int) -> None:
        me, epoch = self.process.node, partition.leader_epoch
        self.process.show(
            RecordsDeleted, me.id, *partition.tp, epoch, required, low_watermark, self._counted(partition)
        )  # fmt: skip

    def _counted(self, partition: Partition) -> tuple[int, ...]:
        return tuple(broker for broker in partition.assigned if broker in self.metadata.live_brokers)

    def _found(self, delayed: DelayedDeleteRecords, result: DeletedRecords) -> None:
        delayed.results[result.tp] = result
        del delayed.required[result.tp]
        self._forget(result.tp, delayed)

    def _forget(self, tp: TopicPartition, delayed: DelayedDeleteRecords) -> None:
        waiting = self.waiting.get(tp, [])
        if delayed in waiting:
            waiting.remove(delayed)
            if not waiting:
                del self.waiting[tp]

    def _expire(self, delayed: DelayedDeleteRecords) -> None:
        """Answer at the end of a request's time."""
        if delayed.required:
            me = self.process.node
            for tp, required in delayed.required.items():
                self._forget(tp, delayed)
                partition = self.partitions.get(tp)
                if partition is not None and partition.is_leader and tp not in self.futures:
                    epoch, counted = partition.leader_epoch, self._counted(partition)
                    self.process.show(DeletionExpired, me.id, *tp, epoch, required, counted)
            delayed.answer()
