"""Machines, and the processes that start and crash on them."""

from emulator.nodes.node import Listener, Node
from emulator.nodes.process import CrashKind, Process

__all__ = ["CrashKind", "Listener", "Node", "Process"]
