"""A table in which one key names a class, which decides what other keys it may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from attrs import frozen

from scenarios.language.schema.kinds import Kind, Text, at, refuse
from scenarios.language.schema.table_reader import Block, TableReader

T = TypeVar("T")
_TEXT = Text()


@frozen
class Variant(Kind[T]):
    """Such a table.

    Attributes:
        tag: the key; the classes have an attribute of that name, which holds their own name.
        find: returns the class of a name. Raises: BadInput for an unknown one.
    """

    tag: str
    find: Callable[[str], type[T]]

    def read(self, value: object) -> T:
        reader = TableReader(value)
        cls = at(self.tag, self.find, reader.take(self.tag, _TEXT))
        found: T = Block(cls).read({name: held for name, held in reader.table.items() if name != self.tag})
        return found

    def checked(self, value: object) -> T:
        cls = type(value)
        name = getattr(cls, self.tag, None)
        if not isinstance(name, str) or self.find(name) is not cls:
            raise refuse(value, f"an instance of a class that stands for a {self.tag}")
        return value  # type: ignore[return-value]

    def dump(self, value: T) -> dict[str, object]:
        return {self.tag: getattr(value, self.tag), **Block(type(value)).dump(value)}
