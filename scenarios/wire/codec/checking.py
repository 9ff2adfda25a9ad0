"""The problems of a body that was to be written: for messages about our own mistakes, and for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from scenarios.wire.codec.schema import FIXED, Field

BITS: Final = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "bytes": (bytes, bytearray, memoryview),
    "records": (bytes, bytearray, memoryview),
    "uuid": (bytes,),
}


def problems(fields: Sequence[Field], version: int, body: Any, path: str = "") -> Iterator[str]:
    """Each value that cannot be written, and each key that the message does not have in any version."""
    if not isinstance(body, Mapping):
        yield f"{path or 'the body'} is {body!r}, not a dict"
        return
    known = {each.name: each for each in fields}
    for name, value in body.items():
        where = f"{path}.{name}" if path else name
        if name not in known:
            yield f"{where} is no field; there are {', '.join(known)}"
        elif version in known[name].versions:
            yield from _value(known[name], version, value, where)


def _value(field: Field, version: int, value: Any, path: str) -> Iterator[str]:
    if value is None:
        if version not in field.nullable and field.tag is None:
            yield f"{path} is null, which it cannot be in version {version}"
    elif not field.is_array:
        yield from _element(field, version, value, path)
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for index, each in enumerate(value):
            yield from _element(field, version, each, f"{path}[{index}]")
    else:
        yield f"{path} is {value!r}, not a list"


def _element(field: Field, version: int, value: Any, path: str) -> Iterator[str]:
    kind = field.element
    if kind == "struct":
        yield from problems(field.fields, version, value, path)
    elif kind in BITS:
        if not isinstance(value, int) or not -(1 << BITS[kind]) <= value < 1 << BITS[kind]:
            yield f"{path} is {value!r}, not an {kind}"
    elif kind not in FIXED and not isinstance(value, TYPES[kind]):
        yield f"{path} is {value!r}, not {kind}"
