"""A follower's fetch session: its fetches move the leader's view of it, and so the ISR and the high watermark."""

from collections.abc import Iterable

from attrs import define, field

from brokers.partition.partition import Partition
from brokers.partition.remote import UNKNOWN_OFFSET, RemoteReplica
from brokers.requests.consumer_reads import fits, measure
from brokers.requests.idle_follower import park
from brokers.requests.reader_session import Collected, ReaderSession, SessionPosition
from emulator.disks import DiskError
from emulator.kernel import PendingWork
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import NO_EPOCH, FetchedFields, FetchFields, FetchRequest, FetchResponse
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET
from emulator.protocol.types import Batch, TopicPartition
from fetchers.quota import Throttle

BETWEEN_POLLS_US = 1_000_000
"""Longer than a follower takes from the answer of one poll to the next."""


@define(eq=False)
class FollowerSession(ReaderSession):
    """A follower's fetch session. The leader knows the follower only by its fetches.

    The leader reads first and records the request's offsets afterwards (ReplicaManager.fetchMessages, 2.3). So the
    response has the high watermark from before this request. After a wait the records are read again.
    """

    _pending: PendingWork = field(init=False)
    _moved: dict[SessionPosition, int] = field(factory=dict)
    """The high watermark before the last request, where that has moved it before anything was read."""

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._pending = PendingWork(self.manager.process)
        self.manager.throttle.read_by(1, self.manager.process.clock_us)

    def close(self) -> None:
        super().close()
        self.manager.throttle.read_by(-1, self.manager.process.clock_us)

    # -- for the partitions -----------------------------------------------------------------------------------------

    def high_watermark_moved(self, position: SessionPosition) -> None:
        """The leader's high watermark is higher than before. In some releases that completes a fetch (a policy)."""
        if self.manager.policies.high_watermark_completes_fetches:
            self.wake(position)
        else:
            self.dirty[position] = None

    def reads(self, tp: TopicPartition) -> bool:
        position = self.positions.get(tp)
        return (
            position is not None
            and position.diverging is None
            and position not in self.unserved
            and self._check(self.manager.partitions.get(tp), position) is NO_ERROR
        )

    def leader_epoch(self, tp: TopicPartition) -> int | None:
        position = self.positions.get(tp)
        return None if position is None or not self._names_epochs else position.leader_epoch

    def park(self, request: FetchRequest) -> bool:
        return park(self, self.delayed, request)

    # -- requests ---------------------------------------------------------------------------------------------------

    def _take(self, wanted: Iterable[FetchFields], now_us: int) -> None:
        """One loop over the partitions of the request. Under load it runs once for each batch and follower, so it looks
        up nothing where nothing but the offset has changed: the position is bound to its partition. Whatever else has
        happened to a partition, ``_find_position`` finds out.

        A fetch at the end of the log is recorded here; one that has something to read once it has been read.
        """
        positions, dirty, moved = self.positions, self.dirty, self._moved
        if moved:
            moved.clear()
        first = self.manager.policies.records_fetch_first
        for fields in wanted:
            tp, epoch, offset, start, last_epoch = fields
            position = positions.get(tp)
            partition = None if position is None else position.partition
            if (
                position is None
                or partition is None
                or epoch != position.leader_epoch
                or last_epoch != UNDEFINED_EPOCH
                or not partition.log.start_offset <= offset <= partition.log.end_offset
            ):
                position = self._find_position(fields, now_us)
                partition = position.partition
                if partition is None:
                    continue
            position.offset = offset
            dirty[position] = None
            if start != position.reader_start:
                self._begins_at(position, start)
            if offset < partition.log.end_offset:
                self.can_complete = True
                if not first:
                    continue
            elif position.high_watermark < 0:
                self.can_complete = True
            remote, high_watermark = position.remote, partition.high_watermark
            assert remote is not None
            partition.update_follower_fetch_state(remote, offset, now_us)
            if high_watermark != partition.high_watermark and not first:
                moved[position] = high_watermark

    def _begins_at(self, position: SessionPosition, start: int) -> None:
        """Take note that the follower's log begins at ``start``."""
        position.reader_start = start
        partition, remote = position.partition, position.remote
        if partition is not None and remote is not None:
            self._tell(partition, remote, start)

    def _tell(self, partition: Partition, remote: RemoteReplica, start: int) -> None:
        deletion = self.manager.deletion
        if deletion is None:
            remote.log_start_offset = start
        else:
            deletion.begins_at(partition, remote, start)

    def _find_position(self, wanted: FetchFields, now_us: int) -> SessionPosition:
        """The position that the request names, bound if its fetches count for the partition."""
        tp, epoch, offset, start, last_epoch = wanted
        position = self.positions.get(tp)
        counted = False
        if position is None:
            self._others_read()
            position = self.positions[tp] = SessionPosition(self, tp, offset, epoch)
        else:
            counted = self.reads(tp)
            position.offset, position.leader_epoch, position.diverging = offset, epoch, None
            position.unbind()
        self.dirty[position] = None
        position.reader_start = start
        if not self.manager.serves(tp):
            self._others_read()
            self.unserved[position] = None
            return position
        partition = self.manager.partitions.get(tp)
        if partition is not None and last_epoch != UNDEFINED_EPOCH and partition.is_leader:
            position.diverging = partition.diverging(last_epoch, offset)
        if partition is None or position.diverging is not None or self._check(partition, position):
            self.can_complete = True
            if partition is not None and partition.is_leader:
                self._named_in_vain(partition, position, counted, now_us)
            elif partition is not None:
                partition.fail_delayed(Errors.NOT_LEADER_FOR_PARTITION)  # some wait before KAFKA-2960
            return position
        remote = partition.remotes.get(self.replica) or partition.take_in(self.replica)
        if remote is not None:
            position.bind(partition, remote)
            self._begins_at(position, start)
            return position
        partition.not_assigned = {**partition.not_assigned, self.replica: position}
        if position.high_watermark < 0 or offset < partition.log_end_offset:
            self.can_complete = True
        return position

    def _named_in_vain(self, partition: Partition, position: SessionPosition, counted: bool, now_us: int) -> None:
        """The request names a partition that is led here, and may not read it there. ``counted``: the fetches of the
        session before it did. ``_refused`` does the rest."""
        reading = self._reading(partition, position)
        if counted and reading is not None:
            reading.catch_up_with_session(partition.log_end_offset, True)
        policies = self.manager.policies
        diverged = position.diverging is not None and not self._check(partition, position)
        if policies.records_fetch_first or (policies.diverging_fetch_counts and diverged):
            remote = partition.take_in(self.replica)
            if remote is not None:
                partition.update_follower_fetch_state(remote, position.offset, now_us)

    def _forget(self, tp: TopicPartition) -> None:
        position = self.positions.get(tp)
        if position is None:
            return
        partition = self.manager.partitions.get(tp)
        if partition is not None:
            remote = self._reading(partition, position)
            if remote is not None:
                remote.catch_up_with_session(partition.log_end_offset)
                remote.position = None
            not_assigned = partition.not_assigned
            if self.replica in not_assigned and not_assigned[self.replica] is position:
                partition.not_assigned = {b: one for b, one in not_assigned.items() if b != self.replica}
        self._others_read()
        del self.positions[tp]
        self.dirty.pop(position, None)
        self.unserved.pop(position, None)
        position.unbind()

    def _not_served(self, position: SessionPosition) -> None:
        """Unbind a position that is not served any more; the fetches until now still count for the ISR."""
        partition = self.manager.partitions.get(position.tp)
        remote = None if partition is None else self._reading(partition, position)
        if partition is not None and remote is not None:
            remote.catch_up_now(partition.log_end_offset)
        super()._not_served(position)
        position.unbind()

    def _reading(self, partition: Partition, position: SessionPosition) -> RemoteReplica | None:
        """The follower as ``partition`` knows it, if it reads at ``position``."""
        remote = partition.remotes.get(self.replica)
        return remote if remote is not None and remote.position is position else None

    def _collect(self, request: FetchRequest, arrived: bool) -> Collected:
        """One loop over the dirty partitions, which again looks up nothing where positions are bound. What ``arrived``
        is recorded once everything has been read."""
        found: list[SessionPosition] = []
        answers: list[FetchedFields] = []
        if not self.dirty:
            return Collected(found, answers, 0, request.min_bytes <= 0)
        now = self.manager.process.clock_us
        throttle = self.manager.throttle if self.manager.throttle.active else None
        budget, most = request.max_bytes, request.max_partition_bytes
        size = cut = 0
        urgent = bool(self.unknown) and len(self.unknown) == len(self.positions)
        moved = self._moved if arrived else None
        read: list[tuple[Partition, RemoteReplica, int]] = []
        sends_first = self.manager.policies.sends_first_batch
        hw_completes = self.manager.policies.high_watermark_completes_fetches
        for position in self.dirty:
            offset = position.offset
            partition, remote = position.partition, position.remote
            if partition is None or not partition.log.start_offset <= offset <= partition.log.end_offset:
                if position in self.unknown:
                    found.append(position)
                    answers.append((position.tp, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1, -1, (), None))
                    continue
                partition, refusal = self._find_partition(position)
                if refusal is not None or partition is None:
                    assert refusal is not None
                    found.append(position)
                    answers.append(refusal)
                    urgent = True
                    if arrived:
                        self._refused(position.tp)
                    continue
                remote = partition.remotes.get(self.replica)
                if remote is not None and arrived:
                    here_now = position.take_over(remote)
                    if remote.log_start_offset != position.reader_start:
                        self._tell(partition, remote, position.reader_start)
                    if offset == partition.log.end_offset and (here_now or _counts(partition, position, remote)):
                        read.append((partition, remote, offset))
            log = partition.log
            batches: tuple[Batch, ...] = ()
            high_watermark = partition.high_watermark
            # A replica that is not (yet) assigned gets no records, and no error (KAFKA-5758).
            if offset < log.end_offset and remote is not None:
                if budget > 0 and not (throttle is not None and self._is_throttled(throttle, partition)):
                    limit = most if most < budget else budget
                    try:
                        batches = log.read(offset, limit)
                        if log.directory.disk.pace is not None:
                            log.directory.was_read(batches)
                    except DiskError:
                        found.append(position)
                        answers.append((position.tp, Errors.KAFKA_STORAGE_ERROR, -1, -1, (), None))
                        urgent = True
                        if arrived:
                            self._refused(position.tp)
                        continue
                    if batches[0].size > limit:  # only the first batch of an answer may be (KIP-74)
                        if size:
                            batches = ()
                        elif not (sends_first or fits(batches[0], limit)):
                            batches = ()
                            partition.show("KIP-74", self.replica)
                    for batch in batches:
                        size += batch.size
                        budget -= batch.size
                        limit -= batch.size
                    if limit > 0 and batches and batches[-1].next_offset < log.end_offset:
                        cut += limit
                if arrived:
                    read.append((partition, remote, offset))
            elif moved:
                high_watermark = moved.get(position, high_watermark)
            if batches or position.high_watermark != high_watermark or position.log_start != log.start_offset:
                found.append(position)
                answers.append((position.tp, NO_ERROR, high_watermark, log.start_offset, batches, None))
                urgent = urgent or (hw_completes and high_watermark > max(position.high_watermark, 0))
        if read:
            self._record(read, request, now)
        enough = urgent or size + cut >= request.min_bytes
        if not enough and (read or (moved and hw_completes)):
            return self._collect(request, False)  # what does not complete it at once is tried again (DelayedFetch)
        return Collected(found, answers, size, enough)

    def _record(self, read: list[tuple[Partition, RemoteReplica, int]], request: FetchRequest, now_us: int) -> None:
        """``request`` was read for: its follower has what is before these offsets. That can answer a producer, whose
        next request is then handled at once; nothing that comes of it answers this one."""
        self.delayed.request = None
        for partition, remote, offset in read:
            partition.update_follower_fetch_state(remote, offset, now_us)
        self.delayed.request = request

    def _refused(self, tp: TopicPartition) -> None:
        """The request, when it came, was refused there (ReplicaManager.updateFollowerLogReadResults, 2.3;
        updateFollowerFetchState, 2.4)."""
        partition = self.manager.partitions.get(tp)
        if partition is not None and self.manager.policies.refused_fetch_forgets:
            partition.forget_fetch(self.replica)

    def _find_partition(self, position: SessionPosition) -> tuple[Partition | None, FetchedFields | None]:
        """The partition that ``position`` may read, or the answer that it gets instead."""
        tp = position.tp
        partition = self.manager.partitions.get(tp)
        error = self._check(partition, position)
        if error or partition is None:
            return None, (tp, error, -1, -1, (), None)
        if position.diverging is not None:
            return None, self._diverging(partition, position.diverging)
        return partition, None

    def _diverging(self, partition: Partition, diverging: tuple[int, int]) -> FetchedFields:
        """The answer to a follower whose log diverges from this one (KIP-595)."""
        if diverging[1] == UNDEFINED_OFFSET:
            return partition.tp, Errors.OFFSET_OUT_OF_RANGE, -1, -1, (), None
        return partition.tp, NO_ERROR, partition.high_watermark, partition.log_start_offset, (), diverging

    def _is_throttled(self, throttle: Throttle, partition: Partition) -> bool:
        """Whether the follower gets no records now: it is not in the committed ISR, and its quota is exceeded (KIP-73;
        ReplicaManager.shouldLeaderThrottle, which asks Partition.inSyncReplicaIds, 2.7.2)."""
        if self.replica in partition.isr and not self.manager.policies.throttles_in_sync:
            return False
        quota = throttle.quota(partition.tp, partition.adds(self.replica))
        if quota is None or not quota.is_quota_exceeded(self.manager.process.clock_us):
            return False
        assert self.delayed.request is not None
        self._pending.hold(self.delayed.request.max_wait_us + BETWEEN_POLLS_US)
        return True

    def _check(self, partition: Partition | None, position: SessionPosition) -> Errors:
        """Whether this broker may answer there under the follower's leader epoch (KIP-320)."""
        if partition is None:
            return self.manager.error_without_replica(position.tp)
        if position.leader_epoch != partition.leader_epoch or not partition.is_leader:
            refused = self._refused_epoch(partition, position)
            if refused is not Errors.NONE:
                return refused
        if self.manager.policies.refuses_unassigned and self.replica not in partition.remotes:
            names_epoch = self._names_epochs and position.leader_epoch != NO_EPOCH
            return Errors.UNKNOWN_LEADER_EPOCH if names_epoch else Errors.NOT_LEADER_FOR_PARTITION
        log = partition.log
        if log.start_offset <= position.offset <= log.end_offset:
            return NO_ERROR
        answers = position.offset >= log.start_offset or self.manager.policies.diverges_below_start
        return NO_ERROR if answers and position.diverging is not None else Errors.OFFSET_OUT_OF_RANGE

    def _sent(self, positions: list[SessionPosition], answers: list[FetchedFields]) -> None:
        dirty = self.dirty
        for position, answer in zip(positions, answers, strict=True):
            tp, error, high_watermark, log_start, batches, diverging = answer
            position.high_watermark = high_watermark
            position.log_start = log_start
            if not (batches or error or diverging):
                partition = position.partition or self.manager.partitions[tp]
                if position.offset < partition.log.end_offset or high_watermark != partition.high_watermark:
                    continue  # records that did not fit or were throttled, or a later high watermark: they come next
                remote = partition.remotes.get(self.replica)
                if remote is not None and _counts(partition, position, remote):
                    continue  # it may join the ISR, or has to show that it lives: the next request counts
            elif diverging:
                position.high_watermark = -1  # the follower does not take it over before it has truncated
            del dirty[position]
        if dirty:
            self.can_complete = True
        else:
            self.can_complete = False
            dirty.clear()  # a dictionary keeps the memory of deleted entries, and a loop over it visits that

    def _measure(self, answers: list[FetchedFields], size: int) -> None:
        """ReplicationBytesOutPerSec, the part of it for replicas that are being added, and what quotas count."""
        manager, added = self.manager, 0
        if manager.policies.measures_replication_as_sent:
            measure(manager, answers)
        manager.metrics.topics.replication_out.mark(size)
        if not (manager.metrics.reassigning or manager.throttle.active):
            return
        for tp, _error, _high_watermark, _log_start, batches, _diverging in answers:
            if batches:
                sent = sum([batch.size for batch in batches])
                if self.replica in manager.partitions[tp].adding:
                    added += sent
                if manager.throttle.active:
                    manager.throttle.record(tp, self._adds(tp), sent, manager.process.clock_us)
        if added:
            manager.metrics.topics.reassignment_out.mark(added)

    def _adds(self, tp: TopicPartition) -> bool:
        """Whether a reassignment adds the follower's replica, and it is still outside the committed ISR."""
        partition = self.manager.partitions[tp]
        in_sync = self.replica in partition.remotes and self.replica in partition.isr
        return partition.adds(self.replica) and not in_sync


def _counts(partition: Partition, position: SessionPosition, remote: RemoteReplica) -> bool:
    """Whether the next fetch of a follower at the end of the log counts, though it brings nothing new: the leader does
    not know where it is, or has dropped it from the ISR, or leads under a new epoch since, in whose ISR it is not."""
    if remote.must_fetch or remote.log_end_offset == UNKNOWN_OFFSET:
        return True
    return position.partition is None and remote.broker not in partition.isr_state.isr


@define(eq=False)
class AllOrNothingSession(FollowerSession):
    """Before KAFKA-5758: a fetch that names a partition led here of which its sender is not a replica fails as a whole
    (NotAssignedReplicaException, Partition.updateReplicaLogReadResult, 0.11.0)."""

    def fetch(self, request: FetchRequest) -> None:
        if not any(map(self._is_stranger, (*self.positions, *(fields[0] for fields in request.positions)))):
            super().fetch(request)
            return
        self.epoch += 1
        for tp in request.forgotten:
            self._forget(tp)
        tps = dict.fromkeys((*self.positions, *(fields[0] for fields in request.positions)))
        answers = tuple((tp, Errors.UNKNOWN_SERVER_ERROR, -1, -1, (), None) for tp in tps)
        self.channel.reply(FetchResponse(NO_ERROR, self.id, answers, 60 + 30 * len(answers)), 60)

    def _is_stranger(self, tp: TopicPartition) -> bool:
        partition = self.manager.partitions.get(tp)
        return partition is not None and partition.is_leader and self.replica not in partition.remotes
