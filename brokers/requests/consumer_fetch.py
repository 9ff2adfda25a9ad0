"""The fetches of real consumers (ReplicaManager.fetchMessages and kafka.server.DelayedFetch, 2.3): each request names
all that it reads, or a session does so for it, and waits by itself."""

from typing import NamedTuple

from attrs import define, field

from brokers.partition.partition import Partition
from brokers.purgatory import DelayedFetch
from brokers.replica_manager import ReplicaManager
from brokers.requests.consumer_reads import ConsumerReads, measure, refused, show_refusals
from brokers.requests.fetch_session import FetchContext
from emulator.network import Channel
from emulator.protocol.clients.fetch import DEBUGGING_CONSUMER, READ_COMMITTED, ConsumerFetchRequest, Stability, id_of
from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, FetchedFields, FetchRequest
from emulator.protocol.types import TopicPartition

WRONG_LEADER = Errors.NOT_LEADER_FOR_PARTITION, Errors.FENCED_LEADER_EPOCH


@define(eq=False)
class Watched:
    """A partition that wakes a request that waits. It is a ``brokers.partition.remote.Position``."""

    session: "ConsumerFetch"
    tp: TopicPartition
    remote: None = None

    def unbind(self) -> None:
        """Forget the partition: nothing is kept of it."""

    def resend(self) -> None:
        """Do nothing: each answer says where the log begins."""


class Read(NamedTuple):
    """The answer that a request can have now.

    Attributes:
        answers: an answer for each partition that it names.
        stability: facts about transactions, for the partitions whose logs have some.
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
        context: fetch context of the request in hand.
        unknown: partitions that the broker's metadata lacked when the request came: they are not read, and their
            error does not complete it (KafkaApis.handleFetchRequest, 2.3).
        watched: the partitions that it waits for.
        dirty, last_fetch_us: fields of ``SessionPosition`` that such a reader does not use.
    """

    manager: ReplicaManager
    channel: Channel
    delayed: DelayedFetch = field(init=False)
    context: FetchContext = field(init=False)
    unknown: dict[TopicPartition, None] = field(factory=dict)
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

    def high_watermark_learned(self, position: Watched) -> None:
        """Answer a request that waits at a follower, once the fetcher's round is over; in a release that does."""
        if self.manager.policies.learned_high_watermark_completes_fetches:
            self.wake(position)
            self.manager.process.call_later(0, lambda _: self.manager.purgatory.complete())

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
        self.unknown = {wanted.tp: None for wanted in context.wanted if id_of(wanted.tp) or not serves(wanted.tp)}
        if self.unknown:
            context.put_last(self.unknown)
        self._count_read()
        read = self._read(request)
        if read.enough or request.max_wait_us <= 0 or len(self.unknown) == len(context.wanted):
            self._answer(read)
            return
        for wanted in context.wanted:
            if wanted.tp in self.unknown:
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
            self._count_read()
            self._answer(read)
        return read.enough

    def force_complete(self) -> None:
        """The time of the request is over: answer it with what there is."""
        self._count_read()
        self._answer(self._read(self._request))

    def _count_read(self) -> None:
        """Count the partitions that are read: when the request comes, and where it has waited once more."""
        wanted = (each.tp for each in self.context.wanted)
        self.manager.metrics.topics.requests.read([tp.topic for tp in wanted if tp not in self.unknown])

    @property
    def _request(self) -> ConsumerFetchRequest:
        request = self.delayed.request
        assert isinstance(request, ConsumerFetchRequest)
        return request

    def _answer(self, read: Read) -> None:
        self._end()
        response = self.context.response(read.answers, read.stability, self._leaders(read.answers))
        measure(self.manager, response.answers)
        show_refusals(self.manager, CONSUMER, read.answers)
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

    def _leaders(self, answers: list[FetchedFields]) -> dict[TopicPartition, KnownLeader]:
        """The leaders of partitions whose readers asked the wrong broker, or knew the wrong one (KIP-951)."""
        wrong = [each[0] for each in answers if each[1] in WRONG_LEADER and each[0] not in self.unknown]
        if not wrong:
            return {}
        from brokers.requests.known_leaders import known_leader

        return {tp: known_leader(self.manager, tp) for tp in wrong}

    # -- reading ----------------------------------------------------------------------------------------------------

    def _read(self, request: ConsumerFetchRequest) -> Read:
        """Read every partition, in their order (ReplicaManager.readFromLocalLog)."""
        answers: list[FetchedFields] = []
        stability: dict[TopicPartition, Stability] = {}
        reads = ConsumerReads(self.manager, request.max_bytes, request.isolation, not self._any_replica(request))
        for asked, (tp, epoch, offset, last_epoch, max_bytes) in zip(
            self.context.asked, self.context.wanted, strict=True
        ):
            if tp in self.unknown:
                unnamed = Errors.UNKNOWN_TOPIC_ID if id_of(tp) else Errors.UNKNOWN_TOPIC_OR_PARTITION
                answers.append(refused(tp, unnamed))
                continue
            answer = reads.read(tp, epoch, offset, max_bytes, last_epoch, id_of(asked))
            answers.append(answer)
            if not answer[1]:
                self._look_at_transactions(answer, offset, request.isolation, stability)
        return Read(answers, stability, reads.reach(request.min_bytes))

    def _any_replica(self, request: ConsumerFetchRequest) -> bool:
        """Whether a follower may answer (ReplicaManager.fetchMessages)."""
        if self.manager.policies.followers_serve_consumers:
            return request.knows_followers
        return request.replica_id == DEBUGGING_CONSUMER

    def _look_at_transactions(
        self, answer: FetchedFields, offset: int, isolation: int, stability: dict[TopicPartition, Stability]
    ) -> None:
        """Add what the reader has to know of transactions, if the log has any (Log.addAbortedTransactions)."""
        tp, _error, high_watermark, _log_start, batches, _diverging = answer
        log = self.manager.partitions[tp].log
        if log.producers.has_transactions:
            aborted: tuple[tuple[int, int], ...] = ()
            if batches and isolation == READ_COMMITTED:
                aborted = log.aborted_between(offset, batches[-1].next_offset)
            stability[tp] = Stability(log.last_stable_offset(high_watermark), aborted)
