"""Machines, and the processes that start and crash on them."""

from emulator.nodes.node import Listener, Node
from emulator.nodes.process import CrashKind, Process
from emulator.nodes.ticks import Agenda

__all__ = ["Agenda", "CrashKind", "Listener", "Node", "Process"]
