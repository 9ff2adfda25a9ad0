"""``--set key=value``: changing one key of a scenario by its path, such as ``topics[0].size`` or
``cluster.config.X``.

The change is made in the written form of the scenario, which is then read again: so the same checks and the
same suggestions apply as in a file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from scenarios.errors import BadInput
from scenarios.language.schema.kinds import Kind, ListOf, at
from scenarios.language.schema.table_reader import Block, keys_of, refuse_unknown
from scenarios.language.schema.toml_text import LONG, write_value
from scenarios.reading import parse_toml

_SEGMENT = re.compile(r"([^.\[\]]+)((?:\[\d{1,9}\])*)", re.ASCII)


def parse_value(text: str) -> object:
    """A value from the command line: TOML where it is TOML (``1``, ``true``, ``[3, 4]``), else the text itself
    (``5m``)."""
    try:
        return parse_toml(f"value = {text}", long=LONG)["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text


def value_text(value: object) -> str:
    """The text that ``parse_value`` reads as this value: ``5m`` as it is, everything else as TOML."""
    if isinstance(value, str) and parse_value(value) == value:
        return value
    return write_value(value)


def override(document: dict[str, Any], scenario: Block, path: str, value: object) -> None:
    """Set ``path`` in the scenario's document to ``value``; the document is changed in place."""
    try:
        container, name = _find(document, scenario, path)
    except LookupError:
        hint = "name a key such as 'horizon' or 'topics[0].size'"
        raise BadInput(f"there is nothing to set; {hint}", where=path) from None
    try:
        container[name] = parse_value(value) if isinstance(value, str) else value
    except BadInput as error:
        raise BadInput(error.what, where=path) from None


def _find(document: Any, kind: Kind[Any], path: str) -> tuple[Any, Any]:
    """The table or list that holds the last part of ``path``, and that part."""
    container: Any = document
    names = _split(path, kind)
    for name, following in pairwise(names):
        _must_hold(container, name)
        if isinstance(container, dict):
            container = container.setdefault(name, [] if isinstance(following, int) else {})
        else:
            container = container[name]
    _must_hold(container, names[-1])
    return container, names[-1]


def _must_hold(container: object, name: str | int) -> None:
    """Check the part of a path that is set: tables have keys, lists have the numbers of their items, and plain values
    have no parts."""
    if isinstance(container, dict) and isinstance(name, str):
        return
    if not (isinstance(container, list) and isinstance(name, int) and name < len(container)):
        raise LookupError(name)


def _split(path: str, kind: Kind[Any] | None) -> list[str | int]:
    """The parts of a path: ``topics[0].size`` is ``topics``, 0, ``size``; below a table of free keys the dots belong to
    the key."""
    names: list[str | int] = []
    rest = path
    while rest:
        if kind is not None and kind.free_keys:
            return [*names, _unquoted(rest)]
        match = _SEGMENT.match(rest)
        if match is None:
            raise LookupError(path)
        name, indexes = match.groups()
        names += [name, *(int(index) for index in re.findall(r"\d+", indexes))]
        kind = at(path[: -len(rest)].rstrip("."), partial(_below, kind), name)
        if indexes and isinstance(kind, ListOf):
            kind = kind.item
        rest = rest[match.end() :]
        if rest and not rest.startswith("."):
            raise LookupError(path)
        rest = rest.removeprefix(".")
    if not names:
        raise LookupError(path)
    return names


def _unquoted(name: str) -> str:
    """The key without its quotes. A key with dots may be in quotes, as in a file:
    ``cluster.config."min.insync.replicas"``."""
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _below(kind: Kind[Any] | None, name: str) -> Kind[Any] | None:
    """The kind of one key of a block; None where the keys depend on the values (entries of the method)."""
    if not isinstance(kind, Block):
        return None
    kinds = {entry.name: entry.kind for entry in keys_of(kind.cls)}
    refuse_unknown({name: None}, kinds)
    return kinds[name]


def overridden(document: Mapping[str, Any], scenario: Block, changes: Mapping[str, object]) -> dict[str, Any]:
    """A document with all ``changes`` made, in order. ``document`` must be a fresh dump: its tables are
    changed."""
    result = dict(document)
    for path, value in changes.items():
        override(result, scenario, path, value)
    return result
