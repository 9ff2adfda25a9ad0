"""Keys and values of coordinators' records, converted to dicts and back (``messages.stored``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from struct import Struct
from typing import Any, Final

from scenarios.wire.codec.malformed import MalformedFrame, short
from scenarios.wire.codec.reader_compiler import Reader, reader
from scenarios.wire.codec.schema import Stored
from scenarios.wire.codec.writer_compiler import Writer, writer

_VERSION: Final = Struct(">h")


@cache
def _reader(stored: Stored, version: int) -> Reader:
    return reader(stored.fields, version, flexible=False, about=f"read {stored.name} v{version}")


@cache
def _writer(stored: Stored, version: int) -> Writer:
    return writer(stored.fields, version, flexible=False, about=f"write {stored.name} v{version}")


def version_of(data: bytes) -> int:
    """The version of a key or a value. Raises: MalformedFrame."""
    if len(data) < _VERSION.size:
        raise short(len(data), ((_VERSION.size, "version"),), "")
    version: int = _VERSION.unpack_from(data)[0]
    return version


def encode_stored(stored: Stored, version: int, body: Mapping[str, Any]) -> bytes:
    """The bytes of a key or a value. Raises: ValueError for a version that the codec does not know."""
    if version not in stored.versions:
        raise ValueError(f"the codec has no {stored.name} of version {version}")
    parts = [_VERSION.pack(version)]
    _writer(stored, version)(parts.append, body)
    return b"".join(parts)


def decode_stored(stored: Stored, data: bytes) -> dict[str, Any]:
    """The fields of a key or a value. Raises: MalformedFrame, also for a version that the codec does not know."""
    version = version_of(data)
    if version not in stored.versions:
        raise MalformedFrame("version", f"{version} of {stored.name} is not supported")
    body, at = _reader(stored, version)(data, _VERSION.size, len(data), len(data))
    if at != len(data):
        raise MalformedFrame("", f"{len(data) - at} bytes follow the end of the {stored.name}")
    return body
