"""The sockets: a listener for each broker, and the connections. They turn bytes into inputs, and never touch the
world."""

import errno
import os
import resource
import socket
import struct
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field

from emulator.zookeeper import ZOOKEEPER
from scenarios.errors import BadInput
from scenarios.wire.apis.base import Address
from scenarios.wire.gateway.readiness import READ, WRITE, Readiness
from scenarios.wire.inputs import PLAINTEXT, Accepted, Closed, Frame
from scenarios.wire.live_inputs import LiveInputs

if TYPE_CHECKING:
    from scenarios.wire.gateway.secured_listener import SecuredListener

BACKLOG = 1024
FILES_OF_ITS_OWN = 100
"""The most files that the process opens besides its sockets."""
MOST_CONNECTIONS = 4000
LEAST_CONNECTIONS = 16
"""The least number of connections for a cluster to be served: a producer with its tools has some for each broker."""
RECEIVE = 1 << 18
"""The bytes that are read at once."""
MOST_UNANSWERED = 16
"""The number of requests of a connection that are read ahead. Brokers read one at a time. A few more save the clients
that send many at once a wait for the next turn, and no more fit into the memory of 1,000 connections."""
MOST_UNANSWERED_BYTES = 1 << 22
MOST_UNFINISHED = 1 << 28
"""The most bytes of requests that all connections together have begun to send: two of the largest, and a rest. Beyond
that the connection with the most is closed."""
MOST_UNSENT = 1 << 20
"""The most bytes of answers that wait for a client that does not read: beyond that none of its requests is read."""
_RESET = struct.pack("ii", 1, 0)
_SIZE = struct.Struct(">i")
_NOT_KAFKA = {b"GET ": "HTTP", b"POST": "HTTP", b"HEAD": "HTTP", b"PUT ": "HTTP", b"\x16\x03": "TLS"}
"""The first bytes of other protocols, which are not Kafka's."""


class Protocol(NamedTuple):
    """The protocol of a socket.

    Attributes:
        most_bytes: the size of the largest request.
        setting: the name of the setting of that size.
    """

    name: str
    most_bytes: int
    setting: str


KAFKA = Protocol("Kafka's protocol", 104_857_600, "socket.request.max.bytes")
SASL = Protocol("Kafka's protocol", 524_288, "sasl.server.max.receive.size")
"""Kafka's protocol before a client has logged in (SaslServerAuthenticator.MAX_RECEIVE_SIZE; a setting since 2.8.2)."""
JUTE = Protocol("ZooKeeper's protocol", 0xFFFFF, "jute.maxbuffer")


def most_files() -> int:
    """The number of files that the process may open; it first raises its limit as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS + FILES_OF_ITS_OWN if soft == resource.RLIM_INFINITY else soft


def files_without_clients(brokers: int, listeners: int = 1) -> int:
    """The number of open files in a cluster without clients: each listener of a broker, and ZooKeeper, have two
    sockets."""
    return FILES_OF_ITS_OWN + 2 * (brokers * listeners + 1)


def check_can_serve(brokers: int, listeners: int = 1) -> None:
    """Refuse to serve a cluster that would have to refuse its clients one by one. Raises: BadInput."""
    allowed, needed = most_files(), files_without_clients(brokers, listeners) + LEAST_CONNECTIONS
    if allowed < needed:
        raise BadInput(
            f"this process may open {allowed} files, and a cluster of {brokers} with {LEAST_CONNECTIONS} connections "
            f"needs {needed}; raise the limit: ulimit -n {needed}"
        )


@define(eq=False)
class Sockets:
    """All sockets of a run.

    Attributes:
        brokers: the number of brokers.
        host: the address of the listeners; ``advertised_host``: the host that clients are given.
        advertised: the address that clients are given, of each broker that has another one.
        addresses: the address of each broker, and of ZooKeeper, as clients are given it.
        ports: the port at which each of them listens, without security.
        secured: the other listeners of each broker.
        received: the memory into which all connections read. A buffer for each read would take longer than the read.
        most_connections: the most connections; all others are closed at once.
        most_unfinished: see ``MOST_UNFINISHED``; ``unfinished``: the bytes that there are.
        log: called with a line for each refused frame.
    """

    inputs: LiveInputs
    readiness: Readiness
    host: str
    advertised_host: str
    log: Callable[[str], object]
    brokers: int
    advertised: Mapping[int, Address] = field(factory=dict)
    addresses: dict[int, Address] = field(factory=dict)
    ports: dict[int, int] = field(factory=dict)
    secured: "Sequence[SecuredListener]" = ()
    received: memoryview = field(factory=lambda: memoryview(bytearray(RECEIVE)))
    most_connections: int = MOST_CONNECTIONS
    most_unfinished: int = MOST_UNFINISHED
    unfinished: int = 0
    _open: dict[int, "SocketConnection"] = field(factory=dict)
    _new: dict[int, "SocketConnection"] = field(factory=dict)
    """The connections that the world does not know yet."""
    _reserved: list[socket.socket] = field(factory=list)
    _listeners: dict[int, list[socket.socket]] = field(factory=dict)
    _accepted: int = 0
    _spare: int = field(init=False)
    """A file that is closed when no other can be opened; -1: it is closed."""

    def __attrs_post_init__(self) -> None:
        self._spare = os.open(os.devnull, os.O_RDONLY)
        needed = files_without_clients(self.brokers, 1 + len(self.secured))
        self.most_connections = min(self.most_connections, most_files() - needed)

    def reserve(self, brokers: Mapping[int, int]) -> None:
        """Choose the ports of the brokers and of ``ZOOKEEPER``, 0 for any, and those of the brokers' other listeners.
        They keep their ports while nothing listens.

        Raises: BadInput where a port is taken.
        """
        for broker, port in brokers.items():
            self.ports[broker] = found = self._reserved_port(port)
            self.addresses[broker] = self.advertised.get(broker, (self.advertised_host, found))
        for listener in self.secured:
            for broker, port in listener.wanted.items():
                listener.ports[broker] = found = self._reserved_port(port)
                listener.listens[broker] = self.host, found
                listener.addresses[broker] = self.advertised_host, found

    def _reserved_port(self, port: int) -> int:
        # First alone: sockets that share a port would also share it with another process of this user's.
        with self._bound(port, shared=False) as alone:
            free = alone.getsockname()[1]
        reserved = self._bound(free)
        self._reserved.append(reserved)
        return int(reserved.getsockname()[1])

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
            if error.errno == errno.EADDRNOTAVAIL:
                what = f"{self.host} is no address of this machine; write one that it has, such as 127.0.0.1"
                raise BadInput(what, where="--host") from error
            raise BadInput(
                f"port {port} of {self.host} cannot be used ({error.strerror}); leave --port and --zookeeper-port out, "
                "and the port of --listener, for any free ones"
            ) from error
        return found

    def close(self) -> None:
        """Close all connections, and release the ports."""
        for connection in list(self._open.values()):
            connection.close()
        for broker in list(self._listeners):
            self.refuse(broker)
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
        self._listeners[broker] = []
        self._listen_at(broker, self.ports[broker], None)
        for secured in self.secured if broker != ZOOKEEPER else ():
            self._listen_at(broker, secured.ports[broker], secured)

    def _listen_at(self, broker: int, port: int, secured: "SecuredListener | None") -> None:
        try:
            listener = self._bound(port)
            listener.listen(BACKLOG)
        except (BadInput, OSError) as error:
            self.log(f"{_named(broker)} cannot listen: {error}")
            return
        listener.setblocking(False)
        self._listeners[broker].append(listener)
        self.readiness.watch(listener, READ, lambda _: self._accept(broker, listener, secured))

    def refuse(self, broker: int) -> None:
        for listener in self._listeners.pop(broker, ()):
            self.readiness.watch(listener, 0, _nothing)
            listener.close()

    # -- outside ------------------------------------------------------------------------------------------------------

    def _accept(self, broker: int, listener: socket.socket, secured: "SecuredListener | None") -> None:
        """Accept a client, which may have gone already."""
        try:
            try:
                client, address = listener.accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE):
                    raise
                client, address = self._accepted_with_spare(broker, listener)
        except OSError:
            return
        if secured is not None:
            secured.give_up_late()
        if len(self._open) >= self.most_connections:
            self.log(f"{address[0]}:{address[1]} to {_named(broker)}: {len(self._open)} connections are open")
            client.close()
            return
        self._accepted += 1
        client.setblocking(False)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        text = f"{address[0]}:{address[1]}"
        if secured is not None:
            self._open[self._accepted] = secured.accept(self, broker, self._accepted, client, text)
            return
        protocol = JUTE if broker == ZOOKEEPER else KAFKA
        connection = SocketConnection(self, protocol, broker, self._accepted, client, text)
        self._open[connection.number] = connection
        self.accepted(connection, PLAINTEXT)

    def accepted(self, connection: "SocketConnection", listener: str, principal: str = "") -> None:
        """Report a connection to the world; ``principal``: whom its certificate names."""
        self._new[connection.number] = connection
        self.inputs.put(Accepted(connection.number, connection.broker, connection.address, listener, principal))

    def closed(self, connection: "SocketConnection") -> None:
        """Forget a connection that has ended, with all that was unsent."""
        del self._open[connection.number]

    def has_read(self, more: int) -> None:
        """Count more bytes (or fewer) that a connection has read and that are not a whole request yet."""
        self.unfinished += more
        if self.unfinished > self.most_unfinished:
            most = max(self._open.values(), key=lambda connection: connection.unfinished)
            self.log(
                f"{most}: {most.unfinished} bytes of a request that is not complete, and of all connections together "
                f"{self.unfinished}, where {self.most_unfinished} are allowed; closed"
            )
            most.give_up()

    def _accepted_with_spare(self, broker: int, listener: socket.socket) -> tuple[socket.socket, Any]:
        """Accept the next client when no more files can be opened, with a file that is kept for this.

        Raises: OSError if there is no other file than that one; the client was closed at once.
        """
        self._give_spare()
        client, address = listener.accept()
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        except OSError:
            client.close()
            self._spare = os.open(os.devnull, os.O_RDONLY)
            self.log(f"broker {broker} cannot accept a connection: too many files are open (ulimit -n)")
            raise
        return client, address


@define(eq=False)
class SocketConnection:
    """One client's socket: the ``Outlet`` of its connection.

    Attributes:
        unanswered: the sizes of the requests that were read and not answered.
        unsent: the bytes that the socket has not taken yet.
        ended: whether the connection has ended, except for the unsent bytes.
    """

    sockets: Sockets
    protocol: Protocol
    broker: int
    number: int
    plain: socket.socket
    address: str
    unanswered: deque[int] = field(factory=deque)
    unsent: bytearray = field(factory=bytearray)
    ended: bool = False
    _unanswered_bytes: int = 0
    _read: bytearray = field(factory=bytearray)
    """The beginning of a frame."""
    _watched: int = 0
    """The events for which the socket is watched: reading, unless too much is unanswered or unsent, and writing the
    unsent bytes."""

    def __attrs_post_init__(self) -> None:
        self._watch()

    # -- for the world ------------------------------------------------------------------------------------------------

    def write(self, frame: bytes) -> None:
        self.announce(frame)
        self.handled()

    def announce(self, frame: bytes) -> None:
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
                return  # the client has gone, which reading shows
        if sent < len(size) + len(frame):
            self.unsent += size[sent:]
            self.unsent += memoryview(frame)[max(0, sent - len(size)) :]
            self._watch()

    def handled(self) -> None:
        if self.unanswered:
            self._unanswered_bytes -= self.unanswered.popleft()
        if not self._watched & READ:
            self._go_on()

    def authenticated(self) -> None:
        self.protocol = KAFKA

    def end(self, *, reset: bool) -> None:
        if self.ended:
            return
        self.ended = True
        if reset:
            self.plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        if reset or not self.unsent:
            self.close()
        else:
            self._watch()

    # -- outside ------------------------------------------------------------------------------------------------------

    def _ready(self, events: int) -> None:
        """Read or write, because the socket is ready. No error leaves this."""
        try:
            if events & WRITE:
                self._send()
            goes_on = not events & READ or self.ended or self._receive()
        except BlockingIOError:
            return
        except OSError:
            goes_on = False  # the client has reset the connection
        except Exception as error:
            self.sockets.log(f"{self}: {type(error).__name__}: {error}; closed")
            goes_on = False
        if not goes_on:
            self.give_up()

    def give_up(self) -> None:
        """End the connection from outside the world, and report that to the world."""
        if not self.ended:
            self.ended = True
            self.sockets.inputs.put(Closed(self.number))
        self.close()

    @property
    def unfinished(self) -> int:
        """The number of bytes that were read and not taken."""
        return len(self._read)

    def _receive(self) -> bool:
        """Read from the socket. False: the connection ends here."""
        before = len(self._read)
        goes_on = self._read_more() and self._take_frames(self._read)
        self.sockets.has_read(len(self._read) - before)
        if self._is_full:
            self._watch()
        return goes_on

    def _read_more(self) -> bool:
        """Add to ``_read`` what has come. False: nothing more will."""
        received = self.sockets.received
        count = self.plain.recv_into(received)
        self._read += received[:count]
        return count > 0

    def _go_on(self) -> None:
        """Take the frames that were read already, then read on: fewer requests or answers wait."""
        before = len(self._read)
        goes_on = self.ended or self._take_frames(self._read)
        self.sockets.has_read(len(self._read) - before)
        if goes_on:
            self._watch()
        else:
            self.give_up()

    def _take_frames(self, buffer: bytearray) -> bool:
        """Take whole frames out of what was read, as many as may wait. False: the bytes are not a frame."""
        at, end = 0, len(buffer)
        while end - at >= _SIZE.size and not self._is_full:
            (size,) = _SIZE.unpack_from(buffer, at)
            if not 0 <= size <= self.protocol.most_bytes:
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
            return f"this is {other}, not {self.protocol.name} without TLS"
        if self.protocol is JUTE and read.isalpha():
            return f"{read.decode()!r} is a command for operators, and none is served"
        return f"a frame of {size} bytes, and at most {self.protocol.most_bytes} are allowed ({self.protocol.setting})"

    def _send(self) -> None:
        """Send the bytes that the socket did not take at once."""
        sent = self.plain.send(memoryview(self.unsent)[:RECEIVE])
        del self.unsent[:sent]
        if self.ended and not self.unsent:
            self.close()
        else:
            self._go_on()

    @property
    def _is_full(self) -> bool:
        too_many = len(self.unanswered) >= MOST_UNANSWERED or self._unanswered_bytes >= MOST_UNANSWERED_BYTES
        return too_many or len(self.unsent) >= MOST_UNSENT

    def _watch(self) -> None:
        """Watch the socket for what is wanted of it now."""
        events = (0 if self.ended or self._is_full else READ) | (WRITE if self.unsent else 0)
        if events != self._watched and self.plain.fileno() != -1:
            self._watched = events
            self.sockets.readiness.watch(self.plain, events, self._ready)

    def close(self) -> None:
        """Close the socket. What is unsent is lost."""
        if self.plain.fileno() != -1:
            self.unsent.clear()
            before, self._read = len(self._read), bytearray()
            self.sockets.has_read(-before)
            self._watch()
            self.plain.close()
            self.sockets.closed(self)

    def __str__(self) -> str:
        return f"connection {self.number} from {self.address}"


def _named(broker: int) -> str:
    return "ZooKeeper" if broker == ZOOKEEPER else f"broker {broker}"


def _nothing(_: int) -> None:
    """Do nothing, for a socket that is not watched any more."""
