"""For tests: coroutines in a world of virtual time."""

from emulator.kernel import Deadlock, ForeignAwait, World

__all__ = ["Deadlock", "ForeignAwait", "World"]
