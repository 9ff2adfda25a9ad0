"""The fetches of real consumers (ReplicaManager.fetchMessages and kafka.server.DelayedFetch, 2.3): each request names
all that it reads, or a session does so for it, and waits by itself."""

from typing import NamedTuple

from attrs import define, field

from brokers.partition.partition import Partition
from brokers.purgatory import DelayedFetch
from brokers.replica_manager import ReplicaManager
from brokers.requests.fetch_contexts import ClientSessions, FetchContext
from brokers.requests.router import handles
from emulator.disks import DiskError
from emulator.network import Channel
from emulator.protocol.clients.fetch import (
    DEBUGGING_CONSUMER,
    READ_COMMITTED,
    ConsumerFetchRequest,
    PartitionData,
    Stability,
)
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchedFields, FetchRequest
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH
from emulator.protocol.types import Batch, TopicPartition


@define(eq=False)
class Watched:
    """A partition that wakes a request that waits. It is a ``brokers.partition.remote.Position``."""

    session: "ConsumerFetch"
    tp: TopicPartition
    remote: None = None

    def unbind(self) -> None:
        """Nothing is remembered of the partition."""


class Read(NamedTuple):
    """What a request can be answered with now.

    Attributes:
        answers: for each partition that it names.
        stability: of those in whose logs there are transactions.
        enough: whether this completes it before its time is over.
    """

    answers: list[FetchedFields]
    stability: dict[TopicPartition, Stability]
    enough: bool


@define(eq=False)
class ConsumerFetch:
    """The fetch requests of one connection, one after the other. Partitions see it as a
    ``brokers.partition.remote.Reader``.

    Attributes:
        delayed: the request that waits, if one does.
        context: of the request in hand.
        erroneous: those of its partitions that the broker's metadata lacked when it came: they are not read, and their
            error does not complete it (KafkaApis.handleFetchRequest, 2.3).
        watched: the partitions that it waits for.
        dirty, last_fetch_us: of no use for such a reader.
    """

    manager: ReplicaManager
    channel: Channel
    delayed: DelayedFetch = field(init=False)
    context: FetchContext = field(init=False)
    erroneous: dict[TopicPartition, None] = field(factory=dict)
    watched: dict[Watched, Partition] = field(factory=dict)
    dirty: dict[Watched, None] = field(factory=dict)
    last_fetch_us: int = 0

    def __attrs_post_init__(self) -> None:
        self.delayed = DelayedFetch(self.manager.purgatory, self.manager.process, self)

    # -- what partitions report -------------------------------------------------------------------------------------

    def wake(self, _position: Watched) -> None:
        if self.delayed.request is not None:
            self.delayed.purgatory.woken[self.delayed] = None

    high_watermark_moved = wake

    def mark_dirty(self, _position: Watched) -> None:
        """Each answer looks everywhere."""

    def look(self) -> None:
        """Only followers are asked when they read last."""

    def reads(self, _tp: TopicPartition) -> bool:
        return False

    def leader_epoch(self, _tp: TopicPartition) -> int | None:
        return None

    # -- requests and answers ---------------------------------------------------------------------------------------

    def fetch(self, request: ConsumerFetchRequest, context: FetchContext) -> None:
        """Answer ``request``, now or when there is something to send."""
        self.context, self.delayed.request = context, request
        serves = self.manager.serves
        self.erroneous = {wanted.tp: None for wanted in context.wanted if not serves(wanted.tp)}
        read = self._read(request)
        if read.enough or request.max_wait_us <= 0 or len(self.erroneous) == len(context.wanted):
            self._answer(read)
            return
        for wanted in context.wanted:
            if wanted.tp in self.erroneous:
                continue
            partition = self.manager.partitions[wanted.tp]
            position = Watched(self, wanted.tp)
            self.watched[position] = partition
            if partition.readers is None:
                partition.readers = {}
            partition.readers[position] = None
        self.delayed.wait(request)

    def park(self, _request: FetchRequest) -> bool:
        """None is jumped over: the client is real."""
        return False

    def try_complete(self) -> bool:
        """Answer the request that waits, if there is enough to send. Returns whether it was answered."""
        read = self._read(self._request)
        if read.enough:
            self._answer(read)
        return read.enough

    def force_complete(self) -> None:
        """The time of the request is over: answer it with what there is."""
        self._answer(self._read(self._request))

    @property
    def _request(self) -> ConsumerFetchRequest:
        request = self.delayed.request
        assert isinstance(request, ConsumerFetchRequest)
        return request

    def _answer(self, read: Read) -> None:
        self._end()
        response = self.context.response(read.answers, read.stability)
        topics = self.manager.metrics.topics
        for tp, _error, _high_watermark, _log_start, batches, _diverging in response.answers:
            if batches:
                topics.consumed(tp.topic, sum(batch.size for batch in batches))
        self.manager.logs.work.after_disks(self.channel).reply(response, response.size)

    def _end(self) -> None:
        self.delayed.request = None
        for position, partition in self.watched.items():
            if partition.readers is not None:
                partition.readers.pop(position, None)
        self.watched.clear()

    def close(self) -> None:
        """The connection is gone."""
        self._end()

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, request: ConsumerFetchRequest) -> Read:
        """Read every partition, in their order (ReplicaManager.readFromLocalLog)."""
        answers: list[FetchedFields] = []
        stability: dict[TopicPartition, Stability] = {}
        size, cut, failed = 0, 0, False
        from_leader = request.replica_id != DEBUGGING_CONSUMER
        for wanted in self.context.wanted:
            if wanted.tp in self.erroneous:
                answers.append(_refused(wanted.tp, Errors.UNKNOWN_TOPIC_OR_PARTITION))
                continue
            limit = min(wanted.max_bytes, request.max_bytes - size)
            answer = self._read_partition(wanted, limit, not size, from_leader, request.isolation)
            answers.append(answer)
            if not answer[1]:
                self._look_at_transactions(answer, wanted.fetch_offset, request.isolation, stability)
            sent = sum(batch.size for batch in answer[4])
            size += sent
            if sent:
                end = _readable_end(self.manager.partitions[wanted.tp], request.isolation)
                cut += max(0, limit - sent) if answer[4][-1].next_offset < end else 0
            failed = failed or bool(answer[1]) or answer[5] is not None
        return Read(answers, stability, failed or size + cut >= request.min_bytes)

    def _look_at_transactions(
        self, answer: FetchedFields, offset: int, isolation: int, stability: dict[TopicPartition, Stability]
    ) -> None:
        """Add what the reader has to know of transactions, if the log has any (Log.addAbortedTransactions)."""
        tp, _error, high_watermark, _log_start, batches, _diverging = answer
        log = self.manager.partitions[tp].log
        if log.producers.has_transactions:
            aborted: tuple[tuple[int, int], ...] = ()
            if batches and isolation == READ_COMMITTED:
                aborted = log.producers.aborted_between(offset, batches[-1].next_offset)
            stability[tp] = Stability(log.last_stable_offset(high_watermark), aborted)

    def _read_partition(
        self, wanted: PartitionData, limit: int, first: bool, from_leader: bool, isolation: int
    ) -> FetchedFields:
        manager, tp = self.manager, wanted.tp
        partition = manager.partitions.get(tp)
        if partition is None:
            return _refused(tp, manager.error_without_replica(tp, from_leader))
        error = partition.check_current_leader_epoch(wanted.leader_epoch, require_leader=from_leader)
        if error:
            return _refused(tp, error)
        offset, log = wanted.fetch_offset, partition.log
        high_watermark = max(partition.high_watermark, 0)
        if wanted.last_fetched_epoch != UNDEFINED_EPOCH:
            diverging = partition.diverging(wanted.last_fetched_epoch, offset)
            if diverging is not None:
                return tp, NO_ERROR, high_watermark, log.start_offset, (), diverging
        if not log.start_offset <= offset <= log.end_offset:
            return _refused(tp, Errors.OFFSET_OUT_OF_RANGE)
        try:
            batches = self._before(_readable_end(partition, isolation), partition, offset, limit, first)
        except DiskError:
            return _refused(tp, Errors.KAFKA_STORAGE_ERROR)
        return tp, NO_ERROR, high_watermark, log.start_offset, batches, None

    def _before(self, end: int, partition: Partition, offset: int, limit: int, first: bool) -> tuple[Batch, ...]:
        """The batches from ``offset`` to ``end``, the high watermark or an offset before it. Only the ``first`` batch
        of an answer may exceed the limit (KIP-74)."""
        log = partition.log
        if offset >= end or (limit <= 0 and not first):
            return ()
        batches = log.read(offset, max(limit, 0))
        if not first and batches[0].size > limit:
            return ()
        log.directory.was_read(batches)
        if batches[-1].next_offset > end:
            batches = tuple(batch for batch in batches if batch.next_offset <= end)
        return batches


def _readable_end(partition: Partition, isolation: int) -> int:
    """Up to where a consumer may read: the high watermark, or the last stable offset."""
    end = partition.high_watermark
    return partition.log.last_stable_offset(end) if isolation == READ_COMMITTED else end


def _refused(tp: TopicPartition, error: Errors) -> FetchedFields:
    return tp, error, -1, -1, (), None


@define(eq=False)
class ConsumerFetchHandler:
    """Answers real consumers."""

    manager: ReplicaManager
    sessions: ClientSessions = field(init=False)
    _open: dict[Channel, ConsumerFetch] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        manager = self.manager
        self.sessions = ClientSessions(
            manager.process, manager.policies.config.fetch_session_slots, manager.policies.sessions_keep_epochs
        )

    @handles(ConsumerFetchRequest)
    def fetch(self, request: ConsumerFetchRequest, channel: Channel) -> None:
        context = self.sessions.context(request)
        if context.error:
            response = context.response([], {})
            channel.reply(response, response.size)
            return
        self._of(channel).fetch(request, context)

    def _of(self, channel: Channel) -> ConsumerFetch:
        found = self._open.get(channel)
        if found is None:
            found = self._open[channel] = ConsumerFetch(self.manager, channel)
            before = channel.on_close

            def closed() -> None:
                fetch = self._open.pop(channel, None)
                if fetch is not None:
                    fetch.close()
                if before is not None:
                    before()

            channel.on_close = closed
        return found
