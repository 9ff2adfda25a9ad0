"""A leader's record of an emulated reader's connection: where the reader is in each partition, what it has not been
sent yet, and its request while that waits. It answers as an incremental fetch session does (KIP-227).

Only *dirty* partitions are looked at: those with new records, a new high watermark, a new leader epoch or a new fetch
offset. A session in which nothing happens costs one long poll, however many partitions it holds.

``follower_session`` and ``consumer_session`` decide what each kind of reader gets; ``brokers.purgatory`` lets requests
wait.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import NamedTuple

from attrs import define, field

from brokers.partition.partition import Partition
from brokers.partition.remote import RemoteReplica
from brokers.purgatory import DelayedFetch
from brokers.replica_manager import ReplicaManager
from brokers.requests.consumer_reads import show_refusals
from emulator.network import Channel
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import NO_EPOCH, FetchedFields, FetchFields, FetchRequest, FetchResponse
from emulator.protocol.shown import FetchOverdue
from emulator.protocol.types import TopicPartition


@define(eq=False, weakref_slot=False)
class SessionPosition:
    """The position of a session's reader in one partition.

    Attributes:
        high_watermark, log_start: the last ones that the reader was sent; -1: none yet.
        reader_start: where a follower's log begins, as its last request that named the partition said.
        diverging: where the reader's last record is not in the leader's log, the epoch up to which the two logs may be
            the same, and where that epoch ends in the leader's.
        partition, remote: in a follower's session: the partition, which this broker leads under ``leader_epoch``, and
            the follower as it sees it, which reads here. None: they have to be looked up, and may not be there. The
            partition has them forgotten (``unbind``) when its role, its leader epoch or its followers change, so that
            a session in which nothing of this kind happens looks up nothing.
    """

    session: "ReaderSession"
    tp: TopicPartition
    offset: int
    leader_epoch: int
    high_watermark: int = -1
    log_start: int = -1
    diverging: tuple[int, int] | None = None
    partition: Partition | None = None
    remote: RemoteReplica | None = None
    reader_start: int = -1

    def bind(self, partition: Partition, remote: RemoteReplica) -> None:
        """The reader is ``remote``, a follower of ``partition``, and reads here."""
        self.take_over(remote)
        self.partition, self.remote = partition, remote

    def take_over(self, remote: RemoteReplica) -> bool:
        """The last fetch of ``remote`` is one of this session: the partition reports to it from now on. Returns whether
        it did not before. Where a late request of a connection that its follower has given up came between, the session
        on the new one is looked at again with its next request."""
        before = remote.position
        if before is self:
            return False
        if before is not None:
            before.unbind()
            if before.session is not self.session:
                before.session.mark_dirty(before)
        remote.position = self
        return True

    def unbind(self) -> None:
        """Whether this broker may answer here has to be found out."""
        self.partition = self.remote = None

    def resend(self) -> None:
        """The next answer says where the log begins, though the reader was sent that."""
        self.log_start = -1
        self.session.mark_dirty(self)


class Collected(NamedTuple):
    """The answers that a session can give now.

    Attributes:
        positions, answers: an entry for each partition that the reader has something to learn about.
        size: the bytes of the records.
        enough: whether this completes the request before its timeout. Kafka sends as many bytes as a limit lets
            through, also a part of a batch, and compares that with the minimum (LogSegment.read, 0.8 to 3.9). Here the
            part is not sent, and counts all the same.
    """

    positions: list[SessionPosition]
    answers: list[FetchedFields]
    size: int
    enough: bool


@define(eq=False)
class ReaderSession(ABC):
    """The session of one emulated reader on one connection. Its partitions see it as a
    ``brokers.partition.remote.Reader``.

    Attributes:
        replica: the broker that reads, or CONSUMER.
        last_fetch_us: when the last request came.
        delayed: the request that waits for data, if one does.
        positions: the partitions of the session.
        dirty: positions that the next answer has to look at. While a poll is parked, the first one rouses it.
        can_complete: something is dirty that can complete a request before its timeout. For a follower a high watermark
            alone cannot, and neither can a fetch that has nothing new to read.
        unserved: partitions that the broker's metadata lacked when a request last asked, or lost since.
        unknown: partitions that the metadata lacked when the request in hand came. They are not read and answered
            with an error, which completes the request only where nothing else is in the session
            (KafkaApis.handleFetchRequest, 2.3).
        throttles: the version of the leader's throttle when the request began to wait.
        times_read: how often its partitions were read since it was last asked, so far as they are the same.
        parked_reads: how often they were read by polls that were jumped over, since the last call.
    """

    manager: ReplicaManager
    id: int
    replica: int
    channel: Channel
    epoch: int = 0
    last_fetch_us: int = 0
    positions: dict[TopicPartition, SessionPosition] = field(factory=dict)
    dirty: MutableMapping[SessionPosition, None] = field(factory=dict)
    can_complete: bool = True
    unserved: dict[SessionPosition, None] = field(factory=dict)
    unknown: dict[SessionPosition, None] = field(factory=dict)
    throttles: int = 0
    delayed: DelayedFetch = field(init=False)
    times_read: int = 0
    parked_reads: Callable[[], int] = int
    _read: dict[str, int] = field(factory=dict)
    """The partitions that were read before the session got other ones, by topic."""
    _topics: dict[str, int] | None = None
    """The number of its partitions that are read, by topic; None: it has to be counted."""

    def __attrs_post_init__(self) -> None:
        self.delayed = DelayedFetch(self.manager.purgatory, self.manager.process, self)
        self.manager.metrics.topics.requests.begin_reader(self)

    # -- what partitions report -------------------------------------------------------------------------------------

    def wake(self, position: SessionPosition) -> None:
        """There are records or an error to send: a request that waits may be complete."""
        self.dirty[position] = None
        self.can_complete = True
        delayed = self.delayed
        if delayed.request is not None:
            delayed.purgatory.woken[delayed] = None

    def look(self) -> None:
        """Bring ``last_fetch_us`` up to now: polls that are jumped over are simulated again."""
        self.delayed.rouse()

    def mark_dirty(self, position: SessionPosition) -> None:
        """The next answer has to look there; a request that waits goes on waiting."""
        self.dirty[position] = None
        self.can_complete = True

    def park(self, request: FetchRequest) -> bool:
        """As ``brokers.purgatory.Fetching.park``."""
        return False

    @property
    def _names_epochs(self) -> bool:
        """Whether the leader epochs count that the reader named (KAFKA-9338)."""
        return self.epoch <= 1 or self.manager.policies.sessions_keep_epochs

    def _refused_epoch(self, partition: Partition, position: SessionPosition) -> Errors:
        """Why ``partition`` does not answer a reader that knows the leader epoch of ``position``, or NONE."""
        return partition.check_current_leader_epoch(position.leader_epoch if self._names_epochs else NO_EPOCH)

    # -- requests and answers ---------------------------------------------------------------------------------------

    def fetch(self, request: FetchRequest) -> None:
        """Take in one request and answer it, now or when there is something to send."""
        now = self.manager.process.clock_us
        self.epoch += 1
        for tp in request.forgotten:
            self._forget(tp)
        self._take(request.positions, now)
        self.last_fetch_us = now
        if self.unserved or self.unknown:
            self._find_unknown()
        self.delayed.request = request
        self.times_read += 1
        if not self.try_complete(arrived=True):
            self.throttles = self.manager.throttle.version
            self.delayed.wait(request)

    def _find_unknown(self) -> None:
        """Look up in the metadata what it lacked, for the request that has just come."""
        self._others_read()
        for position in self.unserved:
            self.dirty[position] = None
        self.unknown = {position: None for position in self.unserved if not self.manager.serves(position.tp)}
        self.unserved = dict(self.unknown)
        self.can_complete = True

    def metadata_lost(self, tps: Iterable[TopicPartition]) -> None:
        """The broker's metadata lacks ``tps``: the next request finds that out, the one in hand does not."""
        for tp in tps:
            position = self.positions.get(tp)
            if position is not None and position not in self.unserved and not self.manager.serves(tp):
                self._not_served(position)

    def try_complete(self, arrived: bool = False) -> bool:
        """Answer the request in hand if there is enough to send. Returns whether it was answered.

        Args:
            arrived: the request has just come. It says where its sender is when it comes, not when it is answered
                (kafka-behaviour §8.5).
        """
        request = self.delayed.request
        assert request is not None
        if not self.can_complete and request.min_bytes > 0:
            return False
        collected = self._collect(request, arrived)
        if collected.enough:
            self.times_read += not arrived  # what has waited is read again (DelayedFetch.onComplete)
            self._answer(collected)
        return collected.enough

    def force_complete(self) -> None:
        """The time of the request is over: answer it with what there is."""
        request = self.delayed.request
        assert request is not None
        collected, throttle = self._collect(request, False), self.manager.throttle
        throttled = throttle.active or throttle.version != self.throttles  # its end wakes no fetch (KIP-73)
        if collected.size >= request.min_bytes > 0 and not throttled:
            self._show_overdue(collected)
        self.times_read += 1
        self._answer(collected)

    def _show_overdue(self, collected: Collected) -> None:
        """Show that there are records, though the request has waited for its time. Those do not count that a follower
        may read only now, as its leader has learned of its assignment (KAFKA-5758): that wakes no fetch."""
        process, follows = self.manager.process, self.replica >= 0
        pairs = zip(collected.positions, collected.answers, strict=True)
        tps = tuple([one.tp for one, answer in pairs if answer[4] and (one.partition is not None or not follows)])
        if tps:
            process.mark(FetchOverdue, process.node.id, self.replica, self.delayed.waited_us, tps)

    def _answer(self, collected: Collected) -> None:
        positions, answers, size, _enough = collected
        self.delayed.request = None
        if answers:
            self.manager.metrics.topics.requests.fetched()
            show_refusals(self.manager, self.replica, answers)
        self._sent(positions, answers)
        if size:
            self._measure(answers, size)
        asks = self.manager.deletion is not None
        response = FetchResponse(NO_ERROR, self.id, tuple(answers), 60 + 30 * len(answers) + size, asks_starts=asks)
        self.manager.logs.work.after_disks(self.channel).reply(response, response.size, not answers)

    def close(self) -> None:
        """The connection is gone, and the session with it."""
        self.delayed.rouse()
        self.delayed.request = None
        self.manager.metrics.topics.requests.end_reader(self)
        for tp in list(self.positions):
            self._forget(tp)

    # -- what is counted --------------------------------------------------------------------------------------------

    def take_reads(self) -> Mapping[str, int]:
        """The number of partitions that were read since the last call, by topic."""
        if self.delayed.poll is not None:
            self.times_read += self.parked_reads()
        self._add_reads()
        taken, self._read = self._read, {}
        return taken

    def _add_reads(self) -> None:
        if not self.times_read:
            return
        topics = self._topics
        if topics is None:
            read = [tp.topic for tp, one in self.positions.items() if one not in self.unserved]
            topics = self._topics = dict(Counter(read))
        for topic, count in topics.items():
            self._read[topic] = self._read.get(topic, 0) + count * self.times_read
        self.times_read = 0

    def _others_read(self) -> None:
        """From now on it has other partitions to read."""
        self._add_reads()
        self._topics = None

    # -- what depends on the kind of reader -------------------------------------------------------------------------

    @abstractmethod
    def reads(self, tp: TopicPartition) -> bool:
        """Whether its fetches count as reads of ``tp``: it holds ``tp``, at an offset and epoch that are valid now."""

    def silent_us(self, tp: TopicPartition) -> int:
        """How long ago its last request came; -1: it does not hold ``tp``. Polls that are jumped over go on."""
        if tp not in self.positions:
            return -1
        return 0 if self.delayed.poll is not None else self.manager.process.clock_us - self.last_fetch_us

    @abstractmethod
    def leader_epoch(self, tp: TopicPartition) -> int | None:
        """The leader epoch under which it reads ``tp``; None: it does not, or under any."""

    @abstractmethod
    def high_watermark_moved(self, position: SessionPosition) -> None:
        """The leader's high watermark is higher than before."""

    def high_watermark_learned(self, position: SessionPosition) -> None:
        """Nothing follows from it: emulated readers ask leaders."""
        assert position.session is self

    @abstractmethod
    def _take(self, wanted: Iterable[FetchFields], now_us: int) -> None:
        """The request names these: each is new in the session, or its reader has moved."""

    def _not_served(self, position: SessionPosition) -> None:
        """The broker's metadata lacks the partition of ``position``."""
        self._others_read()
        self.mark_dirty(position)
        self.unserved[position] = None

    @abstractmethod
    def _forget(self, tp: TopicPartition) -> None:
        """``tp`` is no longer in the session."""

    @abstractmethod
    def _collect(self, request: FetchRequest, arrived: bool) -> Collected:
        """The answers for the dirty partitions."""

    @abstractmethod
    def _sent(self, positions: list[SessionPosition], answers: list[FetchedFields]) -> None:
        """``answers`` go out: remember what the reader knows now, and what is still dirty."""

    @abstractmethod
    def _measure(self, answers: list[FetchedFields], size: int) -> None:
        """Count the ``size`` bytes of records in ``answers``."""
