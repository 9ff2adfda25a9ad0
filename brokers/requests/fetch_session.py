"""The leader's side of an incremental fetch session (KIP-227): what a follower reads, and what it has not seen yet.

Only *dirty* partitions are looked at: those with new records, a new high watermark, a new leader epoch or a new fetch
offset. A session in which nothing happens costs one long poll, however many partitions it holds.
"""

from typing import TYPE_CHECKING

from attrs import define, field

from brokers.partition.fencing import refusal
from emulator.disks import DiskError
from emulator.kernel import PendingWork
from emulator.network import Channel
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET
from emulator.protocol.types import Batch, TopicPartition

if TYPE_CHECKING:
    from brokers.partition import Partition
    from brokers.partition.remote import RemoteReplica
    from brokers.replicas.manager import ReplicaManager
    from fetchers import Throttle

BETWEEN_POLLS_US = 1_000_000
"""Longer than a follower takes from the answer of one poll to the next."""


@define(eq=False, weakref_slot=False)
class Position:
    """Where the follower reads one partition.

    ``high_watermark`` and ``log_start`` are the last ones it was sent. ``diverging``: where its last record is not in
    the leader's log, the epoch up to which the two may be the same, and where that ends here.
    """

    offset: int
    leader_epoch: int
    high_watermark: int = -1
    log_start: int = -1
    diverging: tuple[int, int] | None = None


@define(eq=False)
class FetchSession:
    """One follower's session on one connection.

    Attributes:
        last_fetch_us: when the last request came: it counts as a read of everything the session holds.
        parked: the request that waits for data, if one does.
        dirty: what the next answer has to look at.
        promising: something is dirty that an answer may be given for before the timeout. A high watermark alone is not,
            and neither is a fetch that finds what it knows.
    """

    manager: "ReplicaManager"
    id: int
    replica: int
    channel: Channel
    epoch: int = 0
    last_fetch_us: int = 0
    parked: FetchRequest | None = None
    positions: dict[TopicPartition, Position] = field(factory=dict)
    dirty: dict[TopicPartition, None] = field(factory=dict)
    promising: bool = True
    _expires_us: int = 0
    _watching: bool = False
    _pending: PendingWork = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._pending = PendingWork(self.manager.process)

    def touch(self, tp: TopicPartition) -> None:
        """There is something new to read, or an error to learn."""
        self.dirty[tp] = None
        self.promising = True
        if self.parked is not None:
            self.manager.woken[self] = None

    def note(self, tp: TopicPartition) -> None:
        """There is news for the next answer, but a parked request is not completed for it."""
        self.dirty[tp] = None
        self.promising = True

    def note_high_watermark(self, tp: TopicPartition) -> None:
        """It has moved."""
        if self.manager.policies.high_watermark_completes_fetches:
            self.touch(tp)
        else:
            self.dirty[tp] = None

    def reads(self, partition: "Partition") -> bool:
        """Whether its fetches count as reads of ``partition``: it holds it, at a valid offset and epoch."""
        position = self.positions.get(partition.tp)
        return (
            position is not None
            and position.diverging is None
            and self._check(partition.tp, partition, position) is NO_ERROR
        )

    def fetch(self, request: FetchRequest) -> None:
        """Take in one request and answer it, now or when there is something to say."""
        manager = self.manager
        now = manager.process.clock_us
        self.epoch += 1
        self.last_fetch_us = now
        for tp in request.forgotten:
            self._forget(tp)
        for wanted in request.partitions:
            self._take(wanted, now)
        self.parked = request
        if not self.try_complete(arrived=True):
            self._park(request)

    def _take(self, wanted: FetchPartition, now_us: int) -> None:
        tp = wanted.tp
        position = self.positions.get(tp)
        if position is None:
            position = self.positions[tp] = Position(wanted.fetch_offset, wanted.leader_epoch)
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
            partition.follower_fetched(remote, wanted.fetch_offset, now_us)
        if position.high_watermark < 0 or wanted.fetch_offset < partition.log_end_offset:
            self.promising = True

    def _forget(self, tp: TopicPartition) -> None:
        self.positions.pop(tp, None)
        self.dirty.pop(tp, None)
        partition = self.manager.partitions.get(tp)
        if partition is not None:
            remote = partition.remotes.get(self.replica)
            if remote is not None and remote.session is self:
                remote.settle(partition.log_end_offset)
                remote.session = None

    def try_complete(self, arrived: bool = False) -> bool:
        """Answer the request in hand if there are records or errors to send. ``arrived``: it has just come."""
        assert self.parked is not None
        if not self.promising and self.parked.min_bytes > 0:
            return False
        answers, size, urgent = self._collect(self.parked, arrived)
        if urgent:
            self._answer(answers, size)
        return urgent

    def _collect(self, request: FetchRequest, arrived: bool = False) -> tuple[list[FetchedPartition], int, bool]:
        """The dirty partitions' answers, their bytes, and whether they are worth an answer before the timeout.

        A request says where its sender stands when it comes, not when it is answered (8.5).
        """
        if not self.dirty:
            return [], 0, request.min_bytes <= 0
        partitions, positions = self.manager.partitions, self.positions
        now = self.manager.process.clock_us
        throttle = self.manager.throttle if self.manager.throttle.active else None
        answers: list[FetchedPartition] = []
        budget, most = request.max_bytes, request.max_partition_bytes
        size = 0
        urgent = False
        told = self.manager.policies.high_watermark_completes_fetches
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
                answers.append(self._part(tp, position.diverging))
                urgent = True
                continue
            log = partition.log
            remote = partition.remotes.get(self.replica)
            assert log is not None
            batches: tuple[Batch, ...] = ()
            # Who is not (yet) an assigned replica gets no records, and no error (KAFKA-5758).
            if remote is not None and position.offset < log.end_offset:
                if arrived:
                    remote.fetched(position.offset, log.end_offset, now)
                if budget > 0 and not (throttle is not None and self._holds_back(throttle, partition, remote)):
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
                urgent = urgent or (told and partition.high_watermark > max(position.high_watermark, 0))
        return answers, size, urgent or size >= request.min_bytes

    def _part(self, tp: TopicPartition, diverging: tuple[int, int]) -> FetchedPartition:
        """The answer to a follower whose log is another one, as far as this one knows (KIP-595)."""
        if diverging[1] == UNDEFINED_OFFSET:
            return FetchedPartition(tp, Errors.OFFSET_OUT_OF_RANGE, -1, -1, ())
        return FetchedPartition(tp, NO_ERROR, -1, -1, (), diverging)

    def _holds_back(self, throttle: "Throttle", partition: "Partition", remote: "RemoteReplica") -> bool:
        """KIP-73: a replica out of sync gets nothing while the quota that binds it is exceeded."""
        if remote.in_isr:
            return False
        quota = throttle.quota(partition.tp, partition.adds(self.replica))
        if quota is None or not quota.is_quota_exceeded(self.manager.process.clock_us):
            return False
        assert self.parked is not None
        self._pending.hold(self.parked.max_wait_us + BETWEEN_POLLS_US)
        return True

    def _check(self, tp: TopicPartition, partition: "Partition | None", position: Position) -> Errors:
        """Whether this broker may answer for ``tp`` under the follower's leader epoch (KIP-320)."""
        if partition is None:
            return self.manager.error_without_replica(tp)
        if position.leader_epoch != partition.leader_epoch or not partition.is_leader:
            refused = refusal(partition, position.leader_epoch)
            if refused is not Errors.NONE:
                return refused
        log = partition.log
        assert log is not None
        if log.start_offset <= position.offset <= log.end_offset:
            return NO_ERROR
        parts = position.diverging is not None and position.offset >= log.start_offset
        return NO_ERROR if parts else Errors.OFFSET_OUT_OF_RANGE

    def _answer(self, answers: list[FetchedPartition], size: int) -> None:
        self.parked = None
        manager = self.manager
        for answer in answers:
            tp = answer.tp
            position = self.positions[tp]
            position.high_watermark = answer.high_watermark
            position.log_start = answer.log_start_offset
            if (
                answer.batches
                or answer.error
                or answer.diverging
                or position.offset >= manager.partitions[tp].log_end_offset
            ):
                del self.dirty[tp]  # else it has records that did not fit or were held back: they come next
        if not self.dirty:
            self.dirty.clear()  # a dictionary keeps the room of what it lost, and whoever looks through it walks that
        self.promising = bool(self.dirty)
        if size:
            self._measure(answers, size)
        response = FetchResponse(NO_ERROR, self.id, tuple(answers), 60 + 30 * len(answers) + size)
        self.manager.logs.work.after_disks(self.channel).reply(response, response.size, not answers)

    def _measure(self, answers: list[FetchedPartition], sent: int) -> None:
        """ReplicationBytesOutPerSec, of it what replicas get that are being added, and what throttles count."""
        manager, added = self.manager, 0
        manager.metrics.topics.replication_out.mark(sent)
        if not (manager.metrics.reassigning or manager.throttle.active):
            return
        for answer in answers:
            if answer.batches:
                size = sum([batch.size for batch in answer.batches])
                if self.replica in manager.partitions[answer.tp].adding:
                    added += size
                if manager.throttle.active:
                    manager.throttle.record(answer.tp, self._adds(answer.tp), size, manager.process.clock_us)
        if added:
            manager.metrics.topics.reassignment_out.mark(added)

    def _adds(self, tp: TopicPartition) -> bool:
        """Whether a reassignment adds the follower's replica, which is out of sync still."""
        partition = self.manager.partitions[tp]
        remote = partition.remotes.get(self.replica)
        return partition.adds(self.replica) and not (remote is not None and remote.in_isr)

    # -- the long poll ----------------------------------------------------------------------------------------------

    def _park(self, request: FetchRequest) -> None:
        self._expires_us = self.manager.process.clock_us + request.max_wait_us
        if not self._watching:
            self._watching = True
            self.manager.process.call_later(request.max_wait_us, self._expire)

    def _expire(self, _: object) -> None:
        """One timer per session, moved on lazily: most polls end before their time."""
        self._watching = False
        request = self.parked
        if request is None:
            return
        left = self._expires_us - self.manager.process.clock_us
        if left > 0:
            self._watching = True
            self.manager.process.call_later(left, self._expire)
            return
        answers, size, _urgent = self._collect(request)
        self._answer(answers, size)

    def closed(self) -> None:
        """The connection is gone, and the session with it."""
        self.parked = None
        for tp in list(self.positions):
            self._forget(tp)
