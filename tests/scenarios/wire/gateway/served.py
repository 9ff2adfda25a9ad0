"""A served cluster for a test: in a thread of its own, with raw connections to it."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from attrs import define, field

from scenarios.language import Scenario
from scenarios.runs import Run
from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.serving import LiveRun, ServeOptions

LIMIT_S = 60.0
_LOOK_S = 0.02
API_VERSIONS, CREATE_TOPICS, METADATA = 18, 19, 3


@define(eq=False)
class Served:
    """Attributes:
    lines: what the run has logged.
    """

    run: LiveRun
    lines: list[str]
    finished: list[Run] = field(factory=list)

    def connect(self, broker: int = 0) -> Raw:
        connection = socket.create_connection(self.run.sockets.addresses[broker], LIMIT_S)
        return Raw(connection)

    def operate(self, action: str, **more: Any) -> Any:
        """Perform an operation, and return the answer."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(LIMIT_S)
            control.connect(self.run.control)
            control.sendall(json.dumps({"action": action, **more}).encode() + b"\n")
            return json.loads(control.makefile().readline())


@define(eq=False)
class Raw:
    """A client that sends what it likes."""

    socket: socket.socket
    client_id: str = "raw"
    _sent: int = 0

    def send(self, api: int, version: int, body: Mapping[str, Any]) -> int:
        self._sent += 1
        frame = encode_request(api, version, self._sent, self.client_id, body)
        self.socket.sendall(struct.pack(">i", len(frame)) + frame)
        return self._sent

    def frame(self) -> bytes:
        """The next frame. Raises: ConnectionError where there is none."""
        (size,) = struct.unpack(">i", self._exactly(4))
        return self._exactly(size)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("closed")
            data += part
        return data

    def ask(self, api: int, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        number = self.send(api, version, body)
        answered, response = decode_response(api, version, self.frame())
        assert answered == number
        return response

    def metadata(self) -> dict[str, Any]:
        return self.ask(METADATA, 8, {"topics": None})

    @property
    def is_silent(self) -> bool:
        """Whether nothing comes for a moment."""
        self.socket.settimeout(0.3)
        try:
            return self.socket.recv(1) is None
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(LIMIT_S)


def wait_for(condition: Callable[[], Any], *, what: str) -> Any:
    """The first true value of ``condition()``."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(_LOOK_S)
    raise AssertionError(f"{what}: not in {LIMIT_S} s")


@contextmanager
def served(table: Mapping[str, Any] | None = None, **options: Any) -> Iterator[Served]:
    """Serve a scenario; at the end it is stopped, and its run is in ``finished``."""
    given = {"title": "served", "cluster": {"brokers": 3}, **(table or {})}
    ready, lines, failures = threading.Event(), list[str](), list[BaseException]()
    run = LiveRun(Scenario.from_table(given), ServeOptions(**options), lines.append, lambda _: ready.set())
    cluster = Served(run, lines)

    def play() -> None:
        try:
            cluster.finished.append(run.play())
        except BaseException as error:
            failures.append(error)
            ready.set()

    thread = threading.Thread(target=play)
    thread.start()
    try:
        assert ready.wait(LIMIT_S)
        if not failures:
            yield cluster
    finally:
        if thread.is_alive():
            with suppress(OSError, ValueError):  # it is ending by itself
                cluster.operate("stop")
        thread.join(LIMIT_S)
        for failure in failures:
            raise failure
