"""The client's side of requests and responses: a task sends a request and waits for the answer or for an error."""

from typing import Any

import trio
from attrs import define, field

from emulator.kernel import Mailbox
from emulator.network.endpoint import Endpoint
from emulator.network.idle import Poll
from emulator.network.network import Network
from emulator.network.server import TIMED_OUT
from emulator.nodes import Process


class Disconnected(Exception):
    """The connection was refused, reset, closed or timed out before the answer came. The server may have handled the
    request."""


@define(eq=False)
class _Lost:
    endpoint: Endpoint
    reason: str


@define(eq=False)
class Client:
    """A connection to ``port`` of machine ``host``, for one task with one request in flight. Opened when needed.

    Attributes:
        owner: the object that sends requests through it (``Endpoint.owner``).
        poll: its request while that is sent again and again without being simulated; else None.
    """

    network: Network
    process: Process
    host: int
    port: str
    timeout_us: int
    owner: object = None
    poll: Poll | None = None
    _answers: Mailbox = field(init=False)
    _endpoint: Endpoint | None = None
    _deadline_us: int = 0
    _watching: bool = False

    def __attrs_post_init__(self) -> None:
        self._answers = Mailbox(self.process.world, f"answers of {self.host}:{self.port} to {self.process.name}")

    async def call(self, request: Any, size: int, background: bool = False) -> Any:
        """Send ``request`` and wait for its answer.

        Raises:
            Disconnected: no answer came, and the connection is closed.
        """
        endpoint = self._endpoint or self._connect()
        endpoint.send(request, size, background)
        self._deadline_us = self.process.world.now + self.timeout_us
        if not self._watching:
            self._watch(None)
        while True:
            try:
                answer = await self._answers.get()
            except trio.Cancelled:
                # Otherwise the late answer would be read as that of the next request.
                self._hang_up(endpoint, "closed")
                self._endpoint = None
                self._deadline_us = 0
                raise
            if answer.__class__ is not _Lost:
                break
            if answer.endpoint is self._endpoint:
                self._endpoint = None
                self._deadline_us = 0
                raise Disconnected(f"{self.host}:{self.port}: {answer.reason}")
        self._deadline_us = 0
        return answer

    def close(self) -> None:
        """Close the connection. A ``call`` that waits for an answer raises ``Disconnected``."""
        endpoint = self._endpoint
        if endpoint is None:
            return
        self._hang_up(endpoint, "closed")
        if self._deadline_us:
            self._answers.put(_Lost(endpoint, "closed at this end"))
        else:
            self._endpoint = None

    def _hang_up(self, endpoint: Endpoint, reason: str) -> None:
        """Close the connection at this end. The other end learns of it later; a parked poll ends now."""
        if self.poll is not None:
            self.poll.rouse()
        endpoint.close(reason)

    def _connect(self) -> Endpoint:
        self._answers.clear()
        endpoint = self.network.connect(self.process, self.host, self.port, self._answers.put)
        endpoint.closed = lambda reason: self._answers.put(_Lost(endpoint, reason))
        endpoint.owner = self.owner
        self._endpoint = endpoint
        return endpoint

    def asked_again(self, asked_us: int) -> None:
        """Take note that requests were sent without being simulated, the last of them at ``asked_us``."""
        self._deadline_us = asked_us + self.timeout_us

    def _watch(self, _: Any) -> None:
        """Check the time-outs of all requests with one timer, moved lazily: a timer per request would fill the heap
        with useless entries."""
        now = self.process.world.now
        if self.poll is not None:
            self.poll.look()
            if self.poll.answers:
                self.asked_again(self.poll.asked_us)
        endpoint = self._endpoint
        self._watching = self._deadline_us > 0 and endpoint is not None
        if not self._watching or endpoint is None:
            return
        if self._deadline_us <= now:
            self._hang_up(endpoint, TIMED_OUT)
            self._watching = False
            self._answers.put(_Lost(endpoint, f"no answer in {self.timeout_us} us"))
        else:
            self.process.call_later(self._deadline_us - now, self._watch)
