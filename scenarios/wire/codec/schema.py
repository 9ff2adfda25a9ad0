"""The declaration of messages: one ``Api`` with the fields of its request and of its response, for all versions.

The words are those of Kafka's message definitions (clients/src/main/resources/common/message/*.json): ``versions``,
``nullable`` (nullableVersions), ``flexible`` (flexibleVersions), ``tag`` (its taggedVersions are the field's versions),
``default``. The compiler makes a reader and a writer of them for each version (``reading``, ``writing``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import evolve, field, frozen

FIXED: Final = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "float64": "d"}
"""The types of fixed size, with their letters of the module ``struct``."""

EMPTY: Final[dict[str, Any]] = {"bool": False, "string": "", "bytes": b"", "records": None, "uuid": bytes(16)}
UNSET: Final = object()
FOREVER: Final = 32767
"""The highest version, in place of no upper end: versions are int16."""


@frozen
class Versions:
    """A range of versions, both ends included."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.low, self.high + 1))


EVERY_VERSION: Final = Versions(0, FOREVER)
NO_VERSION: Final = Versions(FOREVER, -1)


def version_range(text: str | Versions) -> Versions:
    """The range that ``"4+"``, ``"8-10"`` or ``"0"`` means."""
    if isinstance(text, Versions):
        return text
    low, dash, high = text.rstrip("+").partition("-")
    return Versions(int(low), FOREVER if text.endswith("+") else int(high if dash else low))


@frozen
class Field:
    """A field of a message, or of a struct inside it.

    Attributes:
        name: Kafka's name in snake_case.
        type: a name of ``FIXED``, ``string``, ``bytes``, ``records``, ``uuid`` (16 bytes) or ``struct``; an array of
            one of them begins with ``[]``.
        versions: the versions that have the field; in a struct: of those that have the struct.
        nullable: the versions in which it can be null.
        tag: the number of a tagged field, which is written only when it does not have its default.
        initial: the value where a version, or a body to encode, has none; ``UNSET`` is the type's own.
        fields: the fields of a struct.
    """

    name: str
    type: str
    versions: Versions = field(default=EVERY_VERSION, converter=version_range)
    nullable: Versions = field(default=NO_VERSION, converter=version_range, kw_only=True)
    tag: int | None = field(default=None, kw_only=True)
    initial: Any = field(default=UNSET, kw_only=True, alias="default")
    fields: tuple[Field, ...] = field(default=(), kw_only=True)

    def of(self, *fields: Field) -> Field:
        """A copy of the field, an array of structs (or a struct), with these fields."""
        return evolve(self, fields=fields)

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    @property
    def element(self) -> str:
        """The type of an element of an array; of any other field its own type."""
        return self.type.removeprefix("[]")

    @property
    def default(self) -> Any:
        """The default; a new object each time, if it is a list or a dict."""
        if self.initial is not UNSET:
            return self.initial
        if self.is_array:
            return []
        if self.type == "struct":
            return {each.name: each.default for each in self.fields}
        return EMPTY.get(self.type, 0)


WORDED_ERROR: Final = Field("error_code", "int16"), Field("error_message", "string", nullable="0+")


def of_partitions(*fields: Field) -> Field:
    """Fields of each partition, topic by topic, as most messages have them."""
    return Field("topics", "[]struct").of(Field("name", "string"), Field("partitions", "[]struct").of(*fields))


@frozen(eq=False)
class Api:
    """A request and its response.

    Attributes:
        key: Kafka's number of the API.
        name: Kafka's name, such as ``OffsetForLeaderEpoch``.
        versions: the versions that the codec knows; request and response have the same.
        flexible: the versions with compact lengths and tagged fields (KIP-482).
        request: the fields of the request's body.
        response: the fields of the response's body.
    """

    key: int
    name: str
    versions: Versions = field(converter=version_range)
    flexible: Versions = field(default=NO_VERSION, converter=version_range, kw_only=True)
    request: Sequence[Field] = field(default=(), kw_only=True)
    response: Sequence[Field] = field(default=(), kw_only=True)

    def of(self, *, request: Sequence[Field] = (), response: Sequence[Field] = ()) -> Api:
        """A copy with these fields."""
        return evolve(self, request=request, response=response)


def at(fields: Sequence[Field], version: int) -> tuple[list[Field], list[Field], list[Field]]:
    """The fields of a version in their order on the wire, its tagged fields by tag, and those that it lacks."""
    has = [each for each in fields if version in each.versions]
    tagged = sorted((each for each in has if each.tag is not None), key=lambda each: each.tag or 0)
    return (
        [each for each in has if each.tag is None],
        tagged,
        [each for each in fields if version not in each.versions],
    )


@frozen(eq=False)
class Stored:
    """A key or a value that a coordinator writes into its topic, after two bytes of its version.

    Attributes:
        name: Kafka's name, such as ``OffsetCommitValue``.
        versions: the versions that the codec knows.
        fields: the fields of the body; none of them is flexible before Kafka 3.6.
    """

    name: str
    versions: Versions = field(converter=version_range)
    fields: Sequence[Field]
