"""The paranoid mode: every message is hashed when it is sent and again when it is received.

Messages are passed by reference, so code that changes one after sending it changes what the receiver gets, which a real
network cannot do. Too slow for every run; tests run whole scenarios in it.
"""

import pickle
from hashlib import blake2b
from typing import Any, NamedTuple

from attrs import define

from emulator.kernel import KernelError
from emulator.network.endpoint import Endpoint, Item
from emulator.network.interceptors import InterceptedMessage


class Mutated(KernelError):
    """A message was changed after it had been sent."""


class Sealed(NamedTuple):
    """A message, and its hash when it was sent."""

    body: Any
    seal: bytes


def seal(body: Any) -> bytes:
    """A hash of the whole content of ``body``."""
    return blake2b(pickle.dumps(body)).digest()


@define(eq=False, repr=False)
class SealedEndpoint(Endpoint):
    """An endpoint that hashes what it sends and checks what it receives.

    Raises:
        Mutated: from the delivery, so it ends the run.
    """

    def send(self, body: Any, size: int, background: bool = False) -> None:
        Endpoint.send(self, body if isinstance(body, Sealed) else Sealed(body, seal(body)), size, background)

    def kind_of(self, body: Any) -> object:
        return body.body.__class__

    def seen(self, body: Any) -> InterceptedMessage | None:
        return Endpoint.seen(self, body.body)

    def arrive(self, item: Item) -> None:
        self._take(item)

    def _deliver(self, item: Item) -> None:
        message, cause = item
        if isinstance(message, Sealed):
            if seal(message.body) != message.seal:
                raise Mutated(f"a {type(message.body).__name__} to {self.process.name} was changed after it was sent")
            item = message.body, cause
        Endpoint._deliver(self, item)
