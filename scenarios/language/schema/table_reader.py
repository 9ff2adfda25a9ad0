"""From a table to a class and back, driven by one declaration per key.

A block of the scenario file is a frozen attrs class; each field carries a ``key(kind, help)`` in its
metadata. ``Block`` reads a table into the class (unknown keys are refused with a suggestion, missing ones
named), writes it back without what equals its default, and describes it as JSON Schema. ``Checked``, the base of
these classes, asks the same kinds of what Python code gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs
from attrs import frozen

from scenarios.errors import BadInput, Together, UnknownKey, did_you_mean
from scenarios.language.schema.kinds import Kind, Schema, at, instance_of, refuse
from scenarios.language.schema.toml_text import write_value

T = TypeVar("T")
_METADATA = "scenario-key"
_MISSING = object()


@frozen
class Key:
    """One key of a block: its name in the file, its kind, and a line of help.

    Attributes:
        attribute: the attribute that holds it; ``argument``: the argument of the class.
        default: the attribute's default, or the factory of it, as attrs has it.
    """

    attribute: str
    argument: str
    name: str
    kind: Kind[Any]
    help: str
    required: bool
    default: Any


def key(kind: Kind[Any], help: str, *, name: str = "") -> dict[str, object]:
    """Metadata for ``attrs.field``: the field holds the file's key ``name`` (the attribute's own name if
    empty)."""
    return {_METADATA: (name, kind, help)}


def keys_of(block: type[Any]) -> tuple[Key, ...]:
    """The keys that a block class declares, in order; fields without a declaration are not part of the
    file."""
    if block in _KEYS:
        return _KEYS[block]
    found = []
    for field in attrs.fields(block):
        if _METADATA in field.metadata:
            name, kind, help = field.metadata[_METADATA]
            argument, required = field.alias or field.name, field.default is attrs.NOTHING
            found.append(Key(field.name, argument, name or field.name, kind, help, required, field.default))
    _KEYS[block] = tuple(found)
    return _KEYS[block]


_KEYS: dict[type[Any], tuple[Key, ...]] = {}
"""The keys of the block classes that were asked for."""


class Checked:
    """The base of blocks: a value that Python code gives to a key is checked as one of a file is.

    A class with an ``__attrs_post_init__`` of its own calls this one first.

    Raises: BadInput, with the class and the argument, what is wrong, and what would be right.
    """

    __slots__ = ()

    def __attrs_post_init__(self) -> None:
        block = type(self)
        for one in keys_of(block):
            value = getattr(self, one.attribute)
            if type(value) is type(one.default) and value == one.default:
                continue  # a default may say that the file has no such key
            found = at(f"{block.__name__}.{one.argument}", one.kind.checked, value)
            if found is not value:
                object.__setattr__(self, one.attribute, found)


def refuse_unknown(table: Mapping[str, object], known: Iterable[str], hints: Mapping[str, str] | None = None) -> None:
    """Refuse the keys that are not ``known`` (UnknownKey); ``hints`` explains some better than a suggestion could."""
    names, wrong = list(known), Together()
    for name in table:
        if name not in names:
            hint = (hints or {}).get(name) or did_you_mean(str(name), names)
            wrong.add(UnknownKey(f"unknown key {name!r}; {hint}", where=str(name)))
    wrong.refuse()


class TableReader:
    """A table that is read key by key; ``finish`` refuses the keys that were not taken."""

    def __init__(self, table: object) -> None:
        if not isinstance(table, Mapping):
            raise refuse(table, "a table of keys")
        self.table: Mapping[str, object] = table
        self._taken: list[str] = []

    def take(self, name: str, kind: Kind[T], default: Any = _MISSING) -> T:
        """The value of ``name``, read as ``kind``; ``default`` when absent, an error when absent without
        default."""
        self._taken.append(name)
        if name not in self.table:
            if default is _MISSING:
                raise BadInput(f"the key {name!r} is missing; add it")
            return default  # type: ignore[no-any-return]
        return at(name, kind.read, self.table[name])

    def finish(self, hints: Mapping[str, str] | None = None) -> None:
        refuse_unknown(self.table, self._taken, hints)


@frozen
class Block(Kind[Any]):
    """A table that becomes an instance of ``cls``."""

    cls: type[Any]

    def read(self, value: object) -> Any:
        entries, wrong = keys_of(self.cls), Together()
        names = [entry.name for entry in entries]
        if isinstance(value, str) and "name" in names:
            raise refuse(value, f"a table of keys, such as {write_value({'name': value})}")
        reader = TableReader(value)
        wrong.attempt(refuse_unknown, reader.table, names, getattr(self.cls, "KEY_HINTS", None))
        misspelt = any(name not in names for name in reader.table)
        # A misspelt required key is reported as misspelt, and not as missing.
        present = [e for e in entries if e.name in reader.table or (e.required and not misspelt)]
        found = {entry.argument: wrong.attempt(reader.take, entry.name, entry.kind) for entry in present}
        wrong.refuse()
        return self.cls(**found)

    def checked(self, value: object) -> Any:
        return instance_of(value, self.cls)

    def dump(self, value: Any) -> dict[str, object]:
        return {entry.name: entry.kind.dump(found) for entry, found in stated(value)}

    def schema(self) -> Schema:
        entries = keys_of(self.cls)
        summary = (self.cls.__doc__ or "").strip().split("\n")[0]
        return {
            "type": "object",
            "description": summary,
            "properties": {entry.name: {**entry.kind.schema(), "description": entry.help} for entry in entries},
            "required": [entry.name for entry in entries if entry.required],
            "additionalProperties": False,
        }


def stated(value: Any) -> Iterable[tuple[Key, Any]]:
    """The keys of a block instance whose value differs from the default, with that value."""
    for entry in keys_of(type(value)):
        found, default = getattr(value, entry.attribute), entry.default
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            default = default.factory(value) if default.takes_self else default.factory()
        if entry.required or found != default:
            yield entry, found
