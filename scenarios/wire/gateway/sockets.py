"""The sockets: a listener for each broker, and for each connection a task that reads, and one that writes what the
kernel did not take at once. They turn bytes into inputs, and never touch the world."""

import errno
import os
import resource
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import trio
from attrs import define, field

from emulator.kernel.live import LiveWorld
from scenarios.errors import BadInput
from scenarios.wire.apis.base import Address
from scenarios.wire.inputs import Accepted, Closed, Frame
from scenarios.wire.live_inputs import LiveInputs

BACKLOG = 1024
FILES_OF_ITS_OWN = 100
"""More than the process opens besides its connections."""
MOST_CONNECTIONS = 4000
RECEIVE = 1 << 18
"""Bytes that are read at once."""
MOST_UNANSWERED = 16
"""Requests of a connection that are read ahead. Brokers read one at a time; a few more spare the clients that send many
at once a wait for the next turn, and no more fit into the memory of 1,000 connections."""
MOST_UNANSWERED_BYTES = 1 << 22
MOST_UNSENT = 1 << 20
"""Bytes of answers that wait for a client that does not read: beyond that none of its requests is read."""
_RESET = struct.pack("ii", 1, 0)
_SIZE = struct.Struct(">i")
_NOT_KAFKA = {b"GET ": "HTTP", b"POST": "HTTP", b"HEAD": "HTTP", b"PUT ": "HTTP", b"\x16\x03": "TLS"}
"""How what is not Kafka's protocol begins."""


def most_files() -> int:
    """How many files the process may open; first as many as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS + FILES_OF_ITS_OWN if soft == resource.RLIM_INFINITY else soft


@define(eq=False)
class Sockets:
    """All sockets of a run.

    Attributes:
        host: the address that the listeners have; ``advertised_host``: what clients get of it.
        addresses: of each broker.
        most_connections: all others are closed at once.
        most_bytes: the size of the largest request (socket.request.max.bytes).
        log: gets a line for each frame that was refused.
    """

    world: LiveWorld
    inputs: LiveInputs
    nursery: trio.Nursery
    host: str
    advertised_host: str
    most_bytes: int
    log: Callable[[str], object]
    addresses: dict[int, Address] = field(factory=dict)
    most_connections: int = MOST_CONNECTIONS
    open_connections: int = 0
    _new: dict[int, "SocketConnection"] = field(factory=dict)
    """The connections that the world does not know yet."""
    _reserved: list[socket.socket] = field(factory=list)
    _listeners: dict[int, trio.socket.SocketType] = field(factory=dict)
    _accepted: int = 0
    _spare: int = field(init=False)
    """A file that can be closed when no more can be opened; -1: it is closed."""

    def __attrs_post_init__(self) -> None:
        self._spare = os.open(os.devnull, os.O_RDONLY)
        self.most_connections = min(self.most_connections, most_files() - FILES_OF_ITS_OWN)

    def reserve(self, brokers: Mapping[int, int]) -> None:
        """Choose the ports of the brokers: broker -> port, 0 for any. They stay theirs while nothing listens.

        Raises: BadInput where a port is taken.
        """
        for broker, port in brokers.items():
            # First alone: sockets that share a port would also share it with another process of this user's.
            with self._bound(port, shared=False) as alone:
                free = alone.getsockname()[1]
            reserved = self._bound(free)
            self._reserved.append(reserved)
            self.addresses[broker] = self.advertised_host, reserved.getsockname()[1]

    def _bound(self, port: int, *, shared: bool = True) -> socket.socket:
        found = socket.socket(socket.AF_INET6 if ":" in self.host else socket.AF_INET)
        # Two sockets have each port: this one keeps it, and the listener, which comes and goes.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            found.bind((self.host, port))
        except OSError as error:
            found.close()
            raise BadInput(
                f"port {port} of {self.host} cannot be used ({error.strerror}); leave --port out for any free ports"
            ) from error
        return found

    def close(self) -> None:
        """Give the ports back."""
        for reserved in self._reserved:
            reserved.close()
        self._give_spare()

    def _give_spare(self) -> None:
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1

    # -- for the world ------------------------------------------------------------------------------------------------

    def outlet(self, connection: int) -> "SocketConnection":
        return self._new.pop(connection)

    def listen(self, broker: int) -> None:
        if broker in self._listeners:
            return
        try:
            bound = self._bound(self.addresses[broker][1])
            bound.listen(BACKLOG)
        except (BadInput, OSError) as error:
            self.log(f"broker {broker} cannot listen: {error}")
            return
        self._listeners[broker] = listener = trio.socket.from_stdlib_socket(bound)
        self.nursery.start_soon(self._accept, broker, listener)
        self.world.wake()

    def refuse(self, broker: int) -> None:
        listener = self._listeners.pop(broker, None)
        if listener is not None:
            listener.close()
            self.world.wake()

    # -- outside ------------------------------------------------------------------------------------------------------

    async def _accept(self, broker: int, listener: trio.socket.SocketType) -> None:
        while True:
            try:
                found = await self._next(broker, listener)
            except trio.ClosedResourceError:
                return  # the broker has gone
            if found is None:
                continue
            client, address = found
            if self.open_connections >= self.most_connections:
                self.log(f"{address[0]}:{address[1]} to broker {broker}: {self.open_connections} connections are open")
                client.close()
                continue
            self._accepted += 1
            plain = socket.socket(fileno=client.detach())
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = SocketConnection(self, self._accepted, plain, f"{address[0]}:{address[1]}")
            self._new[connection.number] = connection
            self.inputs.put(Accepted(connection.number, broker, connection.address))
            self.nursery.start_soon(connection.read)

    async def _next(self, broker: int, listener: trio.socket.SocketType) -> tuple[trio.socket.SocketType, Any] | None:
        """The next client, with its address. None: it has gone already, or was closed."""
        try:
            try:
                return await listener.accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    raise
                return await self._accepted_with_spare(broker, listener)
        except OSError:
            return None

    async def _accepted_with_spare(
        self, broker: int, listener: trio.socket.SocketType
    ) -> tuple[trio.socket.SocketType, Any] | None:
        """The next client, when no more files could be opened: accepted with a file that is kept for this. None: the
        client was closed at once, since there is still none but that."""
        self._give_spare()
        client, address = await listener.accept()
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
            return client, address
        except OSError:
            client.close()
            self._spare = os.open(os.devnull, os.O_RDONLY)
            self.log(f"broker {broker} cannot accept a connection: too many files are open (ulimit -n)")
            return None


@define(eq=False)
class SocketConnection:
    """One client's socket: the ``Outlet`` of its connection.

    Attributes:
        unanswered: the sizes of the requests that were read and not answered.
        unsent: what the socket has not taken yet.
        ended: the connection is over, but for what is unsent.
    """

    sockets: Sockets
    number: int
    plain: socket.socket
    address: str
    unanswered: deque[int] = field(factory=deque)
    unsent: bytearray = field(factory=bytearray)
    ended: bool = False
    _client: trio.socket.SocketType = field(init=False)
    _unanswered_bytes: int = 0
    _room: trio.Event | None = None
    """What the reader waits for, while there is too much that is unanswered or unsent."""

    def __attrs_post_init__(self) -> None:
        self._client = trio.socket.from_stdlib_socket(self.plain)
        self.sockets.open_connections += 1

    # -- for the world ------------------------------------------------------------------------------------------------

    def write(self, frame: bytes) -> None:
        self.handled()
        if self.ended:
            return
        size = _SIZE.pack(len(frame))
        sent = 0
        if not self.unsent:
            try:
                sent = self.plain.sendmsg((size, frame))
            except BlockingIOError:
                pass
            except OSError:
                return  # the client has gone: the reader finds out
        if sent < len(size) + len(frame):
            if not self.unsent:
                self.sockets.nursery.start_soon(self._send)
                self.sockets.world.wake()
            self.unsent += size[sent:]
            self.unsent += memoryview(frame)[max(0, sent - len(size)) :]

    def handled(self) -> None:
        if self.unanswered:
            self._unanswered_bytes -= self.unanswered.popleft()
        self._make_room()

    def end(self, *, reset: bool) -> None:
        if self.ended:
            return
        self.ended = True
        if reset:
            self.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        if reset or not self.unsent:
            self._close()
        self._make_room(always=True)

    # -- outside ------------------------------------------------------------------------------------------------------

    async def read(self) -> None:
        """Read frames until the connection ends. No error leaves it."""
        try:
            await self._read_frames()
        except (OSError, trio.ClosedResourceError):
            pass  # the client has reset the connection, or it was closed here
        except Exception as error:
            self.sockets.log(f"{self}: {type(error).__name__}: {error}; closed")
        finally:
            if not self.ended:
                self.ended = True
                self.sockets.inputs.put(Closed(self.number))
                self._close()

    async def _read_frames(self) -> None:
        buffer = bytearray()
        while await self._has_room():
            data = await self._client.recv(RECEIVE)
            if not data:
                return
            buffer += data
            if not self._take_frames(buffer):
                return

    async def _has_room(self) -> bool:
        """Wait while too much is unanswered or unsent. False: the connection has ended."""
        while self._is_full:
            self._room = trio.Event()
            await self._room.wait()
        return not self.ended

    def _take_frames(self, buffer: bytearray) -> bool:
        """Take the whole frames out of what was read. False: what comes is no frame."""
        at, end = 0, len(buffer)
        while end - at >= _SIZE.size:
            (size,) = _SIZE.unpack_from(buffer, at)
            if not 0 <= size <= self.sockets.most_bytes:
                self.sockets.log(f"{self}: {self._oversized(size, bytes(buffer[at : at + 4]))}; closed")
                return False
            first = at + _SIZE.size
            if end - first < size:
                break
            at = first + size
            self.unanswered.append(size)
            self._unanswered_bytes += size
            self.sockets.inputs.put(Frame(self.number, bytes(memoryview(buffer)[first:at])))
        del buffer[:at]
        return True

    def _oversized(self, size: int, read: bytes) -> str:
        other = _NOT_KAFKA.get(read) or _NOT_KAFKA.get(read[:2])
        if other is not None:
            return f"this is {other}, not Kafka's protocol without TLS"
        return f"a frame of {size} bytes, and at most {self.sockets.most_bytes} are allowed (socket.request.max.bytes)"

    async def _send(self) -> None:
        """Send what the socket did not take at once."""
        try:
            while self.unsent:
                sent = await self._client.send(self.unsent[:RECEIVE])
                del self.unsent[:sent]
                self._make_room()
        except (OSError, trio.ClosedResourceError):
            return
        if self.ended:
            self._close()

    @property
    def _is_full(self) -> bool:
        too_many = len(self.unanswered) >= MOST_UNANSWERED or self._unanswered_bytes >= MOST_UNANSWERED_BYTES
        return not self.ended and (too_many or len(self.unsent) >= MOST_UNSENT)

    def _make_room(self, *, always: bool = False) -> None:
        """Let the reader go on if it waits and may."""
        if self._room is not None and (always or not self._is_full):
            self._room.set()
            self._room = None
            self.sockets.world.wake()

    def _close(self) -> None:
        if self._client.fileno() != -1:
            self._client.close()
            self.sockets.open_connections -= 1
            self.sockets.world.wake()

    def __str__(self) -> str:
        return f"connection {self.number} from {self.address}"
