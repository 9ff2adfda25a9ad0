"""Fetch: finds the session of a request (kafka.server.FetchManager, 1.1)."""

from brokers.replica_manager import ReplicaManager
from brokers.requests.consumer_session import ConsumerSession, RacingConsumerSession
from brokers.requests.fetch_session import FetchSession
from brokers.requests.follower_session import AllOrNothingSession, FollowerSession
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.clients.fetch import INITIAL_EPOCH
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, NEW_SESSION, FetchRequest, FetchResponse
from emulator.protocol.shown import FetchSessionChanged, FetchSessionRefused


class FetchHandler:
    """Answers followers and consumers. A session lives as long as its connection.

    Attributes:
        sessions: by their id.
    """

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager
        self.sessions: dict[int, FetchSession] = {}
        self._last_id = NEW_SESSION
        manager.metadata.watchers.append(self._metadata_changed)

    def _metadata_changed(self) -> None:
        deleted = self._manager.metadata.deleted
        if deleted:
            for session in self.sessions.values():
                session.metadata_lost(deleted)

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
                node = self._manager.process.node
                node.trace.show(FetchSessionRefused, node.id, request.session_id, error.name)
                channel.reply(FetchResponse(error, NEW_SESSION, (), 60), 60)
                return
            session = found
        session.fetch(request)

    def _open(self, request: FetchRequest, channel: Channel) -> FetchSession:
        self._last_id += 1
        kind: type[FetchSession] = FollowerSession
        if request.replica_id == CONSUMER:
            kind = RacingConsumerSession if self._manager.policies.read_race_us else ConsumerSession
        elif self._manager.policies.refuses_with_strangers:
            kind = AllOrNothingSession
        session = kind(self._manager, self._last_id, request.replica_id, channel)
        self.sessions[session.id] = session
        node = self._manager.process.node
        node.trace.show(FetchSessionChanged, node.id, session.id, True)

        def closed() -> None:
            session.close()
            self.sessions.pop(session.id, None)
            node.trace.show(FetchSessionChanged, node.id, session.id, False)

        if channel.on_close is not None:
            channel.on_close()
        channel.on_close = closed
        return session
