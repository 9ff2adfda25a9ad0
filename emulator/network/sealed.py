"""The paranoid mode: every message is hashed when it is sent and again when it is received.

Messages are passed by reference, so whoever changes one after sending it changes what the receiver gets, which no
network can do. Too slow for every run; tests run whole scenarios in it.
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
    """A message and what it was when it was sent."""

    body: Any
    seal: bytes


def seal(body: Any) -> bytes:
    """A hash of everything that ``body`` consists of."""
    return blake2b(pickle.dumps(body)).digest()


@define(eq=False, repr=False)
class SealedEndpoint(Endpoint):
    """An endpoint that seals what it sends and checks what it receives.

    Raises (from the delivery, so it ends the run):
        Mutated.
    """

    def send(self, body: Any, size: int, background: bool = False) -> None:
        Endpoint.send(self, body if isinstance(body, Sealed) else Sealed(body, seal(body)), size, background)

    def seen(self, body: Any) -> InterceptedMessage | None:
        return Endpoint.seen(self, body.body)

    def _hand_over(self, item: Item) -> None:
        message, cause = item
        if isinstance(message, Sealed):
            if seal(message.body) != message.seal:
                raise Mutated(f"a {type(message.body).__name__} to {self.process.name} was changed after it was sent")
            item = message.body, cause
        Endpoint._hand_over(self, item)
