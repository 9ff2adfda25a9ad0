"""A ``[[chaos]]`` block: one kind of trouble, or of load, that is drawn from a seed, and the register of all kinds.

A kind is one class: its parameters in the file are attrs fields with a ``key``, ``@chaos`` gives it a name and one line
of help, and the rest of the class draws. ``scenarios.chaos.kinds`` holds the classes, one file for each theme. This
module is what reading, checking and describing a scenario file needs of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Protocol, TypeVar

from attrs import field, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import Integer, Number, Schema
from scenarios.language.schema.spans import RangeOf
from scenarios.language.schema.table_reader import Checked, key, keys_of
from scenarios.language.schema.variant import Variant
from scenarios.language.topic_spec import TopicSpec

HOME = f"{__package__.rpartition('.')[0]}.chaos.kinds"
"""The package of the project's own kinds. They need the fault actions: it is imported when a block is read."""


class Names(Protocol):
    """The brokers and topics that a block may name: the part of ``scenarios.language.known_names.KnownNames`` that
    kinds use."""

    ids: Sequence[int]
    topics: dict[str, TopicSpec]

    @property
    def least_brokers(self) -> int: ...
    def all_brokers(self, brokers: Iterable[int], where: str) -> None: ...
    def topic(self, name: str, where: str) -> TopicSpec: ...


COUNT = RangeOf(Integer(0, 100))
SHARE = Number(0, 1)


@frozen(kw_only=True)
class Chaos(Checked):
    """One block with the values of its parameters.

    Attributes:
        kind: its name in the file, such as ``attrition``.
        help: its contribution to a scenario, in one line.
    """

    kind: ClassVar[str]
    help: ClassVar[str]
    share: float = field(
        default=0.5, metadata=key(SHARE, "the share of seeds that have it; the others leave it out (swarm testing)")
    )

    def check(self, names: Names) -> None:
        """Refuse what does not fit the rest of the scenario. Raises: BadInput, relative to the block."""


C = TypeVar("C", bound=Chaos)
KINDS: dict[str, type[Chaos]] = {}
"""The classes of the kinds that have been imported so far, by name. ``all_kinds`` has all."""


def chaos(kind: str, help: str) -> Callable[[type[C]], type[C]]:
    """Register a kind's class under its name in the file.

    Raises: ValueError where a kind has the name already.
    """

    def register(cls: type[C]) -> type[C]:
        if kind in KINDS:
            raise ValueError(f"there is a kind of chaos {kind!r} already: {KINDS[kind].__module__}")
        cls.kind, cls.help = kind, help
        KINDS[kind] = cls
        return cls

    return register


def all_kinds() -> Mapping[str, type[Chaos]]:
    """Every kind by its name, the project's own in the order of their files."""
    import_module(HOME)  # by name: they stand above, and only a file with a block of chaos needs them
    return KINDS


def find_kind(name: str) -> type[Chaos]:
    """The kind of that name; ``BadInput`` when there is none."""
    kinds = all_kinds()
    if name not in kinds:
        raise BadInput(f"unknown kind of chaos {name!r}; {did_you_mean(name, kinds)}")
    return kinds[name]


class ChaosBlock(Variant[Chaos]):
    """A table whose key ``kind`` decides what other keys it may have."""

    def schema(self) -> Schema:
        return {"oneOf": [self._kind_schema(kind) for kind in all_kinds().values()]}

    def _kind_schema(self, kind: type[Chaos]) -> Schema:
        keys = keys_of(kind)
        properties: dict[str, Any] = {one.name: {**one.kind.schema(), "description": one.help} for one in keys}
        return {
            "type": "object",
            "description": kind.help,
            "properties": {"kind": {"const": kind.kind}, **properties},
            "required": ["kind", *(one.name for one in keys if one.required)],
            "additionalProperties": False,
        }


CHAOS = ChaosBlock("kind", find_kind)
