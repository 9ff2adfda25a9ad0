"""A network with TCP's semantics: per connection ordered, never duplicated; faults are delay, cuts, resets,
refusals."""

from emulator.network.client import Client, Disconnected
from emulator.network.delay import Delay
from emulator.network.endpoint import Endpoint
from emulator.network.network import Card, Network, NetworkSpec
from emulator.network.server import Channel, serve
from emulator.network.taps import Hold, Passing

__all__ = [
    "Card", "Channel", "Client", "Delay", "Disconnected", "Endpoint", "Hold", "Network", "NetworkSpec", "Passing",
    "serve",
]  # fmt: skip
