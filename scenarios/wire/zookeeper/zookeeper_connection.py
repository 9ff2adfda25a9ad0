"""One client's connection to ZooKeeper in the world: frames become messages to the emulated ensemble, its answers and
notifications become frames."""

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.kernel import KernelError
from emulator.network import Endpoint
from emulator.nodes import Node
from emulator.zookeeper import ZOOKEEPER, EventType, Exists, GetChildren, WatchEvent, ZkCode, ZkResponse
from emulator.zookeeper.messages import Ask, CloseSession, Connect, Connected, Ping, Pong, SetWatches
from emulator.zookeeper.spec import PORT, SIZE
from scenarios.runs.culprits import said
from scenarios.wire.gateway.client_connection import RefusedFrame
from scenarios.wire.gateway.outlet import Outlet
from scenarios.wire.zookeeper import ensemble
from scenarios.wire.zookeeper.ensemble import PASSWORD_BYTES, ServedZooKeeper
from scenarios.wire.zookeeper.jute import JuteReader, MalformedRecord
from scenarios.wire.zookeeper.jute_records import (
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    NOTIFICATION_XID,
    REPLY_HEADER,
    REQUEST_HEADER,
    REQUESTS,
    WATCHER_EVENT,
    OpCode,
)
from scenarios.wire.zookeeper.operations import WITHOUT_EFFECT, Asked, refused, translated, translated_multi
from scenarios.wire.zookeeper.zookeeper_codes import Code, RefusedOperation

_PING_XID = -2
_SYNC_CONNECTED = 3
"""The state of the session in a notification (KeeperState)."""
_NEVER = -1
"""An id that no session has."""
_KNOWN_SCHEMES = ("digest", "ip")


@define(eq=False)
class ZooKeeperConnection:
    """A connection from one client to ZooKeeper.

    Attributes:
        log: called with a line for each frame that was refused, and for each connection's first refused operation.
        defect: called with a line where the tool itself failed.
        ended: called with its number when it has ended.
    """

    zookeeper: ServedZooKeeper
    number: int
    address: str
    outlet: Outlet
    log: Callable[[str], object]
    defect: Callable[[str], object]
    ended: Callable[[int], object]
    machine: Node | None = None
    _endpoint: Endpoint = field(init=False)
    _greeted: bool = False
    _timeout_us: int = 0
    _speaks_read_only: bool = True
    _asked: deque[tuple[int, Asked]] = field(factory=deque)
    _closing: int | None = None
    """The xid of the request that closes the session."""
    _complained: bool = False
    _over: bool = False
    _watched: dict[str, None] = field(factory=dict)
    _listed: dict[str, None] = field(factory=dict)
    """The paths whose data and whose children are watched."""

    def frame(self, data: bytes) -> None:
        """Handle a request from the client."""
        if self.machine is None:
            machine = self.zookeeper.machine
            if machine.process is None or not machine.process.alive:
                self.refuse("the machine of ZooKeeper's clients has crashed")
                return
            self.machine = machine
            self._endpoint = self.zookeeper.cluster.network.connect(
                machine.process, ZOOKEEPER, PORT, self._received, self._ended
            )
        assert self.machine.process is not None
        # A paused machine handles it when it resumes; a machine without a process never does.
        self.machine.process.deliver((self._send, data))

    # -- requests -----------------------------------------------------------------------------------------------------

    def _send(self, data: bytes) -> None:
        if self._over:
            return  # the connection has ended while the machine was paused
        try:
            if self._greeted:
                self._request(data)
            else:
                self._connect(data)
        except (RefusedFrame, MalformedRecord) as error:
            self.refuse(str(error))

    def _connect(self, data: bytes) -> None:
        asked = CONNECT_REQUEST.decode(data)
        session, zxid = asked["session_id"], self.zookeeper.zxid
        if asked["last_zxid_seen"] > zxid:
            raise RefusedFrame(
                f"the client has seen zxid {asked['last_zxid_seen']}, which is later than the last one here, {zxid}"
            )
        if session and not self.zookeeper.is_own(session, asked["passwd"]):
            session = _NEVER
        if not session and self.zookeeper.has_too_many_sessions:
            raise RefusedFrame(f"there are {ensemble.MOST_SESSIONS} sessions")
        self._greeted = True
        self._speaks_read_only = "read_only" in asked
        self._timeout_us = self.zookeeper.timeout_us(asked["time_out"])
        self._endpoint.send(Connect(session, self._timeout_us), SIZE)

    def _request(self, data: bytes) -> None:
        source = JuteReader(data)
        header = REQUEST_HEADER.read(source)
        xid, rest = header["xid"], data[source.at :]
        try:
            code = OpCode(header["type"])
        except ValueError:
            error = RefusedOperation(Code.UNIMPLEMENTED, f"operation {header['type']} is not served")
            self._complain(error)
            self._ask(xid, refused(error))
            return
        if code is OpCode.MULTI:
            self._ask(xid, translated_multi(rest, self.zookeeper))
            return
        body = REQUESTS[code].decode(rest)
        if code is OpCode.PING:
            self._endpoint.send(Ping(), SIZE, background=True)
        elif code is OpCode.CLOSE_SESSION:
            self._closing = xid
            self._endpoint.send(CloseSession(), SIZE)
        elif code is OpCode.AUTH:
            self._authenticate(xid, body["scheme"])
        elif code is OpCode.SET_WATCHES:
            self._set_watches(xid, body)
        else:
            try:
                asked = translated(code, body, self.zookeeper)
            except RefusedOperation as error:
                self._complain(error)
                asked = refused(error)
            self._ask(xid, asked)

    def _ask(self, xid: int, asked: Asked) -> None:
        if asked.watch:
            self._check_watches(1)
        self._asked.append((xid, asked))
        self._endpoint.send(Ask(asked.request, asked.watch), SIZE)

    def _authenticate(self, xid: int, scheme: str | None) -> None:
        """Accept any credentials: every client may do everything."""
        if scheme in _KNOWN_SCHEMES:
            self._reply(xid, 0)
        else:
            self._reply(xid, Code.AUTH_FAILED)
            raise RefusedFrame(f"authentication by {scheme!r} is not served")

    def _set_watches(self, xid: int, body: dict[str, Any]) -> None:
        data, exist, children = (
            tuple(path or "" for path in body[kind]) for kind in ("data_watches", "exist_watches", "child_watches")
        )
        self._check_watches(len(data) + len(exist) + len(children))
        for path in (*data, *exist):
            self._watch(self._watched, path)
        for path in children:
            self._watch(self._listed, path)
        self._endpoint.send(SetWatches(body["relative_zxid"], data, exist, children), SIZE)
        # Its answer comes after the notifications of what was missed.
        self._ask(xid, WITHOUT_EFFECT)

    def _check_watches(self, more: int) -> None:
        if self.zookeeper.watches + more > ensemble.MOST_WATCHES:
            raise RefusedFrame(f"all connections together would watch more than {ensemble.MOST_WATCHES} paths")

    def _watch(self, watched: dict[str, None], path: str) -> None:
        self.zookeeper.watches += path not in watched
        watched[path] = None

    def _unwatch(self, watched: dict[str, None], path: str) -> None:
        if path in watched:
            self.zookeeper.watches -= 1
            del watched[path]

    # -- answers ------------------------------------------------------------------------------------------------------

    def _received(self, message: Any) -> None:
        kind = message.__class__
        if kind is Connected:
            self._connected(message.session_id)
        elif kind is ZkResponse:
            self._answered(message)
        elif kind is WatchEvent:
            self._notify(message)
        elif kind is Pong:
            self._reply(_PING_XID, 0, zxid=message.zxid)

    def _connected(self, session: int) -> None:
        response = {
            "protocol_version": 0,
            "time_out": self._timeout_us // 1000 if session else 0,
            "session_id": session,
            "passwd": self.zookeeper.password(session) if session else bytes(PASSWORD_BYTES),
            **({"read_only": False} if self._speaks_read_only else {}),
        }
        self.outlet.write(CONNECT_RESPONSE.write(response))

    def _answered(self, response: ZkResponse) -> None:
        xid, asked = self._asked.popleft()
        try:
            error, body = asked.answer(response)
        except KernelError:
            raise
        except Exception as failure:
            # A mistake in the translation costs this connection, not the run.
            self.defect(f"ZooKeeper's answer cannot be sent: {said(failure)}")
            self.end()
            return
        if asked.watch:
            self._armed(asked, response)
        self._reply(xid, error, body, response.zxid)

    def _armed(self, asked: Asked, response: ZkResponse) -> None:
        """Take note of the watch that a read has armed. A read that found no znode has armed one only if it was an
        exists."""
        path = asked.request.path
        if response.error is ZkCode.OK or isinstance(asked.request, Exists):
            self._watch(self._listed if isinstance(asked.request, GetChildren) else self._watched, path)

    def _notify(self, event: WatchEvent) -> None:
        if event.type is not EventType.NODE_CHILDREN_CHANGED:
            self._unwatch(self._watched, event.path)
        if event.type in (EventType.NODE_CHILDREN_CHANGED, EventType.NODE_DELETED):
            self._unwatch(self._listed, event.path)
        header = REPLY_HEADER.write({"xid": NOTIFICATION_XID, "zxid": -1, "err": 0})
        body = WATCHER_EVENT.write({"type": event.type, "state": _SYNC_CONNECTED, "path": event.path})
        self.outlet.announce(header + body)

    def _reply(self, xid: int, error: int, body: bytes = b"", zxid: int | None = None) -> None:
        last = self.zookeeper.zxid if zxid is None else zxid
        self.outlet.write(REPLY_HEADER.write({"xid": xid, "zxid": last, "err": error}) + body)

    # -- the end ------------------------------------------------------------------------------------------------------

    def _complain(self, error: RefusedOperation) -> None:
        """Log a refused operation, once for each connection: the client gets the error, too."""
        if not self._complained:
            self._complained = True
            self.log(f"{self}: {error}; refused ({error.code.name})")

    def refuse(self, why: str) -> None:
        """Close the connection, as ZooKeeper does where it cannot read a request, and say why in the log."""
        self.log(f"{self}: {why}; closed")
        self.end()

    def end(self) -> None:
        """Close the connection from here."""
        self.close()
        self.outlet.end(reset=False)

    def close(self) -> None:
        """Handle the end of the connection at the client. Its session goes on until it expires."""
        self._leave()
        if self.machine is not None:
            self._endpoint.close()

    def _ended(self, reason: str) -> None:
        """Handle the end of the connection in the world, by ZooKeeper or the network."""
        self._leave()
        if self._closing is not None and reason == "closed":
            self._reply(self._closing, 0)
        self.outlet.end(reset=reason != "closed")

    def _leave(self) -> None:
        if self._over:
            return
        self._over = True
        self.zookeeper.watches -= len(self._watched) + len(self._listed)
        self._watched, self._listed = {}, {}
        self.ended(self.number)

    def reset(self) -> None:
        """End the connection, because the machine of the clients has crashed."""
        self._ended("reset")

    def __str__(self) -> str:
        return f"connection {self.number} from {self.address} to ZooKeeper"
