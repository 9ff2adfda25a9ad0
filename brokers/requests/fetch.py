"""Fetch (API 1): finds what a request goes on with (kafka.server.FetchManager, 1.1).

Behavior: followers are answered by ``follower_session``, emulated consumers by ``consumer_session``, real ones by
``consumer_fetch``; both kinds of consumers get what ``consumer_reads`` reads.

Version notes:

- 1.1: incremental sessions (KIP-227). Emulated readers use them under every release.
- 2.5: a session keeps the leader epochs that its reader named (KAFKA-9338): ``sessions_keep_epochs``; no answer has
  more than the broker's fetch.max.bytes (KIP-541): ``caps_fetches``
"""

from collections.abc import Mapping
from typing import TypeVar

from attrs import evolve

from brokers.replica_manager import ReplicaManager
from brokers.requests.consumer_fetch import ConsumerFetch
from brokers.requests.consumer_session import ConsumerSession, RacingConsumerSession
from brokers.requests.fetch_session import FetchSessionCache
from brokers.requests.follower_session import AllOrNothingSession, FollowerSession
from brokers.requests.reader_session import ReaderSession
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.clients.fetch import INITIAL_EPOCH, ConsumerFetchRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, NEW_SESSION, FetchRequest, FetchResponse
from emulator.protocol.shown import FetchSessionChanged, FetchSessionRefused
from emulator.protocol.types import TopicPartition

NO_NAMES: Mapping[str, str] = {}
ANY_SIZE = 1 << 62
Request = TypeVar("Request", bound=FetchRequest)


class FetchHandler:
    """Answers followers and consumers. An emulated reader's session lives as long as its connection.

    Attributes:
        sessions: sessions of emulated readers, by their id.
        cache: the sessions of real consumers.
    """

    def __init__(self, manager: ReplicaManager) -> None:
        policies = manager.policies
        self._manager = manager
        self._most = policies.config.fetch_max_bytes if policies.caps_fetches else ANY_SIZE
        self.sessions: dict[int, ReaderSession] = {}
        self.cache = FetchSessionCache(
            manager.process,
            policies.config.fetch_session_slots,
            policies.sessions_keep_epochs,
            policies.records_alone_go_last,
        )
        self._consumers: dict[Channel, ConsumerFetch] = {}
        self._last_id = NEW_SESSION
        manager.metadata.watchers.append(self._metadata_changed)

    def _metadata_changed(self) -> None:
        deleted = self._manager.metadata.deleted
        if deleted:
            for session in self.sessions.values():
                session.metadata_lost(deleted)

    def fetches_any(self, request: FetchRequest, partitions: Mapping[TopicPartition, object]) -> bool:
        """Whether ``request``, or its session, is about any of ``partitions``."""
        known: Mapping[TopicPartition, object] = {}
        if request.session_epoch != INITIAL_EPOCH:
            if isinstance(request, ConsumerFetchRequest):
                known = self.cache.known(request.session_id)
            elif request.session_id in self.sessions:
                known = self.sessions[request.session_id].positions
        return any(tp in known for tp in partitions) or any(tp in partitions for tp in request.topic_partitions())

    def rouse(self) -> None:
        """Simulate the polls of idle followers again, which are jumped over."""
        for session in self.sessions.values():
            session.look()

    @handles(FetchRequest)
    def fetch(self, request: FetchRequest, channel: Channel) -> None:
        if request.session_id == NEW_SESSION:
            session = self._open(request, channel)
        else:
            found = self.sessions.get(request.session_id)
            if found is not None and request.session_epoch == INITIAL_EPOCH:
                found.epoch = INITIAL_EPOCH  # a full request, which forgets all that the session had
            if found is None or found.epoch != request.session_epoch:
                error = Errors.FETCH_SESSION_ID_NOT_FOUND if found is None else Errors.INVALID_FETCH_SESSION_EPOCH
                process = self._manager.process
                process.show(FetchSessionRefused, process.node.id, request.session_id, error.name)
                channel.reply(FetchResponse(error, NEW_SESSION, (), 60), 60)
                return
            session = found
        session.fetch(self._capped(request))

    def _capped(self, request: Request) -> Request:
        """The request with no higher limit than the broker's (KafkaApis.handleFetchRequest, 2.5)."""
        if request.max_bytes <= self._most:
            return request
        return evolve(request, max_bytes=self._most, min_bytes=min(request.min_bytes, self._most))

    def _open(self, request: FetchRequest, channel: Channel) -> ReaderSession:
        self._last_id += 1
        kind: type[ReaderSession] = FollowerSession
        if request.replica_id == CONSUMER:
            kind = RacingConsumerSession if self._manager.policies.read_race_us else ConsumerSession
        elif self._manager.policies.refuses_with_strangers:
            kind = AllOrNothingSession
        session = kind(self._manager, self._last_id, request.replica_id, channel)
        self.sessions[session.id] = session
        process = self._manager.process
        process.show(FetchSessionChanged, process.node.id, session.id, True)

        def closed() -> None:
            session.close()
            self.sessions.pop(session.id, None)
            process.show(FetchSessionChanged, process.node.id, session.id, False)

        if channel.on_close is not None:
            channel.on_close()
        channel.on_close = closed
        return session

    @handles(ConsumerFetchRequest)
    def fetch_for_consumer(self, request: ConsumerFetchRequest, channel: Channel) -> None:
        names = self._manager.metadata.topic_names if request.names_ids else NO_NAMES
        context = self.cache.context(request, names)
        if context.error:
            response = context.refusal(context.error)
            channel.reply(response, response.size)
            return
        self._consumer(channel).fetch(self._capped(request), context)

    def _consumer(self, channel: Channel) -> ConsumerFetch:
        found = self._consumers.get(channel)
        if found is None:
            found = self._consumers[channel] = ConsumerFetch(self._manager, channel)
            before = channel.on_close

            def closed() -> None:
                fetch = self._consumers.pop(channel, None)
                if fetch is not None:
                    fetch.close()
                if before is not None:
                    before()

            channel.on_close = closed
        return found
