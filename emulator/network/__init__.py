"""A network with TCP's semantics: per connection ordered, never duplicated; faults are delay, cuts, resets,
refusals."""

from emulator.network.client import Client, Disconnected
from emulator.network.endpoint import Endpoint
from emulator.network.network import Network, NetworkSpec
from emulator.network.server import Channel, serve

__all__ = ["Channel", "Client", "Disconnected", "Endpoint", "Network", "NetworkSpec", "serve"]
