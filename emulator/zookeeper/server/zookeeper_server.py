"""One linearizable server that never fails by itself: sessions, their expiry, and the queue of their requests."""

from collections.abc import Callable, Container
from typing import Any, Protocol

from attrs import define, field

from emulator.kernel import Timer
from emulator.network.endpoint import Endpoint
from emulator.nodes import Process
from emulator.trace.events import ZkSession
from emulator.trace.shown_znodes import ZkAsked
from emulator.zookeeper.messages import (
    Ask,
    CloseSession,
    Connect,
    Connected,
    Create,
    Delete,
    Multi,
    Ping,
    Pong,
    Request,
    SetData,
    SetWatches,
    WatchEvent,
    ZkResponse,
)
from emulator.zookeeper.server.database import Database
from emulator.zookeeper.spec import SIZE, ZOOKEEPER, ZkSpec

_WRITES = (SetData, Create, Delete, Multi)


class Pings(Protocol):
    """The pings of a session, while they are not simulated (``emulator.zookeeper.client.idle_session``)."""

    @property
    def arrived_us(self) -> int:
        """The time at which the last ping arrived, as of the last ``look``."""

    def look(self) -> None: ...
    def rouse(self) -> None: ...
    def arrival_between(self) -> tuple[int, int]:
        """The earliest and the latest time at which the last ping may have arrived. Cheaper than ``look``."""


@define(eq=False)
class Session:
    """One session.

    Attributes:
        client: the id of the machine that it belongs to.
        timeout_us: the silence after which it expires.
        heard_us: the time when the server last received a message from it.
        connection: its current connection; None while it has none.
        pings: its client's pings, while they are not simulated.
    """

    id: int
    client: int
    timeout_us: int
    heard_us: int
    connection: "ServerCnxn | None" = None
    timer: Timer | None = None
    pings: "Pings | None" = None

    def catch_up(self) -> None:
        """Bring ``heard_us`` up to now."""
        if self.pings is not None:
            self.pings.look()
            self.heard_us = max(self.heard_us, self.pings.arrived_us)

    @property
    def is_expiring(self) -> bool:
        """Whether its client cannot keep it alive at the moment, so that it will expire or be resumed."""
        return self.connection is None or not self.connection.can_be_heard


@define(eq=False)
class SessionTracker:
    """The sessions that have not ended, by id.

    Attributes:
        expire: called with a session that was silent for its timeout, at the next tick.
    """

    process: Process
    spec: ZkSpec
    expire: Callable[[Session], object]
    living: dict[int, Session] = field(factory=dict)
    _last: int = 0

    def open(self, client: int, timeout_us: int) -> Session:
        """Begin a session. Ids count up: no two sessions of a run have the same."""
        self._last += 1
        session = self.living[self._last] = Session(self._last, client, timeout_us, self.process.world.now)
        self._arm(session)
        return session

    def end(self, session: Session) -> None:
        """Remove a session that was closed or has expired."""
        del self.living[session.id]
        if session.timer is not None:
            session.timer.cancel()

    def stop_clock(self) -> None:
        """Let no session expire until ``start_clock``."""
        for session in self.living.values():
            if session.timer is not None:
                session.timer.cancel()

    def start_clock(self) -> None:
        """Let each session expire after a whole timeout of silence from now on."""
        for session in self.living.values():
            session.heard_us = self.process.world.now
            self._arm(session)

    def newest(self, client: int) -> Session | None:
        """The last session that machine ``client`` opened, unless it has ended."""
        for session in reversed(self.living.values()):
            if session.client == client:
                return session
        return None

    def _due_us(self, session: Session) -> int:
        pings = session.pings
        if pings is None:
            return self._tick_after(session.heard_us + session.timeout_us)
        earliest_us, latest_us = (self._tick_after(at_us + session.timeout_us) for at_us in pings.arrival_between())
        if earliest_us == latest_us:
            return earliest_us  # nearly always: a ping arrives within 200 us, and a tick takes two seconds
        session.catch_up()
        return self._tick_after(session.heard_us + session.timeout_us)

    def _tick_after(self, silent_us: int) -> int:
        tick, phase = self.spec.tick_us, self.spec.tick_phase_us
        return ((silent_us - phase) // tick + 1) * tick + phase

    def _arm(self, session: Session) -> None:
        delay = self._due_us(session) - self.process.world.now
        session.timer = self.process.call_later(delay, self._look, session)

    def _look(self, session: Session) -> None:
        # One timer per session, moved lazily: an arriving message only updates ``heard_us``.
        if self._due_us(session) > self.process.world.now:
            self._arm(session)
        else:
            self.expire(session)


@define(eq=False)
class ServerCnxn:
    """A client's connection. Its watches end with it; its session may outlive it."""

    server: "ZooKeeperServer"
    endpoint: Endpoint
    session: Session | None = None
    asked: int = -1
    """The number of the last request; -1: none came."""

    def receive(self, message: Any) -> None:
        session = self.session
        kind = message.__class__
        if session is None:
            if kind is Connect:
                self.server.connect(self, message)
            return
        session.heard_us = self.endpoint.world.now
        if kind is Ask:
            process = self.server.process
            if message.number >= 0 and process.node.trace.shows(ZkAsked):
                process.show(ZkAsked, session.client, session.id, message.number, self.asked)
            self.asked = message.number
            self.server.queue(self, message)
        elif kind is Ping:
            self.endpoint.send(Pong(self.server.database.zxid), SIZE, background=True)
        elif kind is SetWatches:
            self.server.database.set_watches(message, self)
        elif kind is CloseSession:
            self.server.queue(self, message)

    @property
    def can_be_heard(self) -> bool:
        """Whether the client at the other end can send something and receive the answer."""
        client = self.endpoint.peer
        assert client is not None
        cut = self.endpoint.out.cut or client.out.cut
        return client.process.alive and not client.process.suspended and not cut

    @property
    def watched(self) -> Container[str]:
        """The paths of its watches."""
        return self.server.database.watches.paths(self)

    def _rouse(self) -> None:
        if self.session is not None and self.session.pings is not None:
            self.session.pings.rouse()

    def notify(self, event: WatchEvent) -> None:
        self._rouse()
        self.endpoint.send(event, SIZE)

    def closed(self, _reason: str) -> None:
        """The connection is gone; the session continues until it expires or its client reconnects."""
        self.server.database.watches.forget(self)
        if self.session is not None and self.session.connection is self:
            self.session.connection = None

    def close(self) -> None:
        """Close the connection from this end."""
        self._rouse()
        self.endpoint.close()
        self.closed("closed")


@define(eq=False)
class ZooKeeperServer:
    """Sessions, and one queue for all their requests. Answers leave a connection in the order of its requests, and a
    notification leaves before any answer that reflects the change it announces.

    Attributes:
        hooks: called after each request with its client's machine id, the request, and the answer before it is sent.
    """

    process: Process
    spec: ZkSpec
    hooks: list[Callable[[int, Request, ZkResponse], object]] = field(factory=list)
    database: Database = field(init=False)
    sessions: SessionTracker = field(init=False)
    _free_at_us: int = 0
    _stops: int = 0

    def __attrs_post_init__(self) -> None:
        self.database = Database(self.process)
        self.sessions = SessionTracker(self.process, self.spec, self.expire)

    def accept(self, endpoint: Endpoint) -> None:
        connection = ServerCnxn(self, endpoint)
        endpoint.owner = connection
        endpoint.receive = connection.receive
        endpoint.closed = connection.closed

    def stop(self) -> None:
        """Close every connection, forget the requests that wait, and keep the sessions as they are."""
        self._stops += 1
        for endpoint in list(self.process.endpoints):
            connection: ServerCnxn = endpoint.owner  # type: ignore[attr-defined]
            connection.close()
        self.sessions.stop_clock()

    def start_again(self) -> None:
        """Go on with the sessions as they are."""
        self.sessions.start_clock()

    # -- sessions --------------------------------------------------------------------------------------------

    def connect(self, connection: ServerCnxn, wanted: Connect) -> None:
        """Begin a session for a client (``session_id`` 0), or resume the one it had, if that has not ended."""
        timeout_us = wanted.timeout_us or self.spec.session_timeout_us
        if wanted.session_id == 0:
            session = self.sessions.open(connection.endpoint.out.target.id, timeout_us)
            self.database.zxid += 1
            self.process.anchor(ZkSession, session.client, session.id, "created")
        else:
            found = self.sessions.living.get(wanted.session_id)
            if found is None:
                connection.endpoint.send(Connected(0), SIZE)
                connection.close()
                return
            session = found
            if session.connection is not None:
                session.connection.close()
            session.heard_us, session.timeout_us = self.process.world.now, timeout_us
        session.connection = connection
        connection.session = session
        connection.endpoint.send(Connected(session.id), SIZE)

    def expire(self, session: Session) -> None:
        """End a session whose client was silent for too long. The client learns it when it reconnects."""
        self._end(session, "expired", ZOOKEEPER)

    def _end(self, session: Session, state: str, writer: int) -> None:
        """Remove the session, its ephemerals and its connection, in this order."""
        trace = self.process.node.trace
        cause = trace.cause
        self.sessions.end(session)
        self.process.anchor(ZkSession, session.client, session.id, state)
        self.database.remove_ephemerals(session.id, writer)
        if session.connection is not None:
            session.connection.close()
        trace.cause = cause

    # -- requests --------------------------------------------------------------------------------------------

    def queue(self, connection: ServerCnxn, message: Ask | CloseSession) -> None:
        """Queue a request, which is done after every earlier one."""
        now = self.process.world.now
        start = self._free_at_us if self._free_at_us > now else now
        if (self.spec.write_us or self.spec.read_us) and message.__class__ is Ask:
            start += self.spec.write_us if isinstance(message.request, _WRITES) else self.spec.read_us
            self._free_at_us = start
        if start == now:
            self._handle((connection, message, 0))
        else:
            item = (connection, message, self.process.node.trace.cause)
            self.process.call_later(start - now, self._resume, (item, self._stops), background=False)

    def _resume(self, waiting: tuple[tuple[ServerCnxn, Ask | CloseSession, int], int]) -> None:
        item, stops = waiting
        self.process.node.trace.cause = item[2]
        if stops == self._stops:
            self._handle(item)

    def _handle(self, item: tuple[ServerCnxn, Ask | CloseSession, int]) -> None:
        connection, message, _ = item
        session = connection.session
        assert session is not None
        if session.id not in self.sessions.living:
            return
        if isinstance(message, CloseSession):
            self._end(session, "closed", session.client)
            return
        watcher = connection if message.watch and not connection.endpoint.done else None
        response = self.database.answer(message.request, watcher, session.client, session.id)
        for hook in self.hooks:
            hook(session.client, message.request, response)
        connection.endpoint.send(response, SIZE)
