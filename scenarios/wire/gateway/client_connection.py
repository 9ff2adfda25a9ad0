"""One client's connection in the world: frames become requests to the broker, its answers become frames."""

from collections import deque
from struct import Struct
from typing import TYPE_CHECKING, Any

from attrs import define, field

from emulator.kernel import KernelError
from emulator.network import Endpoint
from emulator.nodes import Node
from emulator.protocol.address import LISTENER
from scenarios.faults.request_faults import ClientRequest, RequestEffect, RequestFault, api_names
from scenarios.runs.culprits import said
from scenarios.wire.apis.base import FILES, Body, Connection, InvalidRequest, WireApi
from scenarios.wire.codec import MalformedFrame, decode_request, encode_response
from scenarios.wire.gateway.error_answers import READS, FailedApi, with_error
from scenarios.wire.gateway.outlet import Outlet
from scenarios.wire.gateway.throttling import FETCH, PRODUCE, Throttling, throttled_fetch
from scenarios.wire.inputs import PLAINTEXT
from scenarios.wire.refusals import RefusedApi

if TYPE_CHECKING:
    from scenarios.wire.gateway.gateway import Gateway
    from scenarios.wire.gateway.login import Login

API_VERSIONS = 18
SIZE_OF_SIZE = 4
"""The bytes of a frame's size, which precede it."""
_HEADER = Struct(">hhih")


class RefusedFrame(Exception):
    """A frame that ends its connection; the message says why."""


@define(eq=False)
class _InFlight:
    """A request that waits for its answer."""

    api: WireApi
    version: int
    correlation_id: int
    body: Body
    size: int
    request: Any = None
    sent_us: int = 0
    fault: RequestFault | None = None


@define(eq=False)
class ClientConnection:
    """A connection from one client to one broker.

    The connection in the emulated network is opened with the first request: that has the ``client.id``, after which the
    machine is named.

    Attributes:
        listener: the broker's listener.
        principal: whom the client's certificate names; empty: it has shown none.
        login: its logins; None: the listener asks for none.
    """

    gateway: "Gateway"
    number: int
    broker: int
    address: str
    outlet: Outlet
    listener: str = PLAINTEXT
    principal: str = ""
    login: "Login | None" = None
    machine: Node | None = None
    _endpoint: Endpoint = field(init=False)
    _context: Connection = field(init=False)
    _asked: deque[_InFlight] = field(factory=deque)
    _channel: Throttling = field(init=False)
    _silent: bool = False
    """Whether nothing is answered any more: a fault on a request."""
    _free_us: int = 0
    """The time of the last answer that a fault has delayed: later ones do not overtake it."""

    def frame(self, data: bytes) -> None:
        """Handle a request from the client."""
        try:
            if self.machine is None:
                self._open(data)
        except RefusedFrame as refused:
            self.refuse(str(refused))
            return
        assert self.machine is not None
        assert self.machine.process is not None
        # A paused machine handles it when it resumes; a machine without a process never does.
        self.machine.process.deliver((self._send, data))

    def _open(self, data: bytes) -> None:
        *_, client_id = _header(data)
        machine = self.gateway.machine(client_id)
        process = machine.process
        if process is None or not process.alive:
            raise RefusedFrame(f"the client {client_id!r} has crashed")
        self.machine = machine
        host = self.address.rpartition(":")[0]
        served = self.gateway.served
        self._context = Connection(self.broker, client_id, served, f"/{host}", listener=self.listener)
        if self.principal:
            self._context.principal = self.principal
        self._channel = Throttling(self.gateway, self._context)
        self._endpoint = self.gateway.cluster.network.connect(
            process, self.broker, LISTENER, self._answered, self._ended
        )

    def _send(self, data: bytes) -> None:
        if self.number not in self.gateway.connections:
            return  # the connection has ended while the machine was paused
        if self._silent or (self.login is not None and self.login.failure):
            return
        if self._channel.holds(data, bool(self._asked)):
            return
        self._handle(data)

    def _handle(self, data: bytes) -> None:
        """Send a request to the broker; the channel is not muted."""
        try:
            asked = self._read(data)
            self._context.version = asked.version
            if self._context.served.faults.standing and self._is_hit(asked):
                return
            if asked.api.key == FETCH:
                self._channel.fit(asked.body)
            request = asked.api.to_request(asked.body, self._context)
        except (RefusedFrame, MalformedFrame, InvalidRequest) as refused:
            self.refuse(str(refused))
            return
        process = self._endpoint.process
        asked.request, asked.sent_us = request, process.world.now
        if asked.api.is_answered(asked.body):
            self._asked.append(asked)
        else:
            self.outlet.handled()
            asked.api.sent(request, self._context, process)
            if asked.api.key == PRODUCE:
                self._mute(self._channel.produced(asked.size))
        self._endpoint.send(request, SIZE_OF_SIZE + len(data))
        if asked.fault is not None and not asked.api.is_answered(asked.body):
            self._loses(asked.fault.effect)

    def _is_hit(self, asked: _InFlight) -> bool:
        """Whether a fault takes the request away from its broker."""
        name = api_names().get(asked.api.key)
        if name is None:
            return False  # an API that is only refused, or that of a login
        fault = self._context.served.faults.of(ClientRequest(name, self._context.client_id, self.broker, asked.body))
        if fault is None:
            return False
        asked.fault, effect = fault, fault.effect
        if effect.performed:
            return False
        if effect.kind != "fail":
            return self._loses(effect)
        if not asked.api.is_answered(asked.body):
            self.end()  # as brokers do with an error of a request without an answer
            return True
        if asked.api.key not in READS:
            asked.api = FailedApi(asked.api, effect.error)
        return False

    def _loses(self, effect: RequestEffect) -> bool:
        """Whether a request has no answer after all; its connection is reset, or silent from now on."""
        if effect.kind == "drop":
            self.close()
            self.outlet.end(reset=True)
        self._silent = self._silent or effect.kind == "silence"
        return effect.kind in ("drop", "silence")

    def _read(self, data: bytes) -> _InFlight:
        login, served = self.login, self.gateway.served
        if login is not None and login.takes_bare_token:
            return _InFlight(login.bare_token(data), 0, 0, {}, len(data))
        key, version, correlation_id, self._context.client_id = _header(data)
        if login is not None:
            step = login.step(key, is_known=served.has(key, version))
            if step is not None:
                body = decode_request(data).body if step.is_read else {}
                return _InFlight(step, version, correlation_id, body, len(data))
        if key in FILES and served.announces(key, version):
            return _InFlight(self.gateway.apis[key], version, correlation_id, decode_request(data).body, len(data))
        if key == API_VERSIONS and served.versions:
            # The client goes on with a version that the answer names.
            return _InFlight(self.gateway.apis[key], version, correlation_id, {}, len(data))
        if served.has(key, version):
            return _InFlight(RefusedApi(key), version, correlation_id, decode_request(data).body, len(data))
        raise RefusedFrame(f"brokers of this release have no version {version} of API {key}")

    def _answered(self, response: Any) -> None:
        asked = self._asked.popleft()
        if self._silent or (asked.fault is not None and self._loses(asked.fault.effect)):
            return
        process, fault = self._endpoint.process, asked.fault
        latency_us = 0 if fault is None else fault.effect.latency_us
        if self.login is not None and self.login.failure:
            latency_us += self.login.policy.failure_delay_us
        if latency_us or self._free_us > process.world.now:
            self._free_us = max(self._free_us, process.world.now + latency_us)
            process.call_later(self._free_us - process.world.now, self._answer, (asked, response))
        else:
            self._answer((asked, response))

    def _answer(self, late: tuple[_InFlight, Any]) -> None:
        """Send the answer to the client, unless its connection has ended meanwhile."""
        asked, response = late
        if self.number not in self.gateway.connections or self._silent:
            return
        self._context.version = version = asked.version
        process, effect = self._endpoint.process, None if asked.fault is None else asked.fault.effect
        try:
            body: Any = asked.api.to_response(response, asked.body, self._context)
            if effect is not None and effect.kind == "fail" and not isinstance(asked.api, FailedApi):
                assert asked.fault is not None
                body = with_error(body, effect.error, asked.fault.filter.partition)
            if asked.api.key == API_VERSIONS and not self._context.served.announces(API_VERSIONS, version):
                version = 0
            frame, later_us, is_sent = self._encoded(asked, version, body)
            if is_sent and (effect is None or effect.kind != "fail"):
                asked.api.answered(asked.request, response, process.world.now - asked.sent_us, self._context, process)
        except KernelError:
            raise
        except Exception as error:
            # A mistake in the translation costs this connection, not the run.
            self.gateway.defect(f"the answer to API {asked.api.key} cannot be sent: {said(error)}")
            self.end()
            return
        if later_us:
            process.call_later(later_us, self._write_late, frame)
            return
        if frame is not None:
            self.outlet.write(frame)
        if self.login is not None and self.login.failure:
            self.refuse(self.login.failure)
        else:
            self._go_on()

    def _encoded(self, asked: _InFlight, version: int, body: Any) -> tuple[bytes | None, int, bool]:
        """The answer as the quotas of the client have it: its frame, or none; how much later it is written; and whether
        it is the broker's."""
        if body is None or isinstance(body, bytes):
            return body, 0, True  # of a login
        key, channel = asked.api.key, self._channel
        frame = encode_response(key, version, asked.correlation_id, body)
        if channel.quotas is None or isinstance(asked.api, FailedApi | RefusedApi):
            return frame, 0, True
        if key not in (PRODUCE, FETCH):
            self._mute(body.get("throttle_time_ms", 0))  # the broker's own decision
            return frame, 0, True
        throttle_ms = channel.produced(asked.size) if key == PRODUCE else channel.fetched(len(frame))
        if throttle_ms <= 0:
            return frame, 0, True
        self._mute(throttle_ms)
        is_sent = key == PRODUCE or not channel.answers_at_once
        body = {**(body if is_sent else throttled_fetch(asked.body)), "throttle_time_ms": throttle_ms}
        frame = encode_response(key, version, asked.correlation_id, body)
        return frame, 0 if channel.answers_at_once else throttle_ms * 1000, is_sent

    def _mute(self, throttle_ms: int) -> None:
        """Handle no request for so long."""
        if throttle_ms > 0:
            self._endpoint.process.call_later(self._channel.mute(throttle_ms), self._go_on)

    def _write_late(self, frame: bytes) -> None:
        """Write an answer that the quotas have held back, unless its connection has ended meanwhile."""
        if self.number in self.gateway.connections and not self._silent:
            self.outlet.write(frame)
            self._go_on()

    def _go_on(self, _: Any = None) -> None:
        """Handle the requests that have waited for their turn, one after the other."""
        while self.number in self.gateway.connections and not self._silent:
            data = self._channel.next(bool(self._asked))
            if data is None:
                return
            self._handle(data)

    def authenticated(self, principal: str) -> None:
        """Take note that the client has logged in."""
        self._context.principal = principal
        self.outlet.authenticated()

    def refuse(self, why: str) -> None:
        """Close the connection, as brokers do where they cannot read a request, and say why in the log."""
        self.gateway.log(f"connection {self.number} from {self.address} to broker {self.broker}: {why}; closed")
        self.end()

    def end(self) -> None:
        """Close the connection from here."""
        self.close()
        self.outlet.end(reset=False)

    def close(self) -> None:
        """Handle the end of the connection at the client."""
        self.gateway.connections.pop(self.number, None)
        if self.machine is not None:
            self._endpoint.close()

    def _ended(self, reason: str) -> None:
        """Handle the end of the connection in the world, by the broker, its machine, or the network."""
        self.gateway.connections.pop(self.number, None)
        self.outlet.end(reset=reason != "closed")

    def reset(self) -> None:
        """End the connection, because the client's process was killed."""
        self._ended("reset")


def client_id_of(data: bytes) -> str:
    """The client id of a request; empty: it has none. Raises: RefusedFrame."""
    return _header(data)[3]


def _header(data: bytes) -> tuple[int, int, int, str]:
    """API, version, correlation id and client id, which every version of the header has."""
    if len(data) < _HEADER.size:
        raise RefusedFrame(f"a frame of {len(data)} bytes is no request")
    key, version, correlation_id, length = _HEADER.unpack_from(data)
    client_id = data[_HEADER.size : _HEADER.size + max(length, 0)]
    return key, version, correlation_id, client_id.decode("utf-8", "replace")
