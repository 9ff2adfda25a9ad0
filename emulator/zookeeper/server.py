"""The ensemble as its clients see it: one linearizable server that never fails by itself."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network.endpoint import Endpoint
from emulator.nodes import Process
from emulator.trace.events import ZkSession
from emulator.zookeeper.database import Database
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
    Response,
    SetData,
    SetWatches,
    WatchEvent,
)
from emulator.zookeeper.sessions import Session, Sessions
from emulator.zookeeper.spec import SIZE, ZOOKEEPER, ZkSpec

_WRITES = (SetData, Create, Delete, Multi)


@define(eq=False)
class Connection:
    """A client's connection. Its watches live and die with it; its session may outlive it."""

    server: "Server"
    endpoint: Endpoint
    session: Session | None = None

    def receive(self, message: Any) -> None:
        session = self.session
        kind = message.__class__
        if session is None:
            if kind is Connect:
                self.server.connect(self, message.session_id)
            return
        session.heard_us = self.endpoint.world.now
        if kind is Ask:
            self.server.queue(self, message)
        elif kind is Ping:
            self.endpoint.send(Pong(self.server.database.zxid), SIZE, background=True)
        elif kind is SetWatches:
            self.server.database.set_watches(message, self)
        elif kind is CloseSession:
            self.server.queue(self, message)

    def notify(self, event: WatchEvent) -> None:
        self.endpoint.send(event, SIZE)

    def closed(self, _reason: str) -> None:
        """The connection is gone; the session waits for its client until it expires."""
        self.server.database.watches.forget(self)
        if self.session is not None and self.session.connection is self:
            self.session.connection = None

    def close(self) -> None:
        """Hang up."""
        self.endpoint.close()
        self.closed("closed")


@define(eq=False)
class Server:
    """Sessions, and one queue for everything that they ask. Answers leave a connection in the order of its
    requests, and a notification before any answer that knows of the change it announces.

    ``hooks`` are told of each request that has been done: its client, itself, and its answer before that is sent."""

    process: Process
    spec: ZkSpec
    hooks: list[Callable[[int, Request, Response], object]] = field(factory=list)
    database: Database = field(init=False)
    sessions: Sessions = field(init=False)
    _free_at_us: int = 0

    def __attrs_post_init__(self) -> None:
        self.database = Database(self.process)
        self.sessions = Sessions(self.process, self.spec, self.expire)

    def accept(self, endpoint: Endpoint) -> None:
        connection = Connection(self, endpoint)
        endpoint.receive = connection.receive
        endpoint.closed = connection.closed

    # -- sessions --------------------------------------------------------------------------------------------

    def connect(self, connection: Connection, session_id: int) -> None:
        """A client begins a session, or comes back to the one it has. A session that is gone stays gone."""
        if session_id == 0:
            session = self.sessions.open(connection.endpoint.out.target.id)
            self.database.zxid += 1
            self.process.anchor(ZkSession, session.client, session.id, "created")
        else:
            found = self.sessions.living.get(session_id)
            if found is None:
                connection.endpoint.send(Connected(0), SIZE)
                connection.close()
                return
            session = found
            if session.connection is not None:
                session.connection.close()
            session.heard_us = self.process.world.now
        session.connection = connection
        connection.session = session
        connection.endpoint.send(Connected(session.id), SIZE)

    def expire(self, session: Session) -> None:
        """The client was silent for too long. It learns of that when it comes back."""
        self._end(session, "expired", ZOOKEEPER)

    def _end(self, session: Session, state: str, writer: int) -> None:
        """Take away the session, its ephemerals and its connection, in this order."""
        trace = self.process.node.trace
        cause = trace.cause
        self.sessions.end(session)
        self.process.anchor(ZkSession, session.client, session.id, state)
        self.database.remove_ephemerals(session.id, writer)
        if session.connection is not None:
            session.connection.close()
        trace.cause = cause

    # -- requests --------------------------------------------------------------------------------------------

    def queue(self, connection: Connection, message: Ask | CloseSession) -> None:
        """Do what is asked when everything before it is done."""
        now = self.process.world.now
        start = self._free_at_us if self._free_at_us > now else now
        if self.spec.write_us and message.__class__ is Ask and isinstance(message.request, _WRITES):
            start += self.spec.write_us
            self._free_at_us = start
        if start == now:
            self._handle((connection, message, 0))
        else:
            item = (connection, message, self.process.node.trace.cause)
            self.process.call_later(start - now, self._resume, item, background=False)

    def _resume(self, item: tuple[Connection, Ask | CloseSession, int]) -> None:
        self.process.node.trace.cause = item[2]
        self._handle(item)

    def _handle(self, item: tuple[Connection, Ask | CloseSession, int]) -> None:
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
