"""A network with the semantics of TCP: messages of a connection arrive in order and once. Faults are delays, cuts,
resets and refusals."""

from emulator.network.client import Client, Disconnected
from emulator.network.delay import Delay
from emulator.network.endpoint import Endpoint
from emulator.network.interceptors import Hold, InterceptedMessage
from emulator.network.network import Network, NetworkSpec, Nic
from emulator.network.server import Channel, serve

__all__ = [
    "Channel", "Client", "Delay", "Disconnected", "Endpoint", "Hold", "InterceptedMessage", "Network", "NetworkSpec",
    "Nic", "serve",
]  # fmt: skip
