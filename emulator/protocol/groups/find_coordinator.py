"""FindCoordinator (API 10): a client asks any broker which broker coordinates a group.

Versions: v4 (3.0, KIP-699) several groups in one request; before, one.
"""

from enum import IntEnum
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors

NO_NODE = -1


class CoordinatorType(IntEnum):
    """Kafka's numbers (FindCoordinatorRequest.CoordinatorType)."""

    GROUP = 0
    TRANSACTION = 1


class FoundCoordinator(NamedTuple):
    """The coordinator of one key.

    Attributes:
        node: its broker id; NO_NODE with an error.
        message: the error in words, for people.
    """

    key: str
    error: Errors
    node: int = NO_NODE
    message: str | None = None


@define(eq=False)
class FindCoordinatorRequest(Request):
    """Ask which brokers coordinate groups or transactional ids.

    Attributes:
        keys: group ids, or transactional ids.
        key_type: a ``CoordinatorType``, or a number that Kafka does not know.
    """

    keys: tuple[str, ...]
    key_type: int = CoordinatorType.GROUP

    @property
    def size(self) -> int:
        return 20 + sum(2 + len(key) for key in self.keys)


@define(eq=False)
class FindCoordinatorResponse(Response):
    """The answers, in the order of the request's keys."""

    coordinators: tuple[FoundCoordinator, ...]

    @property
    def size(self) -> int:
        return 10 + sum(30 + len(each.key) for each in self.coordinators)


declare(
    10, "FindCoordinator", FindCoordinatorRequest, FindCoordinatorResponse,
    help="a client asks which broker coordinates its group",
)  # fmt: skip
