"""Kinds of value a scenario file may hold: each knows how to read, write and describe one.

A kind is the single place for one type: the reader, the writer, ``--set``, the classes that Python code makes and the
JSON Schema for editors all use it, so that they cannot disagree. ``read`` and ``checked`` raise ``BadInput`` with a
path relative to the value (usually empty); the caller adds its own key with ``under``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from attrs import frozen

from scenarios import units
from scenarios.errors import BadInput, Together, did_you_mean

T = TypeVar("T")
V = TypeVar("V")
Schema = dict[str, Any]

_NAMES = {
    str: "a text",
    bool: "true or false",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def described(value: object) -> str:
    """A value as an error message names it: ``the text '6'``, ``a list``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"the number {value}" if abs(value) <= units.LARGEST or value != value else "a number that is too large"
    if isinstance(value, str):
        return f"the text {value!r}"
    return "None" if value is None else _NAMES.get(type(value), f"a value of the type {type(value).__name__}")


def refuse(value: object, wanted: str) -> BadInput:
    return BadInput(f"{described(value)} does not fit; write {wanted}")


class Kind(Generic[T]):
    """A type of value: how it is read from, and written to, a scenario file.

    Attributes:
        free_keys: whether it is a table whose keys may hold dots, as Kafka's settings do: ``--set`` takes the rest of a
            path as one key.
    """

    free_keys: ClassVar[bool] = False

    def read(self, value: object) -> T:
        raise NotImplementedError

    def checked(self, value: object) -> T:
        """A value that Python code gives, as ``read`` would hold it: a list as a tuple. By default Python's form of a
        value is the file's. Raises: BadInput."""
        return self.read(value)

    def dump(self, value: T) -> object:
        """The value as TOML and JSON hold it; ``read(dump(v)) == v``, and ``checked(v) == v``."""
        return value

    def schema(self) -> Schema:
        """The JSON Schema (draft 2020-12) of the kind."""
        raise NotImplementedError


@frozen
class Integer(Kind[int]):
    low: int = 0
    high: int | None = None

    def read(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise refuse(value, self._wanted())
        if value < self.low or (self.high is not None and value > self.high):
            raise refuse(value, self._wanted())
        if value > units.LARGEST:
            raise BadInput(f"the number is too large; write at most {units.LARGEST}")
        return value

    def schema(self) -> Schema:
        top = {} if self.high is None else {"maximum": self.high}
        return {"type": "integer", "minimum": self.low, **top}

    def _wanted(self) -> str:
        return f"an integer from {self.low}" + ("" if self.high is None else f" to {self.high}")


@frozen
class Number(Kind[float]):
    """A number from ``low`` to ``high``, whole or not."""

    low: float
    high: float

    def read(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not self.low <= value <= self.high:
            raise refuse(value, f"a number from {self.low:g} to {self.high:g}")
        return float(value)

    def schema(self) -> Schema:
        return {"type": "number", "minimum": self.low, "maximum": self.high}


@frozen
class Text(Kind[str]):
    check: Callable[[str], object] | None = None
    """A function that raises ``BadInput`` for a text that has the wrong form; its result is not used."""
    form: str = "a text"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise refuse(value, f"{self.form} in quotes")
        if self.check is not None:
            self.check(value)
        return value

    def schema(self) -> Schema:
        return {"type": "string"}


@frozen
class Boolean(Kind[bool]):
    def read(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise refuse(value, "true or false")
        return value

    def schema(self) -> Schema:
        return {"type": "boolean"}


@frozen
class Choice(Kind[str]):
    names: Collection[str]
    what: str = "name"

    def read(self, value: object) -> str:
        if not isinstance(value, str):
            raise refuse(value, f"one of {', '.join(self.names)} in quotes")
        if value not in self.names:
            raise BadInput(f"unknown {self.what} {value!r}; {did_you_mean(value, self.names)}")
        return value

    def schema(self) -> Schema:
        return {"enum": list(self.names)}


@frozen
class Quantity(Kind[int]):
    """A number with a unit, held as an integer of the smallest unit, whose name is ``unit``."""

    parse: Callable[[str], int]
    form: Callable[[int], str]
    example: str
    unit: str
    low: int = 0

    def read(self, value: object) -> int:
        if not isinstance(value, str):
            raise refuse(value, f'it with its unit in quotes, such as "{self.example}"')
        amount = self.parse(value)
        if amount < self.low:
            raise BadInput(f"{value!r} is too small; write at least {self.form(self.low)}")
        return amount

    def checked(self, value: object) -> int:
        whole = isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= units.LARGEST
        if not whole:
            example = f"{self.parse(self.example)} for {self.example}"
            raise refuse(value, f"{self.unit} as an integer from {self.low}, such as {example}")
        return int(value)  # type: ignore[call-overload,no-any-return]

    def dump(self, value: int) -> object:
        return self.form(value)

    def schema(self) -> Schema:
        return {"type": "string", "examples": [self.example]}


@frozen
class SignedDuration(Kind[int]):
    """A duration that may be negative: ``"-30s"``."""

    def read(self, value: object) -> int:
        if not isinstance(value, str):
            raise refuse(value, 'it with its unit in quotes, such as "-30s"')
        text = value.strip()
        amount = units.parse_duration(text.lstrip("+-") if text[1:2] not in ("+", "-") else text)
        return -amount if text.startswith("-") else amount

    def checked(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > units.LARGEST:
            raise refuse(value, "microseconds as an integer, such as -30000000 for -30s")
        return value

    def dump(self, value: int) -> object:
        return ("-" if value < 0 else "") + units.format_duration(abs(value))

    def schema(self) -> Schema:
        return {"type": "string", "pattern": r"^\s*[+-]?(\s*\d+(\.\d+)?\s*[A-Za-zµ]+)+\s*$"}


SIGNED_DURATION = SignedDuration()
DURATION = Quantity(units.parse_duration, units.format_duration, "500ms", "microseconds")
SOME_TIME = Quantity(units.parse_duration, units.format_duration, "500ms", "microseconds", low=1)
SIZE = Quantity(units.parse_size, units.format_size, "64MiB", "bytes")
SIGMA = Number(0, 3)
"""The standard deviation of a delay's logarithm: at 3, one message in a thousand takes 10,000 times the median."""
RATE = Quantity(units.parse_rate, units.format_rate, "200MiB/s", "bytes per second", low=1)


@frozen
class SizeOrInteger(Kind[int]):
    """A count of bytes, bare as Kafka's and OpenMessaging's files have it, or with a unit."""

    low: int = 0

    def read(self, value: object) -> int:
        return SIZE.read(value) if isinstance(value, str) else Integer(self.low).read(value)

    def schema(self) -> Schema:
        return {"anyOf": [Integer(self.low).schema(), SIZE.schema()]}


@frozen
class ListOf(Kind[tuple[Any, ...]]):
    item: Kind[Any]
    unique: bool = False
    empty: bool = True

    def read(self, value: object) -> tuple[Any, ...]:
        return self._taken(value, self.item.read)

    def checked(self, value: object) -> tuple[Any, ...]:
        return self._taken(value, self.item.checked)

    def _taken(self, value: object, take: Callable[[Any], Any]) -> tuple[Any, ...]:
        if isinstance(value, Mapping):
            raise refuse(value, "a list; the header of each table in it has two brackets, [[...]]")
        if not isinstance(value, (list, tuple)):
            raise refuse(value, "a list in [brackets]")
        if not value and not self.empty:
            raise BadInput("the list is empty; name at least one")
        if isinstance(self.item, ListOf) and value and not any(isinstance(one, (list, tuple)) for one in value):
            raise BadInput("a list of lists is meant, one for each; put each into [brackets] of its own")
        try:
            items = tuple(map(take, value))
        except BadInput:  # where it is, and what else is wrong, is asked only now
            wrong = Together()
            items = tuple(wrong.attempt(at, f"[{index}]", take, item) for index, item in enumerate(value))
            wrong.refuse()
        if self.unique:
            _refuse_twice(items, self.item)
        return items

    def dump(self, value: Iterable[Any]) -> object:
        return [self.item.dump(item) for item in value]

    def schema(self) -> Schema:
        limits: Schema = {} if self.empty else {"minItems": 1}
        return {
            "type": "array",
            "items": self.item.schema(),
            **limits,
            **({"uniqueItems": True} if self.unique else {}),
        }


def _refuse_twice(items: tuple[Any, ...], kind: Kind[Any]) -> None:
    try:
        if len(set(items)) == len(items):
            return
        keys: tuple[Any, ...] = items
    except TypeError:  # lists and tables have no hash
        keys = tuple(json.dumps(kind.dump(item), sort_keys=True, default=str) for item in items)
    found: set[Any] = set()
    for index, key in enumerate(keys):
        if key in found:
            raise BadInput(f"{kind.dump(items[index])} is listed twice; name each one once", where=f"[{index}]")
        found.add(key)


@frozen
class MapOf(Kind[dict[str, Any]]):
    free_keys = True
    item: Kind[Any]
    key: Kind[str] = Text()

    def read(self, value: object) -> dict[str, Any]:
        return self._taken(value, self.item.read)

    def checked(self, value: object) -> dict[str, Any]:
        return self._taken(value, self.item.checked)

    def _taken(self, value: object, take: Callable[[Any], Any]) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise refuse(value, "a table in {braces}")
        wrong = Together()
        found = {
            wrong.attempt(at, str(name), self.key.read, name): wrong.attempt(at, str(name), take, item)
            for name, item in value.items()
        }
        wrong.refuse()
        return {str(name): item for name, item in found.items()}

    def dump(self, value: Mapping[str, Any]) -> object:
        return {name: self.item.dump(item) for name, item in value.items()}

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.item.schema()}


@frozen
class Named(Kind[T]):
    """A kind that the JSON Schema states once, under ``$defs``, and refers to elsewhere."""

    name: str
    kind: Kind[T]

    def read(self, value: object) -> T:
        return self.kind.read(value)

    def checked(self, value: object) -> T:
        return self.kind.checked(value)

    def dump(self, value: T) -> object:
        return self.kind.dump(value)

    def schema(self) -> Schema:
        return {"$ref": f"#/$defs/{self.name}"}


BROKER_ID = Integer(0)
REPLICAS = ListOf(BROKER_ID, unique=True, empty=False)


class AnyValue(Kind[object]):
    """Any value that a key of the scenario may have; the key itself says later whether it fits."""

    def read(self, value: object) -> object:
        return value

    def schema(self) -> Schema:
        return {}


class OneOrMore(Kind[tuple[int, ...]]):
    """A broker id, or a list of them."""

    def read(self, value: object) -> tuple[int, ...]:
        return (BROKER_ID.read(value),) if isinstance(value, int) else REPLICAS.read(value)

    def dump(self, value: tuple[int, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    def schema(self) -> Schema:
        return {"anyOf": [BROKER_ID.schema(), REPLICAS.schema()]}


ONE_OR_MORE = OneOrMore()


@frozen
class OneOf(Kind[Any]):
    """Instances of some classes: for a field whose value a file has in several keys."""

    classes: tuple[type[Any], ...]

    def read(self, value: object) -> Any:
        return instance_of(value, *self.classes)


def instance_of(value: object, *classes: type[T]) -> T:
    """The value, if it is an instance of one of the classes. Raises: BadInput."""
    if not isinstance(value, classes):
        raise refuse(value, f"an instance of {' or '.join(one.__name__ for one in classes)}")
    return value


def as_tuple(items: Iterable[Any]) -> tuple[Any, ...]:
    """A converter for fields that Python code may fill with a list. What has no items, or none in an order, stays as it
    is, and is refused by the field's kind."""
    if isinstance(items, (str, bytes, Mapping, set, frozenset)) or not isinstance(items, Iterable):
        return items  # type: ignore[return-value]
    return tuple(items)


def at(where: str, read: Callable[[V], T], value: V) -> T:
    """``read(value)``, with ``where`` put before the path of any error."""
    try:
        return read(value)
    except BadInput as error:
        raise error.under(where) from None
