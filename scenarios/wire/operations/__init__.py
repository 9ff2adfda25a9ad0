"""The operations on a live cluster from outside, one file for each theme (``@operation``). Every other operation is an
action of the scenario language."""

from scenarios.wire.operations.performing import Answer, Asked, Operations, Reply, operation

__all__ = ["Answer", "Asked", "Operations", "Reply", "operation"]
