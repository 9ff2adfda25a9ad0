"""A follower's fetch session: its fetches move the leader's view of it, and so the ISR and the high watermark."""

from attrs import define, field

from brokers.partition.partition import Partition
from brokers.requests.fetch_session import CachedPartition, FetchSession
from brokers.requests.idle_follower import park
from emulator.disks import DiskError
from emulator.kernel import PendingWork
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET
from emulator.protocol.types import Batch, TopicPartition
from fetchers.quota import Throttle

BETWEEN_POLLS_US = 1_000_000
"""Longer than a follower takes from the answer of one poll to the next."""


@define(eq=False)
class FollowerSession(FetchSession):
    """Its partitions see it as a ``brokers.partition.remote.FollowerReader``."""

    _pending: PendingWork = field(init=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._pending = PendingWork(self.manager.process)

    # -- for the partitions -----------------------------------------------------------------------------------------

    def high_watermark_moved(self, tp: TopicPartition) -> None:
        """The leader's high watermark is higher than before. In some releases that completes a fetch (a policy)."""
        if self.manager.policies.high_watermark_completes_fetches:
            self.wake(tp)
        else:
            if self.delayed.poll is not None:
                self.delayed.poll.rouse()
            self.dirty[tp] = None

    def reads(self, tp: TopicPartition) -> bool:
        """Whether its fetches count as reads of ``tp``: it holds ``tp``, at an offset and epoch that are valid now."""
        position = self.positions.get(tp)
        return (
            position is not None
            and position.diverging is None
            and self._check(tp, self.manager.partitions.get(tp), position) is NO_ERROR
        )

    def leader_epoch(self, tp: TopicPartition) -> int | None:
        """The leader epoch under which it reads ``tp``; None: it does not."""
        position = self.positions.get(tp)
        return None if position is None else position.leader_epoch

    def park(self, request: FetchRequest) -> bool:
        return park(self, self.delayed, request)

    # -- requests ---------------------------------------------------------------------------------------------------

    def _take(self, wanted: FetchPartition, now_us: int) -> None:
        tp = wanted.tp
        position = self.positions.get(tp)
        if position is None:
            position = self.positions[tp] = CachedPartition(wanted.fetch_offset, wanted.leader_epoch)
        else:
            position.offset = wanted.fetch_offset
            position.leader_epoch = wanted.leader_epoch
            position.diverging = None
        self.dirty[tp] = None
        partition = self.manager.partitions.get(tp)
        if partition is not None and wanted.last_fetched_epoch != UNDEFINED_EPOCH and partition.is_leader:
            position.diverging = partition.diverging(wanted.last_fetched_epoch, wanted.fetch_offset)
        if partition is None or position.diverging is not None or self._check(tp, partition, position):
            self.promising = True
            return
        remote = partition.remotes.get(self.replica) or partition.take_in(self.replica)
        if remote is not None:
            remote.session = self
            partition.update_follower_fetch_state(remote, wanted.fetch_offset, now_us)
        if position.high_watermark < 0 or wanted.fetch_offset < partition.log_end_offset:
            self.promising = True

    def _forget(self, tp: TopicPartition) -> None:
        self.positions.pop(tp, None)
        self.dirty.pop(tp, None)
        partition = self.manager.partitions.get(tp)
        if partition is not None:
            remote = partition.remotes.get(self.replica)
            if remote is not None and remote.session is self:
                remote.catch_up_with_session(partition.log_end_offset)
                remote.session = None

    def _collect(self, request: FetchRequest, arrived: bool) -> tuple[list[FetchedPartition], int, bool]:
        if not self.dirty:
            return [], 0, request.min_bytes <= 0
        partitions, positions = self.manager.partitions, self.positions
        now = self.manager.process.clock_us
        throttle = self.manager.throttle if self.manager.throttle.active else None
        answers: list[FetchedPartition] = []
        budget, most = request.max_bytes, request.max_partition_bytes
        size = 0
        urgent = False
        hw_completes = self.manager.policies.high_watermark_completes_fetches
        for tp in self.dirty:
            position = positions.get(tp)
            if position is None:
                continue
            partition = partitions.get(tp)
            error = self._check(tp, partition, position)
            if error or partition is None:
                answers.append(FetchedPartition(tp, error, -1, -1, ()))
                urgent = True
                continue
            if position.diverging is not None:
                answers.append(self._diverging(tp, position.diverging))
                urgent = True
                continue
            log = partition.log
            remote = partition.remotes.get(self.replica)
            batches: tuple[Batch, ...] = ()
            # A replica that is not (yet) assigned gets no records, and no error (KAFKA-5758).
            if remote is not None and position.offset < log.end_offset:
                if arrived:
                    remote.update_fetch_state(position.offset, log.end_offset, now)
                if budget > 0 and not (throttle is not None and self._is_throttled(throttle, partition)):
                    limit = most if most < budget else budget
                    try:
                        batches = log.read(position.offset, limit)
                        if log.directory.disk.pace is not None:
                            log.directory.was_read(batches)
                    except DiskError:
                        answers.append(FetchedPartition(tp, Errors.KAFKA_STORAGE_ERROR, -1, -1, ()))
                        urgent = True
                        continue
                    if size and batches[0].size > limit:
                        batches = ()  # only the first batch of an answer may be larger than the limits (KIP-74)
                    for batch in batches:
                        size += batch.size
                        budget -= batch.size
            if batches or position.high_watermark != partition.high_watermark or position.log_start != log.start_offset:
                answers.append(FetchedPartition(tp, error, partition.high_watermark, log.start_offset, batches))
                urgent = urgent or (hw_completes and partition.high_watermark > max(position.high_watermark, 0))
        return answers, size, urgent or size >= request.min_bytes

    def _diverging(self, tp: TopicPartition, diverging: tuple[int, int]) -> FetchedPartition:
        """The answer to a follower whose log diverges from this one (KIP-595)."""
        if diverging[1] == UNDEFINED_OFFSET:
            return FetchedPartition(tp, Errors.OFFSET_OUT_OF_RANGE, -1, -1, ())
        return FetchedPartition(tp, NO_ERROR, -1, -1, (), diverging)

    def _is_throttled(self, throttle: Throttle, partition: Partition) -> bool:
        """Whether the follower gets no records now: it is not in the committed ISR, and its quota is exceeded (KIP-73;
        ReplicaManager.shouldLeaderThrottle, which asks Partition.inSyncReplicaIds, 2.7.2)."""
        if self.replica in partition.isr:
            return False
        quota = throttle.quota(partition.tp, partition.adds(self.replica))
        if quota is None or not quota.is_quota_exceeded(self.manager.process.clock_us):
            return False
        assert self.delayed.request is not None
        self._pending.hold(self.delayed.request.max_wait_us + BETWEEN_POLLS_US)
        return True

    def _check(self, tp: TopicPartition, partition: Partition | None, position: CachedPartition) -> Errors:
        """Whether this broker may answer for ``tp`` under the follower's leader epoch (KIP-320)."""
        if partition is None:
            return self.manager.error_without_replica(tp)
        if position.leader_epoch != partition.leader_epoch or not partition.is_leader:
            refused = partition.check_current_leader_epoch(position.leader_epoch)
            if refused is not Errors.NONE:
                return refused
        log = partition.log
        if log.start_offset <= position.offset <= log.end_offset:
            return NO_ERROR
        diverges = position.diverging is not None and position.offset >= log.start_offset
        return NO_ERROR if diverges else Errors.OFFSET_OUT_OF_RANGE

    def _sent(self, answers: list[FetchedPartition]) -> None:
        partitions = self.manager.partitions
        for answer in answers:
            tp = answer.tp
            position = self.positions[tp]
            position.high_watermark = answer.high_watermark
            position.log_start = answer.log_start_offset
            if answer.batches or answer.error or answer.diverging or position.offset >= partitions[tp].log_end_offset:
                del self.dirty[tp]  # else it has records that did not fit or were throttled: they come next
        if self.dirty:
            self.promising = True
        else:
            self.promising = False
            self.dirty.clear()  # a dictionary keeps the memory of deleted entries, and a loop over it visits that

    def _measure(self, answers: list[FetchedPartition], size: int) -> None:
        """ReplicationBytesOutPerSec, the part of it for replicas that are being added, and what quotas count."""
        manager, added = self.manager, 0
        manager.metrics.topics.replication_out.mark(size)
        if not (manager.metrics.reassigning or manager.throttle.active):
            return
        for answer in answers:
            if answer.batches:
                sent = sum([batch.size for batch in answer.batches])
                if self.replica in manager.partitions[answer.tp].adding:
                    added += sent
                if manager.throttle.active:
                    manager.throttle.record(answer.tp, self._adds(answer.tp), sent, manager.process.clock_us)
        if added:
            manager.metrics.topics.reassignment_out.mark(added)

    def _adds(self, tp: TopicPartition) -> bool:
        """Whether a reassignment adds the follower's replica, and it is still outside the committed ISR."""
        partition = self.manager.partitions[tp]
        in_sync = self.replica in partition.remotes and self.replica in partition.isr
        return partition.adds(self.replica) and not in_sync
