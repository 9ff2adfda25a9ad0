"""Facts: what a checker found, as data, with the sentence that says it.

A kind of facts is a named tuple. Its fields hold every number and name that its sentence has, but for the partition,
which the violation names. Nothing reads the sentence but people: who asks what was found reads the fields.

The modules of the kinds do without ``from __future__ import annotations``: every start imports them, and a named tuple
compiles each annotation that is a text.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol

from emulator.protocol.types import TopicPartition


class Facts(Protocol):
    """Facts that break an invariant. In this package each kind of them is a named tuple."""

    def in_words(self, tp: TopicPartition | None) -> str:
        """The sentence. ``tp``: the partition that the violation is about."""
        ...


class Part(Enum):
    """A condition of an invariant that has several; its value is its sentence. It is known by its name."""

    @property
    def words(self) -> str:
        """The sentence that says what should hold."""
        return str(self.value)


def plain(value: Any) -> Any:
    """A value of facts as JSON has it: a partition by its name, a record as an object, a part by its name."""
    if isinstance(value, TopicPartition):
        return str(value)
    if isinstance(value, Enum):
        return value.name.lower()
    if hasattr(value, "_asdict"):
        return {name: plain(field) for name, field in value._asdict().items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value


class About(Protocol):
    """A violation, or a condition that does not hold: what facts are about."""

    @property
    def part(self) -> Part | None: ...

    @property
    def partition(self) -> TopicPartition | None: ...

    @property
    def brokers(self) -> tuple[int, ...]: ...

    @property
    def facts(self) -> Facts: ...


def about(violation: About) -> dict[str, Any]:
    """The subject and the facts of a violation as JSON has them: the part of the invariant, the partition, the brokers,
    and the facts with their kind."""
    return {
        "part": plain(violation.part),
        "partition": plain(violation.partition),
        "brokers": list(violation.brokers),
        "kind": type(violation.facts).__name__,
        "facts": plain(violation.facts),
    }
