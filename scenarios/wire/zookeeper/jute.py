"""Jute, ZooKeeper's serialization (org.apache.jute.BinaryInputArchive, 3.4): kinds of values, read and written alike.

Numbers are big-endian; buffers, texts and vectors begin with a length of four bytes, which is -1 for null.
"""

import struct
from collections.abc import Mapping
from typing import Any, Protocol

from attrs import define, field, frozen

_INT, _LONG = struct.Struct(">i"), struct.Struct(">q")


class MalformedRecord(Exception):
    """The bytes are not such a record; the message says why."""


@define
class JuteReader:
    """Bytes that are read from the front."""

    data: bytes
    at: int = 0

    def take(self, count: int) -> bytes:
        """The next bytes. Raises: MalformedRecord where there are fewer."""
        if not 0 <= count <= self.left:
            raise MalformedRecord(f"{count} bytes are wanted at byte {self.at}, and {self.left} are left")
        self.at += count
        return self.data[self.at - count : self.at]

    @property
    def left(self) -> int:
        return len(self.data) - self.at


class JuteType(Protocol):
    """A kind of value."""

    def read(self, source: JuteReader) -> Any:
        """Raises: MalformedRecord."""

    def write(self, value: Any) -> bytes: ...


@frozen
class JuteNumber:
    """An int of four bytes, or a long of eight."""

    form: struct.Struct

    def read(self, source: JuteReader) -> int:
        found: int = self.form.unpack(source.take(self.form.size))[0]
        return found

    def write(self, value: int) -> bytes:
        return self.form.pack(value)


INT, LONG = JuteNumber(_INT), JuteNumber(_LONG)


@frozen
class _Boolean:
    def read(self, source: JuteReader) -> bool:
        return source.take(1) != b"\0"

    def write(self, value: bool) -> bytes:
        return b"\1" if value else b"\0"


@frozen
class _Buffer:
    """Bytes, or None."""

    def read(self, source: JuteReader) -> bytes | None:
        length = INT.read(source)
        return None if length == -1 else source.take(length)

    def write(self, value: bytes | None) -> bytes:
        return INT.write(-1) if value is None else INT.write(len(value)) + value


@frozen
class _Text:
    """UTF-8, or None."""

    def read(self, source: JuteReader) -> str | None:
        data = BUFFER.read(source)
        try:
            return None if data is None else data.decode()
        except UnicodeDecodeError as error:
            raise MalformedRecord(f"a text is no UTF-8 ({error.reason} at byte {error.start})") from None

    def write(self, value: str | None) -> bytes:
        return BUFFER.write(None if value is None else value.encode())


BOOLEAN, BUFFER, TEXT = _Boolean(), _Buffer(), _Text()


@frozen
class Vector:
    """A list. One that is null is read as an empty one, as ZooKeeper's server takes it."""

    of: JuteType

    def read(self, source: JuteReader) -> list[Any]:
        count = INT.read(source)
        # Each element takes four bytes or more: a count beyond that would fill the memory before it fails.
        if not -1 <= count <= source.left // 4:
            raise MalformedRecord(f"a list of {count}, and {source.left} bytes are left")
        return [self.of.read(source) for _ in range(count)]

    def write(self, value: list[Any]) -> bytes:
        return INT.write(len(value)) + b"".join(map(self.of.write, value))


@frozen(eq=False)
class Record:
    """Fields in their order; as a value a dictionary.

    Attributes:
        optional: the last fields, which may be missing: clients before 3.4 do not send them.
    """

    fields: Mapping[str, JuteType]
    optional: frozenset[str] = field(factory=frozenset)

    def read(self, source: JuteReader) -> dict[str, Any]:
        return {
            name: kind.read(source) for name, kind in self.fields.items() if source.left or name not in self.optional
        }

    def write(self, value: Mapping[str, Any]) -> bytes:
        return b"".join(
            kind.write(value[name]) for name, kind in self.fields.items() if name in value or name not in self.optional
        )

    def decode(self, data: bytes) -> dict[str, Any]:
        """The record in these bytes. Raises: MalformedRecord, also where bytes are left over."""
        source = JuteReader(data)
        found = self.read(source)
        if source.left:
            raise MalformedRecord(f"{source.left} bytes are left over")
        return found
