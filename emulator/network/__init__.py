"""A network with the semantics of TCP: messages of a connection arrive in order and once. Faults are delays, losses,
cuts, resets and refusals."""

from emulator.network.client import Client, Disconnected
from emulator.network.delay import NO_DELAY, Delay
from emulator.network.endpoint import Endpoint
from emulator.network.interceptors import Hold, InterceptedMessage
from emulator.network.loss import Burst, Loss
from emulator.network.network import Network, NetworkSpec, Nic
from emulator.network.server import Channel, Server, serve

__all__ = [
    "NO_DELAY", "Burst", "Channel", "Client", "Delay", "Disconnected", "Endpoint", "Hold", "InterceptedMessage", "Loss",
    "Network", "NetworkSpec", "Nic", "Server", "serve",
]  # fmt: skip
