"""A request that any broker can answer: sent to one after the other until one does."""

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
    """Sent to one broker, and after each ``backoff_us`` without a response to one more. The first response counts.

    An attempt ends with its connection, or after ``timeout_us``; only then is its broker asked again. Kafka's client
    (2.3.1) waits for one attempt before it makes the next, but has many open, idle connections and prefers these
    (``NetworkClient.leastLoadedNode``): a dead broker rarely delays it, and does not delay this one.

    Attributes:
        answered: called with each response that counts; it may ask again.
        background: whether the world can be settled while a response is awaited.
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
        """Close the attempts that were made before the last response came, and those that are too old."""
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
