"""Memories: what a role of a process keeps, each declared with its source, so that it can be compared with what a fresh
process would read there."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from attrs import frozen

R = TypeVar("R")


@frozen
class Memory(Generic[R]):
    """One thing that a role remembers.

    Attributes:
        name: its name, once in its role.
        source: where a fresh process reads it, or learns of it; a phrase.
        text: what it is, in a line.
        read: a copy of it, made of values that do not change.
        checker: the checker that compares it; empty: none does, and ``text`` says why.
        outlives: it stays when the role ends (a controller resigns).
    """

    name: str
    source: str
    text: str
    read: Callable[[R], Any]
    checker: str = ""
    outlives: bool = False


class Recalled(dict[str, Any]):
    """All that a role remembers at this moment, by the names of its memories, each read as it is first asked for."""

    def __init__(self, memories: Iterable[Memory[R]], role: R) -> None:
        super().__init__()
        self._reads = {memory.name: memory.read for memory in memories}
        self._role = role

    def __missing__(self, name: str) -> Any:
        found = self[name] = self._reads[name](self._role)
        return found


def recalled(memories: Iterable[Memory[R]], role: R) -> dict[str, Any]:
    """All that ``role`` remembers now, by the names of ``memories``."""
    return {memory.name: memory.read(role) for memory in memories}
