"""Compiles a reader for each message and version: a function of the bytes that returns the body as a dict.

Neighbouring fields of fixed size, and the length that follows them, are unpacked by one call of ``struct``. Before
anything is read by a length, the length is compared with the bytes that are left in the frame. So is the count of an
array: its elements, each at its smallest size, have to fit. All arrays of a frame together may have no more elements
than the frame's budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from struct import Struct, unpack_from
from typing import Any, Final

from attrs import evolve

from scenarios.wire.codec.malformed import MalformedFrame, bad_length, short, too_many
from scenarios.wire.codec.schema import FIXED, NO_VERSION, Field, at
from scenarios.wire.codec.source import Source

FEW: Final = 16
"""The length below which an array of numbers is unpacked by a Struct that is made beforehand."""
MAX_STRING: Final = 0x7FFF
MAX_LENGTH: Final = 0x7FFFFFFF
PREFIX: Final = {"string": "h"}
"""The struct letter of a length or a count before KIP-482, by type; every other type has ``i``."""

Reader = Callable[[Any, int, int, int], tuple[dict[str, Any], int]]
"""A function of the frame, the start of the body, the end of the frame, and the most elements of its arrays together.

Returns the body and its end. Raises MalformedFrame.
"""


def unsigned(frame: Any, at: int, end: int, limit: int, path: str) -> tuple[int, int]:
    """An unsigned varint of at most five bytes, and its end."""
    value = 0
    for shift in range(0, 35, 7):
        if at >= end:
            raise MalformedFrame(path, "the frame ends inside the variable-length integer of this field")
        byte = frame[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value > limit:
                raise MalformedFrame(path, f"{value} is more than the {limit} that this field can have")
            return value, at
    raise MalformedFrame(path, "a variable-length integer of more than five bytes")


def skipped_tags(frame: Any, at: int, end: int, path: str) -> int:
    """The end of the tagged fields, of which this version knows none."""
    count, at = unsigned(frame, at, end, MAX_LENGTH, path)
    for _ in range(count):
        _, at = unsigned(frame, at, end, MAX_LENGTH, path)
        size, at = unsigned(frame, at, end, MAX_LENGTH, path)
        if size > end - at:
            raise bad_length(path, size, end - at)
        at += size
    return at


NAMES: Final[dict[str, Any]] = {
    "MalformedFrame": MalformedFrame,
    "Struct": Struct,
    "bad_length": bad_length,
    "short": short,
    "skipped_tags": skipped_tags,
    "too_many": too_many,
    "unpack_from": unpack_from,
    "unsigned": unsigned,
}


class _Place:
    """The place of a reader inside a message: the path's constant parts, and the variables that count its elements."""

    def __init__(self, text: str = "", counters: tuple[str, ...] = ()) -> None:
        self.text = text
        self.counters = counters

    def within(self, name: str) -> _Place:
        return _Place(f"{self.text}{name}", self.counters)

    def element(self, counter: str) -> _Place:
        return _Place(f"{self.text}[%d]", (*self.counters, counter))

    @property
    def fields(self) -> _Place:
        return _Place(f"{self.text}." if self.text else "", self.counters)

    def __str__(self) -> str:
        """The place as an expression of the source."""
        return f"{self.text!r} % ({', '.join(self.counters)},)" if self.counters else repr(self.text)


class _ReaderCompiler:
    """Writes the source of one reader."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.out = Source()
        self.names = dict(NAMES)
        self.waiting: list[tuple[str, str, str]] = []
        """Fields of fixed size that are not unpacked yet: letter, variable, Kafka's name."""

    def struct(self, fields: Sequence[Field], place: _Place) -> str:
        """Read the fields of a struct; return the expression of their dict."""
        plain, tagged, lacking = at(fields, self.version)
        values = {each.name: self.value(each, place.fields) for each in plain}
        if self.flexible:
            values.update(self.tags(tagged, place))
        self.flush(place.fields)
        values.update({each.name: repr(each.default) for each in lacking})
        return "{" + ", ".join(f"{each.name!r}: {values[each.name]}" for each in fields) + "}"

    def value(self, field: Field, place: _Place) -> str:
        """Read a value, now or with the fields that follow; return its expression."""
        if field.is_array:
            return self.array(field, place)
        if field.type == "struct":
            self.flush(place)
            return self.struct(field.fields, place.within(field.name))
        name = self.out.name(field.name)
        if field.type in FIXED:
            self.waiting.append((FIXED[field.type], name, field.name))
        elif field.type == "uuid":
            self.waiting.append(("16s", name, field.name))
        else:
            self.sized(field, name, place)
        return name

    def sized(self, field: Field, name: str, place: _Place) -> None:
        """Reads a string or bytes."""
        out, here = self.out, place.within(field.name)
        text = field.type == "string"
        length = self.length(field, place, MAX_STRING + 1 if text else MAX_LENGTH)
        part = f"frame[at:{name}]"
        # Bytes that are not UTF-8 are replaced, as in Kafka: a group or a client may be named in another encoding.
        value = f'str({part}, "utf-8", "replace")' if text else f"bytes({part})"
        with self.unless_null(field, length, name):
            out.line(f"{name} = at + {length}")
            with out.block(f"if {length} < 0 or {name} > end:"):
                out.line(f"raise bad_length({here}, {length}, end - at)")
            out.line(f"at, {name} = {name}, {value}")

    def length(self, field: Field, place: _Place, limit: int) -> str:
        """Reads the length of a field, or the count of an array; returns its variable. -1 is null."""
        out = self.out
        name = out.name("n")
        if not self.flexible:
            self.waiting.append((PREFIX.get(field.type, "i"), name, field.name))
            self.flush(place)
            return name
        self.waiting.append(("B", name, field.name))
        self.flush(place)
        with out.block(f"if {name} > 127:"):
            out.line(f"{name}, at = unsigned(frame, at - 1, end, {limit}, {place.within(field.name)})")
        out.line(f"{name} -= 1")
        return name

    def unless_null(self, field: Field, length: str, name: str) -> AbstractContextManager[None]:
        """A block of the source for what is read if the field is not null."""
        if self.version not in field.nullable:
            return nullcontext()
        with self.out.block(f"if {length} == -1:"):
            self.out.line(f"{name} = None")
        return self.out.block("else:")

    def array(self, field: Field, place: _Place) -> str:
        out, here = self.out, place.within(field.name)
        name = out.name(field.name)
        count = self.length(field, place, MAX_LENGTH)
        element = evolve(field, type=field.element, nullable=NO_VERSION)
        smallest = self.smallest(element)
        with self.unless_null(field, count, name):
            with out.block(f"if {count} < 0 or {count} * {smallest} > end - at:"):
                out.line(f"raise bad_length({here}, {count}, end - at, 'elements')")
            out.line(f"left -= {count}")
            with out.block("if left < 0:"):
                out.line(f"raise too_many({here}, budget)")
            if element.type in FIXED:
                letter = FIXED[element.type]
                few = f"few_{letter.replace('?', 'o')}"
                self.names[few] = [Struct(f">{number}{letter}").unpack_from for number in range(FEW)]
                unpack = (
                    f"{few}[{count}](frame, at) if {count} < {FEW} else unpack_from('>%d{letter}' % {count}, frame, at)"
                )
                out.line(f"{name} = list({unpack})")
                out.line(f"at += {count} * {smallest}")
                return name
            out.line(f"{name} = []")
            counter = out.name("i")
            with out.block(f"for {counter} in range({count}):"):
                inside = here.element(counter)
                value = self.struct(element.fields, inside) if element.type == "struct" else None
                if value is None:
                    value = self.value(evolve(element, name=""), inside)
                    self.flush(inside)
                out.line(f"{name}.append({value})")
        return name

    def tags(self, tagged: list[Field], place: _Place) -> dict[str, str]:
        """Reads a struct's tagged fields; returns the variables of those that are known."""
        out, here = self.out, place.within("tags" if not place.text else ".tags")
        first = out.name("tags")
        self.waiting.append(("B", first, "tagged fields"))
        self.flush(place.fields)
        names = {each.name: out.name(each.name) for each in tagged}
        for each in tagged:
            out.line(f"{names[each.name]} = {each.default!r}")
        with out.block(f"if {first}:"):
            if not tagged:
                out.line(f"at = skipped_tags(frame, at - 1, end, {here})")
                return names
            count, tag, stop = out.name("n"), out.name("tag"), out.name("stop")
            out.line(f"{count}, at = unsigned(frame, at - 1, end, {MAX_LENGTH}, {here})")
            with out.block(f"for _ in range({count}):"):
                out.line(f"{tag}, at = unsigned(frame, at, end, {MAX_LENGTH}, {here})")
                out.line(f"{stop}, at = unsigned(frame, at, end, {MAX_LENGTH}, {here})")
                with out.block(f"if {stop} > end - at:"):
                    out.line(f"raise bad_length({here}, {stop}, end - at)")
                out.line(f"{stop} += at")
                for each in tagged:
                    with out.block(f"if {tag} == {each.tag}:"):
                        value = self.value(each, place.fields)
                        self.flush(place.fields)
                        out.line(f"{names[each.name]} = {value}")
                        with out.block(f"if at != {stop}:"):
                            problem = "its size is not that of its tagged field"
                            out.line(f"raise MalformedFrame({place.fields.within(each.name)}, {problem!r})")
                out.line(f"at = {stop}")
        return names

    def flush(self, place: _Place) -> None:
        """Unpacks the fields of fixed size that wait."""
        if not self.waiting:
            return
        letters = "".join(letter for letter, _, _ in self.waiting)
        packed = Struct(f">{letters}")
        unpack = f"unpack_{letters.replace('?', 'o')}"
        self.names[unpack] = packed.unpack_from
        ends, size = [], 0
        for letter, _, name in self.waiting:
            size += Struct(f">{letter}").size
            ends.append((size, name))
        with self.out.block(f"if end - at < {size}:"):
            self.out.line(f"raise short(end - at, {tuple(ends)!r}, {place})")
        if letters == "B":
            self.out.line(f"{self.waiting[0][1]} = frame[at]")
        else:
            self.out.line(f"{', '.join(name for _, name, _ in self.waiting)}, = {unpack}(frame, at)")
        self.out.line(f"at += {size}")
        self.waiting.clear()

    def smallest(self, field: Field) -> int:
        """The least number of bytes that a value takes in this version."""
        if field.is_array or field.type not in {*FIXED, "uuid", "struct"}:
            return 1 if self.flexible else Struct(f">{PREFIX.get(field.type, 'i')}").size
        if field.type == "struct":
            plain, _, _ = at(field.fields, self.version)
            return max(1, sum(self.smallest(each) for each in plain) + self.flexible)
        return 16 if field.type == "uuid" else Struct(f">{FIXED[field.type]}").size


def reader(fields: Sequence[Field], version: int, flexible: bool, about: str) -> Reader:
    """The reader of a body with these fields, in that version."""
    compiler = _ReaderCompiler(version, flexible)
    with compiler.out.block("def read(frame, at, end, budget):"):
        compiler.out.line("left = budget")
        compiler.out.line(f"body = {compiler.struct(fields, _Place())}")
        compiler.out.line("return body, at")
    return compiler.out.compiled("read", about, compiler.names)
