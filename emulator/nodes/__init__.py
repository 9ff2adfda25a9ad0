"""Machines, and the processes that start and crash on them."""

from emulator.nodes.node import Listener, Node
from emulator.nodes.process import CrashKind, Process
from emulator.nodes.ticks import Ticks

__all__ = ["CrashKind", "Listener", "Node", "Process", "Ticks"]
