"""A question that any broker can answer: asked of one after the other until one does."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network import Endpoint, Network
from emulator.nodes import Process
from emulator.protocol.address import LISTENER


@define(eq=False)
class _Attempt:
    endpoint: Endpoint
    sent_us: int


@define(eq=False)
class Question:
    """Asked of one broker; while nobody answers, after each ``backoff_us`` of another one too. The first answer counts.

    An attempt is over when its connection is, or after ``timeout_us``; a broker is asked anew only then. Kafka's client
    (2.3.1) waits for one attempt before it makes the next, but has many connections that are open and idle, and prefers
    these (``NetworkClient.leastLoadedNode``): a broker that is gone seldom holds it up, as it does not here.

    Attributes:
        answered: called with each answer. Asking again in it is allowed.
        background: it does not keep a world from being settled.
    """

    network: Network
    process: Process
    brokers: tuple[int, ...]
    backoff_us: int
    timeout_us: int
    request: Any
    answered: Callable[[Any], object]
    background: bool = False
    _wanted: bool = False
    _resting: bool = False
    _settled: bool = False
    _attempts: dict[int, _Attempt] = field(factory=dict)

    def ask(self) -> None:
        """Ask now, or as soon as the back-off is over."""
        self._wanted = True
        if not self._resting:
            self._send()

    def _send(self) -> None:
        self._resting = True
        self._hang_up()
        host = next((broker for broker in self.brokers if broker not in self._attempts), None)
        if host is not None:
            self.brokers = (*(broker for broker in self.brokers if broker != host), host)
            self._attempt(host)
        self.process.call_later(self.backoff_us, self._rested)

    def _hang_up(self) -> None:
        """On those who were asked before the last answer came, and on those who are late."""
        late_us = self.process.world.now - self.timeout_us
        for host, attempt in list(self._attempts.items()):
            if self._settled or attempt.sent_us <= late_us:
                del self._attempts[host]
                attempt.endpoint.close()
        self._settled = False

    def _attempt(self, host: int) -> None:
        def closed(_reason: str) -> None:
            del self._attempts[host]

        endpoint = self.network.connect(self.process, host, LISTENER, self._answer, closed)
        self._attempts[host] = _Attempt(endpoint, self.process.world.now)
        endpoint.send(self.request, self.request.size, self.background)

    def _rested(self, _: object) -> None:
        self._resting = False
        if self._wanted:
            self._send()

    def _answer(self, response: Any) -> None:
        self._settled = True
        if self._wanted:
            self._wanted = False
            self.answered(response)
