"""Facts about what coordinators answer, write and read."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

NOTHING = "nothing"


def worded(value: Any) -> str:
    """A part of a message or of a record in words."""
    if isinstance(value, Errors):
        return value.name
    if value is None or (not value and not isinstance(value, (int, Enum))):
        return NOTHING
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, tuple) and hasattr(value, "_fields") and not isinstance(value, TopicPartition):
        return ", ".join(f"{name} {worded(each)}" for name, each in zip(value._fields, value, strict=True))
    if isinstance(value, (tuple, list, frozenset)) and not isinstance(value, TopicPartition):
        return ", ".join(map(worded, value))
    return str(value)


def differences(said: Any, wanted: Any) -> Iterator[tuple[str, str, str]]:
    """Where two records differ: the names of the fields, with both values in words; or all, where one is missing."""
    if type(said) is type(wanted) and hasattr(said, "_fields"):
        for name, one, other in zip(said._fields, said, wanted, strict=True):
            if one != other:
                yield name, worded(one), worded(other)
    elif said != wanted:
        yield "all", worded(said), worded(wanted)


class AnsweredAmiss(NamedTuple):
    """An answer of a coordinator, or a part of it, that is not the one that its requests call for.

    Attributes:
        api: the name of the request.
        who: the group or transactional id that it is about.
        part: the part of the answer.
        said, wanted: what it is, and what it should be.
    """

    broker: int
    api: str
    who: str
    part: str
    said: str
    wanted: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return (
            f"broker {self.broker} answers {self.api} of {self.who or 'no name'} with {self.part} {self.said}; "
            f"it should be {self.wanted}"
        )


class WrittenAmiss(NamedTuple):
    """A field of a record of a coordinator that is not what its clients have sent.

    Attributes:
        of: what the record is about.
        part: the field. ``said``, ``wanted``: what it is, and what it should be.
    """

    broker: int
    of: str
    part: str
    said: str
    wanted: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return f"coordinator {self.broker} writes of {self.of} {self.part} {self.said}; it should be {self.wanted}"


class ReadAmiss(NamedTuple):
    """A part of what a coordinator has read otherwise than its log has it.

    Attributes:
        of: what it is about. ``part``: a field of it, or ``all``.
        said, wanted: what the coordinator has, and what the log has.
    """

    broker: int
    of: str
    part: str
    said: str
    wanted: str

    def in_words(self, tp: TopicPartition | None) -> str:
        return (
            f"coordinator {self.broker} reads of {self.of} in {tp} {self.part}: {self.said}; the log has {self.wanted}"
        )
