"""Operations over HTTP/1.1, for tests in any language: one port of this machine, JSON in and out, a token.

The protocol is h11's, which does no input and output of its own. There are no time limits: time is the cluster's. A
slow sender holds one of a few connections, and is closed when a new one needs its place.
"""

import hmac
import json
import secrets
import socket
from collections.abc import Callable
from typing import Any

import h11
import trio
from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.wire.control_routes import OPENAPI, AskedOverHttp, RefusedRequest, asked_for
from scenarios.wire.gateway.pending_operations import PendingOperations
from scenarios.wire.operations.performing import FAILED, LATE, Answer

LOOPBACK = "127.0.0.1"
MOST_HEAD, MOST_BODY = 1 << 14, 1 << 20
"""The most bytes of a request's line and headers, and of its body."""
MOST_CONNECTIONS = 64
MOST_AFTER = 1 << 20
"""The most bytes that are read and dropped after an answer that ends a connection: a client that is still sending would
otherwise lose the answer."""
LAST_TURNS = 100
"""How often the other tasks get their turn, for their last answers, before the run ends."""
_RECEIVE = 1 << 16
_STATUS = {LATE: 504, FAILED: 500}
JSON_TYPE = "application/json"


@frozen
class _Response:
    """Attributes:
    more: further headers.
    """

    status: int
    body: dict[str, Any]
    more: tuple[tuple[str, str], ...] = ()


@define(eq=False)
class _HttpConnection:
    """One client's connection.

    Attributes:
        scope: its task.
        performing: whether an operation of it is under way, or its answer is being sent.
    """

    stream: trio.socket.SocketType
    scope: trio.CancelScope = field(factory=trio.CancelScope)
    performing: bool = False
    protocol: h11.Connection = field(factory=lambda: h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD))

    async def next_event(self) -> Any:
        """The next part of a request. Raises: h11.RemoteProtocolError, OSError."""
        while True:
            event = self.protocol.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self.protocol.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[]))
            self.protocol.receive_data(await self.stream.recv(_RECEIVE))

    async def body(self) -> bytes:
        """The body of the request that has begun. Raises: RefusedRequest, and as ``next_event``."""
        found = bytearray()
        while isinstance(event := await self.next_event(), h11.Data):
            found += event.data
            if len(found) > MOST_BODY:
                raise RefusedRequest(413, f"a body has at most {MOST_BODY} bytes; leave some out")
        return bytes(found)

    async def respond(self, response: _Response, *, head: bool, ends: bool = False) -> None:
        """Send a response. ``head``: without its body; ``ends``: the connection ends with it."""
        data = json.dumps(response.body).encode() + b"\n"
        headers = [("Content-Type", JSON_TYPE), ("Content-Length", str(len(data))), *response.more]
        headers += [("Connection", "close")] if ends else []
        await self.send(h11.Response(status_code=response.status, headers=headers))
        if not head:
            await self.send(h11.Data(data=data))
        await self.send(h11.EndOfMessage())

    async def send(self, event: Any) -> None:
        data = self.protocol.send(event) or b""
        while data:
            data = data[await self.stream.send(data) :]

    async def finish(self) -> None:
        """Let the client read what was sent: drop what it is still sending."""
        self.stream.shutdown(trio.socket.SHUT_WR)
        left = MOST_AFTER
        while left > 0 and (data := await self.stream.recv(_RECEIVE)):
            left -= len(data)


@define(eq=False)
class HttpControl:
    """Listens from its creation on, and serves in ``serve``.

    Attributes:
        port: the port; at first 0 for any.
        token: what a request has to have in its header ``Authorization: Bearer ...``.
        most_connections: the most connections at once.
    """

    port: int
    operations: PendingOperations
    log: Callable[[str], object]
    token: str = field(factory=lambda: secrets.token_urlsafe(24))
    most_connections: int = MOST_CONNECTIONS
    _listener: trio.socket.SocketType = field(init=False)
    _open: dict[_HttpConnection, None] = field(factory=dict)
    """The connections, the one that has been silent for the longest first."""

    def __attrs_post_init__(self) -> None:
        listener = socket.socket(socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOOPBACK, self.port))
        except OSError as error:
            listener.close()
            what = f"port {self.port} of {LOOPBACK} cannot be used ({error.strerror}); write 0 for any free one"
            raise BadInput(what, where="--control-port") from error
        listener.listen()
        self.port = listener.getsockname()[1]
        self._listener = trio.socket.from_stdlib_socket(listener)

    @property
    def url(self) -> str:
        """The address, to which a path is added."""
        return f"http://{LOOPBACK}:{self.port}"

    async def finish(self) -> None:
        """Let the answers leave that the end of the run has left, such as that to ``stop``."""
        for _ in range(LAST_TURNS):
            if not any(connection.performing for connection in self._open):
                return
            await trio.sleep(0)  # noqa: ASYNC115  # trio.lowlevel stays in the kernel

    def close(self) -> None:
        """Listen no more."""
        self._listener.close()

    async def serve(self) -> None:
        """Answer clients, each as long as it stays connected."""
        async with trio.open_nursery() as clients:
            while True:
                try:
                    client, _ = await self._listener.accept()
                except (trio.ClosedResourceError, OSError):
                    return
                self._make_room()
                connection = _HttpConnection(client)
                self._open[connection] = None
                clients.start_soon(self._talk, connection)

    def _make_room(self) -> None:
        """Close the connection that has been silent for the longest, of those without an operation under way, if there
        are as many as there may be."""
        idle = [connection for connection in self._open if not connection.performing]
        if len(self._open) >= self.most_connections and idle:
            self._open.pop(idle[0])
            idle[0].scope.cancel()

    async def _talk(self, connection: _HttpConnection) -> None:
        with connection.scope, connection.stream:
            try:
                if len(self._open) > self.most_connections:
                    busy = {"error": f"{self.most_connections} operations are under way; try again"}
                    await connection.respond(_Response(503, busy), head=False, ends=True)
                while await self._answer_next(connection):
                    connection.protocol.start_next_cycle()
                await connection.finish()
            except OSError:
                pass  # the client has gone
            except Exception as error:
                self.log(f"a connection over HTTP: {type(error).__name__}: {error}; closed")
        self._open.pop(connection, None)

    async def _answer_next(self, connection: _HttpConnection) -> bool:
        """Answer the next request. False: it was the last one."""
        request, ends = None, False
        try:
            request = await connection.next_event()
            if not isinstance(request, h11.Request):
                return False
            self._open.pop(connection, None)
            self._open[connection] = None
            response = await self._response(connection, request)
        except RefusedRequest as refused:
            more = (("Allow", refused.allow),) if refused.allow else ()
            response, ends = _Response(refused.status, {"error": str(refused)}, more), refused.status == 413
        except h11.RemoteProtocolError as error:
            if connection.protocol.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
                return False
            response, ends = _Response(error.error_status_hint, {"error": f"this is no HTTP/1.1 ({error})"}), True
        head = isinstance(request, h11.Request) and request.method == b"HEAD"
        await connection.respond(response, head=head, ends=ends)
        connection.performing = False
        return connection.protocol.our_state is h11.DONE and connection.protocol.their_state is h11.DONE

    async def _response(self, connection: _HttpConnection, request: h11.Request) -> _Response:
        """Raises: RefusedRequest, h11.RemoteProtocolError, OSError."""
        body = await connection.body()
        method, target = request.method.decode("ascii"), request.target.decode("ascii")
        if (method, target) == ("GET", OPENAPI):
            from scenarios.wire.control_openapi import description  # few ask for it, and it looks at all actions

            return _Response(200, description())
        if not self._may(request):
            what = (
                "the token is missing or wrong; write the header Authorization: Bearer TOKEN, which serve has printed"
            )
            return _Response(401, {"error": what}, (("WWW-Authenticate", "Bearer"),))
        asked = asked_for(method, target, body)
        connection.performing = True
        try:
            answer = await self.operations.perform(asked.operation)
        except BadInput as error:
            answer = {"error": str(error)}
        return _Response(_status(asked, answer), answer)

    def _may(self, request: h11.Request) -> bool:
        given = [value for name, value in request.headers if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], f"Bearer {self.token}".encode())


def _status(asked: AskedOverHttp, answer: Answer) -> int:
    if "error" not in answer:
        return 200
    return _STATUS.get(answer.get("why", ""), asked.wrong)
