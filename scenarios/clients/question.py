"""A question that any broker can answer: asked of one after the other until one does."""

from collections.abc import Callable
from typing import Any

from attrs import define

from emulator.network import Endpoint, Network
from emulator.nodes import Process

PORT = "kafka"


@define(eq=False)
class Question:
    """At most one attempt in a ``backoff_us``; the next broker is tried if there is no answer by then. Kafka's client
    would wait for an answer as long as for any other.

    Attributes:
        answered: called with each answer. Asking again in it is allowed.
        background: it does not keep a world from being settled.
    """

    network: Network
    process: Process
    brokers: tuple[int, ...]
    backoff_us: int
    request: Any
    answered: Callable[[Any], object]
    background: bool = False
    _wanted: bool = False
    _resting: bool = False
    _endpoint: Endpoint | None = None

    def ask(self) -> None:
        """Ask now, or as soon as the back-off is over."""
        self._wanted = True
        if not self._resting:
            self._send()

    def _send(self) -> None:
        self._resting = True
        host = self.brokers[0]
        self.brokers = (*self.brokers[1:], host)
        if self._endpoint is not None:
            self._endpoint.close()
        self._endpoint = self.network.connect(self.process, host, PORT, self._answer)
        self._endpoint.send(self.request, self.request.size, self.background)
        self.process.call_later(self.backoff_us, self._rested)

    def _rested(self, _: object) -> None:
        self._resting = False
        if self._wanted:
            self._send()

    def _answer(self, response: Any) -> None:
        self._wanted = False
        self.answered(response)
