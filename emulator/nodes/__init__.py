"""Machines and the processes that live and die on them."""

from emulator.nodes.node import Node
from emulator.nodes.process import Process

__all__ = ["Node", "Process"]
