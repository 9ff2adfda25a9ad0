"""The leader's side of an incremental fetch session (KIP-227): what a follower reads, and what it has not seen yet.

Only *dirty* partitions are looked at: those with new records, a new high watermark, a new leader epoch or a new fetch
offset. A session in which nothing happens costs one long poll, however many partitions it holds.
"""

from typing import TYPE_CHECKING

from attrs import define, field

from emulator.network import Channel
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager


@define(eq=False)
class Position:
    """Where the follower reads one partition. ``high_watermark`` is the last one it was sent."""

    offset: int
    leader_epoch: int
    high_watermark: int = -1


@define(eq=False)
class FetchSession:
    """One follower's session on one connection.

    Attributes:
        last_fetch_us: when it last read everything it holds.
        parked: the request that waits for data, if one does.
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
    _expires_us: int = 0
    _watching: bool = False

    def touch(self, tp: TopicPartition) -> None:
        """There is something new to read, or an error to learn."""
        self.dirty[tp] = None
        if self.parked is not None:
            self.manager.woken[self] = None

    def note(self, tp: TopicPartition) -> None:
        """There is a new high watermark: it travels with the next answer, but completes none (before 2.4, KAFKA-9952)."""
        self.dirty[tp] = None

    def fetch(self, request: FetchRequest) -> None:
        """Take in one request and answer it, now or when there is something to say."""
        manager = self.manager
        now = manager.process.world.now
        self.epoch += 1
        self.last_fetch_us = now
        for tp in request.forgotten:
            self._forget(tp)
        for wanted in request.partitions:
            self._take(wanted, now)
        self.parked = request
        if not self.try_complete():
            self._park(request)

    def _take(self, wanted: FetchPartition, now_us: int) -> None:
        tp = wanted.tp
        position = self.positions.get(tp)
        if position is None:
            position = self.positions[tp] = Position(wanted.fetch_offset, wanted.leader_epoch)
        else:
            position.offset = wanted.fetch_offset
            position.leader_epoch = wanted.leader_epoch
        self.dirty[tp] = None
        partition = self.manager.partitions.get(tp)
        if partition is not None and partition.is_leader and partition.leader_epoch == wanted.leader_epoch:
            remote = partition.remotes.get(self.replica)
            if remote is not None and wanted.fetch_offset <= partition.log_end_offset:
                remote.session = self
                partition.follower_fetched(remote, wanted.fetch_offset, now_us)

    def _forget(self, tp: TopicPartition) -> None:
        self.positions.pop(tp, None)
        self.dirty.pop(tp, None)
        partition = self.manager.partitions.get(tp)
        if partition is not None:
            remote = partition.remotes.get(self.replica)
            if remote is not None and remote.session is self:
                remote.settle(partition.log_end_offset)
                remote.session = None

    def try_complete(self) -> bool:
        """Answer the request in hand if there are records or errors to send."""
        assert self.parked is not None
        answers, size, urgent = self._collect(self.parked)
        if urgent:
            self._answer(answers, size, False)
        return urgent

    def _collect(self, request: FetchRequest) -> tuple[list[FetchedPartition], int, bool]:
        """The dirty partitions' answers, their bytes, and whether they are worth an answer before the timeout."""
        partitions, positions = self.manager.partitions, self.positions
        now = self.manager.process.world.now
        answers: list[FetchedPartition] = []
        budget = request.max_bytes
        size = 0
        urgent = False
        for tp in self.dirty:
            position = positions.get(tp)
            if position is None:
                continue
            partition = partitions.get(tp)
            error = self._check(tp, position)
            if error is not Errors.NONE or partition is None:
                answers.append(FetchedPartition(tp, error, -1, -1, ()))
                urgent = True
                continue
            log = partition.log
            remote = partition.remotes.get(self.replica)
            assert log is not None
            if remote is None:
                continue
            batches = ()
            if position.offset < log.end_offset:
                remote.fetched(position.offset, log.end_offset, now)
                if budget > 0:
                    batches = log.read(position.offset, min(budget, request.max_partition_bytes))
                    for batch in batches:
                        size += batch.size
                        budget -= batch.size
                    urgent = True
            if batches or position.high_watermark != partition.high_watermark:
                answers.append(FetchedPartition(tp, error, partition.high_watermark, log.start_offset, batches))
        return answers, size, urgent

    def _check(self, tp: TopicPartition, position: Position) -> Errors:
        """Whether this broker may answer for ``tp`` under the follower's leader epoch (KIP-320)."""
        partition = self.manager.partitions.get(tp)
        if partition is None:
            return self.manager.error_without_replica(tp)
        if not partition.is_leader:
            return Errors.NOT_LEADER_FOR_PARTITION
        if position.leader_epoch < partition.leader_epoch:
            return Errors.FENCED_LEADER_EPOCH
        if position.leader_epoch > partition.leader_epoch:
            return Errors.UNKNOWN_LEADER_EPOCH
        if not partition.log_start_offset <= position.offset <= partition.log_end_offset:
            return Errors.OFFSET_OUT_OF_RANGE
        return Errors.NONE

    def _answer(self, answers: list[FetchedPartition], size: int, background: bool) -> None:
        self.parked = None
        self.last_fetch_us = self.manager.process.world.now
        for answer in answers:
            tp = answer.tp
            position = self.positions[tp]
            position.high_watermark = answer.high_watermark
            del self.dirty[tp]
        response = FetchResponse(Errors.NONE, self.id, tuple(answers), 60 + 30 * len(answers) + size)
        self.channel.reply(response, response.size, background)

    # -- the long poll ----------------------------------------------------------------------------------------------

    def _park(self, request: FetchRequest) -> None:
        self._expires_us = self.manager.process.world.now + request.max_wait_us
        if not self._watching:
            self._watching = True
            self.manager.process.call_later(request.max_wait_us, self._expire)

    def _expire(self, _: object) -> None:
        """One timer per session, moved on lazily: most polls end before their time."""
        self._watching = False
        request = self.parked
        if request is None:
            return
        left = self._expires_us - self.manager.process.world.now
        if left > 0:
            self._watching = True
            self.manager.process.call_later(left, self._expire)
            return
        answers, size, _urgent = self._collect(request)
        self._answer(answers, size, not answers)

    def closed(self) -> None:
        """The connection is gone, and the session with it."""
        self.parked = None
        for tp in list(self.positions):
            self._forget(tp)
