"""The client's side of a session: one connection at a time, pings, reconnection, requests sent again.

The rules are those of ZooKeeper's ClientCnxn under Kafka's ZooKeeperClient (kafka-behaviour §1): requests in
flight when a connection is lost are sent again on the next one, so a write may have been done although its first
attempt failed.
"""

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.kernel import Signal, Timer, World
from emulator.network import Network
from emulator.network.endpoint import Endpoint
from emulator.nodes import Process
from emulator.streams import Stream
from emulator.trace import Trace
from emulator.zookeeper.client.handlers import Handlers
from emulator.zookeeper.client.idle_session import IdleSession, park
from emulator.zookeeper.messages import Ask, CloseSession, Connect, Connected, Ping, Request, WatchEvent, ZkResponse
from emulator.zookeeper.spec import PORT, SIZE, ZOOKEEPER, ZkSpec, lay_routes
from emulator.zookeeper.zk_errors import ZkCode

Done = Callable[[ZkResponse], object]

_NEVER = 1 << 62


@define(eq=False)
class _Call:
    """A request that waits for its answer, the trace event that caused it, and its place among all of its client."""

    request: Request
    done: Done
    cause: int
    number: int
    watch: bool = False


def _nothing() -> None:
    """The default callback of session changes: it does nothing."""


@define(eq=False, repr=False)
class ClientCnxn:
    """One process's ZooKeeper session.

    Attributes:
        session_id: 0 before the first session and after an expiry.
        connected: a connection is up and the server has accepted the session.
        expired: the session is gone and ``reopen`` has not been called yet.
        on_expired, on_connected, on_disconnected: called as events of the process; ``on_connected`` at every
            (re)connection, before waiting tasks continue.
    """

    _network: Network
    _process: Process
    _spec: ZkSpec
    session_id: int = field(default=0, init=False)
    connected: bool = field(default=False, init=False)
    expired: bool = field(default=False, init=False)
    on_expired: Callable[[], object] = field(default=_nothing, init=False)
    on_connected: Callable[[], object] = field(default=_nothing, init=False)
    on_disconnected: Callable[[], object] = field(default=_nothing, init=False)
    _trace: Trace = field(init=False)
    _world: World = field(init=False)
    _stream: Stream = field(init=False)
    _handlers: Handlers = field(factory=Handlers, init=False)
    _queue: deque[_Call] = field(factory=deque, init=False)
    _in_flight: deque[_Call] = field(factory=deque, init=False)
    _up: Signal = field(init=False)
    _endpoint: Endpoint | None = field(default=None, init=False)
    _timer: Timer | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)
    _submitted: int = field(default=0, init=False)
    _sent_us: int = field(default=0, init=False)
    _heard_us: int = field(default=0, init=False)
    _zxid: int = field(default=0, init=False)
    _rank: int = field(init=False)
    _pings: IdleSession | None = field(default=None, init=False)
    _first_ping_us: int = field(default=_NEVER, init=False)
    """The time of the process's first ping, whatever it sent before, if the process keeps the instants of one that has
    started earlier (``Process.phase_us``)."""

    def __attrs_post_init__(self) -> None:
        process = self._process
        self._trace = process.node.trace
        self._world = process.world
        self._rank = process.world.line()
        self._stream = process.world.stream("zookeeper", f"{process.name}.{process.number}")
        self._up = Signal(self._world, f"ZooKeeper session of {process.name}")
        if process.phase_us:
            self._first_ping_us = self._world.now + process.until_tick(self._third_us)

    @property
    def _third_us(self) -> int:
        return self._spec.session_timeout_us // 3

    # -- asking ----------------------------------------------------------------------------------------------

    def submit(self, request: Request, done: Done) -> None:
        """Send ``request``, in the order of submission. ``done`` is called with the answer once, as an event of
        the process.

        Requests wait while the connection is down. If the session has expired, the answer is SESSION_EXPIRED.
        """
        if not self._process.alive:
            self._process.check_alive()
        if self._pings is not None:
            self._pings.rouse()
        call = _Call(request, done, self._trace.cause, self._submitted)
        self._submitted += 1
        if self.expired or self._closed:
            self._refuse([call])
        elif self.connected and not self._queue and len(self._in_flight) < self._spec.max_in_flight:
            self._send(call)
        else:
            self._queue.append(call)

    def _send(self, call: _Call) -> None:
        self._in_flight.append(call)
        call.watch = self._handlers.wants(call.request)
        self._sent_us = self._world.now
        assert self._endpoint is not None
        self._endpoint.send(Ask(call.request, call.watch, call.number), SIZE)

    def _pump(self) -> None:
        """Send queued requests, up to the limit in flight."""
        cause = self._trace.cause
        while self._queue and self.connected and len(self._in_flight) < self._spec.max_in_flight:
            call = self._queue.popleft()
            self._trace.cause = call.cause
            self._send(call)
        self._trace.cause = cause

    def _refuse(self, calls: list[_Call]) -> None:
        """Answer ``calls`` with SESSION_EXPIRED, in an event of its own."""
        for call in calls:
            response = ZkResponse(ZkCode.SESSION_EXPIRED, call.request.path, cause=call.cause)
            self._process.call_later(0, self._refused, (call, response), background=False)

    def _refused(self, refusal: tuple[_Call, ZkResponse]) -> None:
        call, response = refusal
        self._trace.cause = response.cause
        call.done(response)

    # -- the connection --------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Wait until there is a session and a connection; retries without limit."""
        self.expired = self._closed = False
        if self._endpoint is None and self._timer is None:
            self._open()
        await self.wait_until_connected()

    async def wait_until_connected(self) -> None:
        """Wait for a session and a connection, which another task opens."""
        while not self.connected:
            await self._up.wait()

    async def reopen(self) -> None:
        """Begin a new session after the old one expired; retries without limit. No watch is armed in it."""
        await self.connect()

    def close(self) -> None:
        """End the session. The server deletes its ephemerals when it receives the message (at the timeout, if the
        connection is down). Requests without an answer get SESSION_EXPIRED."""
        self._rouse()
        if self._endpoint is not None:
            if self.connected:
                self._endpoint.send(CloseSession(), SIZE)
            self._endpoint.close()
        self._closed = True
        self._refuse(self._forget())

    def _open(self, _: Any = None) -> None:
        lay_routes(self._network, self._process.node.id, self._spec)
        self._heard_us = self._sent_us = self._world.now
        self._endpoint = endpoint = self._network.connect(self._process, ZOOKEEPER, PORT, self._receive, self._lost)
        endpoint.send(Connect(self.session_id), SIZE)
        self._watch()

    def _receive(self, message: Any) -> None:
        if self._pings is not None:
            self._pings.rouse()
        self._heard_us = self._world.now
        kind = message.__class__
        if kind is ZkResponse:
            self._zxid = message.zxid
            call = self._in_flight.popleft()
            if call.watch:
                self._handlers.armed(call.request, message)
            call.done(message)
            if self._queue:
                self._pump()
        elif kind is WatchEvent:
            self._handlers.fired(message)
        elif kind is Connected:
            if message.session_id:
                self._established(message.session_id)
            else:
                self._expire()
        else:
            self._zxid = message.zxid

    def _established(self, session_id: int) -> None:
        self.session_id = session_id
        self.connected = True
        watches = self._handlers.to_arm_again(self._zxid)
        if watches is not None:
            assert self._endpoint is not None
            self._endpoint.send(watches, SIZE)
        self.on_connected()
        self._up.set()
        self._pump()

    def _lost(self, _reason: str) -> None:
        """The connection is gone. Connect again after a pause; requests that were in flight are sent again first."""
        was_connected = self._hang_up()
        self._queue.extendleft(reversed(self._in_flight))
        self._in_flight.clear()
        pause = self._spec.retry_min_us
        pause += self._stream.below(max(1, self._spec.retry_max_us - pause))
        self._timer = self._process.call_later(pause, self._open)
        if was_connected:
            self.on_disconnected()

    def _expire(self) -> None:
        """The server has answered that the session is gone."""
        if self._endpoint is not None:
            self._endpoint.close()
        calls = self._forget()
        self.expired = True
        self.on_expired()
        self._refuse(calls)

    def _forget(self) -> list[_Call]:
        """Drop the connection and the session. Returns the calls that will not be answered."""
        calls = [*self._in_flight, *self._queue]
        self._in_flight.clear()
        self._queue.clear()
        self._hang_up()
        self._handlers.disarm()
        self.session_id = 0
        self._zxid = 0
        return calls

    def _hang_up(self) -> bool:
        self._rouse()
        was_connected, self.connected = self.connected, False
        self._endpoint = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._up.is_set:
            self._up = Signal(self._world, self._up.name)
        return was_connected

    # -- staying alive ---------------------------------------------------------------------------------------

    def _watch(self, _: Any = None) -> None:
        """Ping after a third of the timeout in silence; close the connection after two thirds without an answer.

        One timer, moved lazily, does both: a busy session costs nothing, an idle one two messages per third.
        """
        now = self._world.now
        third = self._third_us
        endpoint = self._endpoint
        assert endpoint is not None
        silent_us = third * 2 if self.connected else third
        if now - self._heard_us >= silent_us:
            endpoint.close("timed out")
            self._lost("timed out")
            return
        first = now >= self._first_ping_us
        if first:
            self._first_ping_us = _NEVER
        if self.connected and (first or now - self._sent_us >= third):
            self._sent_us = now
            idle = not self._in_flight and now - self._heard_us <= third
            self._pings = park(self, endpoint, third, self._rank) if idle else None
            if self._pings is not None:
                return
            endpoint.send(Ping(), SIZE, background=True)
        due_us = min(self._sent_us + third, self._heard_us + silent_us, self._first_ping_us)
        self._timer = self._process.timer_in_line(self._rank, max(due_us - now, 1), self._watch)

    def _rouse(self) -> None:
        """Rouse the parked pings, because something else happens in the session."""
        if self._pings is not None:
            self._pings.rouse()

    def pinged(self, sent_us: int, heard_us: int, zxid: int) -> None:
        """Take note of pings that were sent without being simulated: the last one at ``sent_us``. The last answer came
        at ``heard_us`` (-1: none did), with ``zxid``."""
        self._pings = None
        self._sent_us = sent_us
        if heard_us >= 0:
            self._heard_us, self._zxid = heard_us, zxid
        self._timer = self._process.timer_in_line(self._rank, self._third_us, self._watch, sent_us)
