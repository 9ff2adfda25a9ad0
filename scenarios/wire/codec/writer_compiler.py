"""Compiles a writer for each message and version: a function that appends the parts of a body to a list.

Neighbouring fields of fixed size, and the length that follows them, are packed by one call of ``struct``. A key that
the body lacks is written as the field's default, and one that the version lacks is not read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import Struct, pack
from typing import Any, Final

from attrs import evolve

from emulator.protocol.records import unsigned_varint
from scenarios.wire.codec.schema import FIXED, NO_VERSION, Field, at
from scenarios.wire.codec.source import Source

Writer = Callable[[Callable[[Any], None], Mapping[str, Any]], None]
"""A function of the one that takes each part of the frame, and of the body."""


FEW: Final = 16
"""The length below which an array of numbers is packed by a Struct that is made beforehand."""

ONE_BYTE: Final = tuple(bytes([value]) for value in range(128))
NAMES: Final[dict[str, Any]] = {"SHORT": ONE_BYTE, "pack": pack, "unsigned": unsigned_varint}


def varint(value: str) -> str:
    """The expression of a varint; most varints have one byte."""
    return f"SHORT[{value}] if {value} < 128 else unsigned({value})"


class _WriterCompiler:
    """Writes the source of one writer."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.out = Source()
        self.names = dict(NAMES)
        self.waiting: list[tuple[str, str]] = []
        """Fields of fixed size that are not packed yet: letter and expression."""

    def struct(self, fields: Sequence[Field], body: str, add: str) -> None:
        """Write the fields of a struct, from the dict ``body``, to what ``add`` calls."""
        plain, tagged, _ = at(fields, self.version)
        get = self.out.name("get")
        self.out.line(f"{get} = {body}.get")
        for each in plain:
            self.value(each, self.taken(each, get), add)
        if self.flexible:
            self.tags(tagged, get, add)

    def taken(self, field: Field, get: str) -> str:
        """The expression of a field's value."""
        default = field.default
        return f"{get}({field.name!r})" if default is None else f"{get}({field.name!r}, {default!r})"

    def value(self, field: Field, value: str, add: str) -> None:
        if field.is_array:
            self.array(field, value, add)
        elif field.type == "struct":
            self.struct(field.fields, value, add)
        elif field.type in FIXED:
            self.waiting.append((FIXED[field.type], value))
        elif field.type == "uuid":
            self.waiting.append(("16s", value))
        else:
            self.sized(field, value, add)

    def sized(self, field: Field, value: str, add: str) -> None:
        """Writes a string or bytes with their length."""
        out, name = self.out, self.out.name(field.name)
        out.line(f"{name} = {value}")
        encoded = f"{name}.encode()" if field.type == "string" else name
        letter = "h" if field.type == "string" else "i"
        if self.version in field.nullable:
            length = out.name("n")
            with out.block(f"if {name} is None:"):
                out.line(f"{name}, {length} = b'', -1")
            with out.block("else:"):
                if encoded != name:
                    out.line(f"{name} = {encoded}")
                out.line(f"{length} = len({name})")
        else:
            if encoded != name:
                out.line(f"{name} = {encoded}")
            length = f"len({name})"
        self.length(letter, length, add)
        out.line(f"{add}({name})")

    def length(self, letter: str, value: str, add: str) -> None:
        """Writes a length or a count; -1 is null."""
        if not self.flexible:
            self.waiting.append((letter, value))
            self.flush(add)
            return
        self.flush(add)
        name = self.out.name("n")
        self.out.line(f"{name} = {value} + 1")
        self.out.line(f"{add}({varint(name)})")

    def array(self, field: Field, value: str, add: str) -> None:
        out, name, row = self.out, self.out.name(field.name), self.out.name("row")
        element = evolve(field, name="", type=field.element, nullable=NO_VERSION)
        out.line(f"{name} = {value}")
        length = f"len({name})"
        if self.version in field.nullable:
            length = out.name("n")
            with out.block(f"if {name} is None:"):
                out.line(f"{name}, {length} = (), -1")
            with out.block("else:"):
                out.line(f"{length} = len({name})")
        if element.type in FIXED:
            self.numbers(FIXED[element.type], name, length, add)
            return
        self.length("i", length, add)
        with out.block(f"for {row} in {name}:"):
            self.value(element, row, add)
            self.flush(add)

    def numbers(self, letter: str, name: str, length: str, add: str) -> None:
        """Write an array of numbers; a short one, such as replicas, by one call together with its count."""
        out, packs = self.out, f"pack_few_{letter.replace('?', 'o')}"
        count = "B" if self.flexible else "i"
        self.names[packs] = [Struct(f">{count}{few}{letter}").pack for few in range(FEW)]
        self.flush(add)
        with out.block(f"if 0 <= {length} < {FEW}:" if length.isidentifier() else f"if {length} < {FEW}:"):
            out.line(f"{add}({packs}[{length}]({length}{' + 1' if self.flexible else ''}, *{name}))")
        with out.block("else:"):
            self.length("i", length, add)
            out.line(f"{add}(pack('>%d{letter}' % len({name}), *{name}))")

    def tags(self, tagged: list[Field], get: str, add: str) -> None:
        """Write the tagged fields that do not have their default, or an empty list of them."""
        out = self.out
        self.flush(add)
        if not tagged:
            out.line(f"{add}(b'\\0')")
            return
        count, found = out.name("n"), out.name("found")
        out.line(f"{count}, {found} = 0, []")
        for each in tagged:
            name, parts = out.name(each.name), out.name("parts")
            out.line(f"{name} = {self.taken(each, get)}")
            with out.block(f"if {self.differs(each, name)}:"):
                out.line(f"{parts} = []")
                self.value(each, name, f"{parts}.append")
                self.flush(f"{parts}.append")
                out.line(f"{parts} = b''.join({parts})")
                out.line(f"{count} += 1")
                out.line(f"{found} += (SHORT[{each.tag}], unsigned(len({parts})), {parts})")
        out.line(f"{add}(SHORT[{count}])")
        with out.block(f"if {count}:"):
            out.line(f"{add}(b''.join({found}))")

    def differs(self, field: Field, value: str) -> str:
        """The expression that tells whether a value is not its field's default."""
        if field.type == "struct":
            of = [self.differs(each, f"{value}.get({each.name!r}, {each.default!r})") for each in field.fields]
            return f"{value} is not None and ({' or '.join(of)})"
        return f"{value} != {field.default!r}"

    def flush(self, add: str) -> None:
        """Packs the fields of fixed size that wait."""
        if not self.waiting:
            return
        letters = "".join(letter for letter, _ in self.waiting)
        name = f"pack_{letters.replace('?', 'o')}"
        self.names[name] = Struct(f">{letters}").pack
        self.out.line(f"{add}({name}({', '.join(value for _, value in self.waiting)}))")
        self.waiting.clear()


def writer(fields: Sequence[Field], version: int, flexible: bool, about: str) -> Writer:
    """The writer of a body with these fields, in that version."""
    compiler = _WriterCompiler(version, flexible)
    with compiler.out.block("def write(add, body):"):
        compiler.struct(fields, "body", "add")
        compiler.flush("add")
        if not fields:
            compiler.out.line("pass")
    return compiler.out.compiled("write", about, compiler.names)
