"""Incremental fetch sessions (KIP-227; kafka.server.FetchSession, FetchSessionCache and FetchManager, 1.1).

A session belongs to the broker and not to a connection: a client may go on with it on another connection, or end it
there, and the broker keeps only so many. It only remembers what its client wants and got; each request is a fetch of
its own (``consumer_fetch``). Emulated readers, which have many partitions and few changes, have no such session: what
they want is kept with their connection (``reader_session``).

Version notes:

- 3.1: a session knows topics by their names or by their ids, as the request that began it did (KIP-516, KAFKA-13111). A
  topic whose id the broker has learnt keeps its name in the session, also when it has been deleted.
"""

from collections.abc import Mapping

from attrs import define, field

from emulator.nodes import Process
from emulator.protocol.clients.fetch import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    ConsumerFetchRequest,
    ConsumerFetchResponse,
    PartitionData,
    Stability,
    id_of,
)
from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import NO_EPOCH, FetchedFields
from emulator.protocol.types import TopicPartition

EVICTION_US = 120_000_000
"""A session that was not used for longer can go for any other; one that is younger than that goes for none."""
_LAST_EPOCH = (1 << 31) - 1


def _next_epoch(epoch: int) -> int:
    """The session epoch of the next request (FetchMetadata.nextEpoch)."""
    return 1 if epoch == _LAST_EPOCH else epoch + 1


@define(eq=False)
class CachedPartition:
    """One partition of a session: what the client wants there, and the high watermark and log start offset that it was
    sent last; -1: none that counts. The name of its topic is known as soon as the broker knows it."""

    wanted: PartitionData
    high_watermark: int = -1
    log_start: int = -1

    def changes(self, answer: FetchedFields) -> bool:
        """Whether the client has to see ``answer``; it is then what it was sent last (maybeUpdateResponseData)."""
        _tp, error, high_watermark, log_start, batches, diverging = answer
        changed = (high_watermark, log_start) != (self.high_watermark, self.log_start)
        self.high_watermark, self.log_start = (-1 if error else high_watermark), log_start
        return bool(changed or batches or error or diverging)


@define(eq=False)
class FetchSession:
    """A session of one client. Its partitions are in the order in which they are read: those that had something come
    last. ``names_ids``: they are ``by_id``."""

    id: int
    created_us: int
    used_us: int
    epoch: int
    partitions: dict[TopicPartition, CachedPartition]
    names_ids: bool = False


@define(eq=False)
class FetchContext:
    """One request: what it fetches, and how its answer is put together.

    Attributes:
        wanted: what it fetches; topics whose ids the broker knows by their names.
        asked: the same partitions as the client, and its session, call them.
        session: the session that it goes on with; None: it is a full request.
        creates: whether it asks for a session.
        error: why it is refused.
        names_ids: whether it names topics by their ids.
    """

    cache: "FetchSessionCache"
    wanted: tuple[PartitionData, ...] = ()
    asked: tuple[TopicPartition, ...] = ()
    session: FetchSession | None = None
    creates: bool = False
    error: Errors = NO_ERROR
    names_ids: bool = False
    _epoch: int = 0

    def put_last(self, unknown: Mapping[TopicPartition, object]) -> None:
        """Answer for partitions that are not read behind all others (KafkaApis.handleFetchRequest, 1.1 to 3.9)."""
        places = sorted(range(len(self.wanted)), key=lambda place: self.wanted[place].tp in unknown)
        self.wanted = tuple(self.wanted[place] for place in places)
        self.asked = tuple(self.asked[place] for place in places)

    def response(
        self,
        answers: list[FetchedFields],
        stability: dict[TopicPartition, Stability],
        leaders: Mapping[TopicPartition, KnownLeader],
    ) -> ConsumerFetchResponse:
        """The response with what of ``answers``, one for each partition that is ``wanted``, the client has to see."""
        session, asked = self.session, self.asked
        if session is None:
            id = self.cache.create(self, answers) if self.creates else NO_SESSION
            return self._response(NO_ERROR, id, list(zip(asked, answers, strict=True)), stability, leaders)
        if session.epoch != self._epoch:  # another request of the session came in between
            return self.refusal(Errors.INVALID_FETCH_SESSION_EPOCH, session.id)
        partitions, changed = session.partitions, []
        for tp, answer in zip(asked, answers, strict=True):
            known = partitions.get(tp)
            if known is not None and known.changes(answer):
                changed.append((tp, answer))
                if answer[4] or not self.cache.records_alone_go_last:
                    partitions[tp] = partitions.pop(tp)  # the others come first the next time
        return self._response(NO_ERROR, session.id, changed, stability, leaders)

    def refusal(self, error: Errors, session_id: int = NO_SESSION) -> ConsumerFetchResponse:
        """The response to a request whose session has an error."""
        return self._response(error, session_id, [], {}, {})

    def _response(
        self,
        error: Errors,
        session_id: int,
        rows: list[tuple[TopicPartition, FetchedFields]],
        stability: dict[TopicPartition, Stability],
        leaders: Mapping[TopicPartition, KnownLeader],
    ) -> ConsumerFetchResponse:
        answers = tuple([answer for _tp, answer in rows])
        size = 60 + 30 * len(answers) + sum(batch.size for answer in answers for batch in answer[4])
        ids = tuple([id_of(tp) for tp, _answer in rows]) if self.names_ids else ()
        return ConsumerFetchResponse(error, session_id, answers, size, stability, ids, leaders)


def _update(session: FetchSession, request: ConsumerFetchRequest) -> None:
    """Take into the session what a request adds, changes and forgets (FetchSession.update)."""
    for wanted in request.wanted:
        known = session.partitions.get(wanted.tp)
        if known is None:
            session.partitions[wanted.tp] = CachedPartition(wanted)
        else:
            known.wanted = wanted._replace(tp=known.wanted.tp)
    for tp in request.forgotten:
        session.partitions.pop(tp, None)


def _resolved(wanted: PartitionData, names: Mapping[str, str]) -> PartitionData:
    """``wanted`` under the name of its topic, if the broker knows that."""
    topic = names.get(id_of(wanted.tp))
    return wanted if topic is None else wanted._replace(tp=TopicPartition.of(topic, wanted.tp.partition))


@define(eq=False)
class FetchSessionCache:
    """The sessions that one broker keeps.

    Attributes:
        slots: how many it keeps (max.incremental.fetch.session.cache.slots).
        keep_epochs: whether sessions keep the leader epochs that their clients named (KAFKA-9338).
        records_alone_go_last: see ``BrokerPolicies``.
    """

    process: Process
    slots: int
    keep_epochs: bool
    records_alone_go_last: bool = False
    _sessions: dict[int, FetchSession] = field(factory=dict)
    """Sessions by id, the last used ones at the end."""

    def known(self, id: int) -> Mapping[TopicPartition, object]:
        """The partitions of a session; none if there is no such session."""
        session = self._sessions.get(id)
        return {} if session is None else {known.wanted.tp: known for known in session.partitions.values()}

    def context(self, request: ConsumerFetchRequest, names: Mapping[str, str]) -> FetchContext:
        """The context of ``request``: the partitions that it fetches (FetchManager.newContext).

        Args:
            names: the topics that the broker knows, by id.
        """
        id, epoch = request.session_id, request.session_epoch
        if epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(id, None)
            return self._full(request, names, creates=epoch == INITIAL_EPOCH)
        session = self._sessions.get(id)
        if session is None:
            return FetchContext(self, error=Errors.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            return FetchContext(self, error=Errors.INVALID_FETCH_SESSION_EPOCH)
        if session.names_ids != request.names_ids:
            return FetchContext(self, error=Errors.FETCH_SESSION_TOPIC_ID_ERROR)
        _update(session, request)
        del self._sessions[id]
        if not session.partitions:
            return self._full(request, names)
        self._sessions[id] = session
        session.used_us = self.process.clock_us
        session.epoch = _next_epoch(session.epoch)
        if session.names_ids:
            for known in session.partitions.values():
                known.wanted = _resolved(known.wanted, names)
        everything = tuple(known.wanted for known in session.partitions.values())
        if not self.keep_epochs:
            everything = tuple(wanted._replace(leader_epoch=NO_EPOCH) for wanted in everything)
        asked = tuple(session.partitions)
        return FetchContext(self, everything, asked, session, names_ids=session.names_ids, epoch=session.epoch)

    def _full(self, request: ConsumerFetchRequest, names: Mapping[str, str], *, creates: bool = False) -> FetchContext:
        wanted, asked = request.wanted, tuple(each.tp for each in request.wanted)
        if request.names_ids:
            wanted = tuple(_resolved(each, names) for each in wanted)
        return FetchContext(self, wanted, asked, creates=creates, names_ids=request.names_ids)

    def create(self, context: FetchContext, answers: list[FetchedFields]) -> int:
        """Create a session for a full request that is answered with ``answers``. Returns its id, or NO_SESSION where
        there is no room for one."""
        wanted, asked = context.wanted, context.asked
        if not wanted or not self._has_room(len(wanted)):
            return NO_SESSION
        partitions = {tp: CachedPartition(each) for tp, each in zip(asked, wanted, strict=True)}
        for tp, answer in zip(asked, answers, strict=True):
            partitions[tp].changes(answer)
        now = self.process.clock_us
        id = self._new_id()
        self._sessions[id] = FetchSession(id, now, now, _next_epoch(INITIAL_EPOCH), partitions, context.names_ids)
        return id

    def _new_id(self) -> int:
        """A number that no session of an earlier incarnation of the broker is likely to have had."""
        node = self.process.node
        stream = self.process.world.stream("fetch sessions", f"{node.name}.{node.incarnations}")
        while True:
            id = 1 + stream.below(_LAST_EPOCH)
            if id not in self._sessions:
                return id

    def _has_room(self, size: int) -> bool:
        """Whether there is room for a session of that many partitions, for which another one may have to go
        (FetchSessionCache.tryEvict): one that has not been used for long, or one with fewer partitions that was old
        when it was last used (``touch``)."""
        sessions, now = self._sessions, self.process.clock_us
        if len(sessions) < self.slots:
            return True
        if not sessions:
            return False
        stalest = next(iter(sessions.values()))
        if now - stalest.used_us > EVICTION_US:
            del sessions[stalest.id]
            return True
        old = [session for session in sessions.values() if session.used_us - session.created_us > EVICTION_US]
        smallest = min(old, key=lambda session: (len(session.partitions), session.id), default=None)
        if smallest is None or len(smallest.partitions) >= size:
            return False
        del sessions[smallest.id]
        return True
