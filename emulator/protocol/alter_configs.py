"""AlterConfigs (API 33, KIP-133, 0.11) and IncrementalAlterConfigs (API 44, KIP-339, 2.3): a client changes the
settings of topics, which every broker takes, or those of the receiving broker, or of all brokers."""

from enum import IntEnum
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.describe_configs import Resource
from emulator.protocol.errors import ApiError


@define(eq=False)
class AlterConfigsRequest(Request):
    """Replace all settings of each resource. A value of None is refused."""

    resources: tuple[tuple[Resource, tuple[tuple[str, str | None], ...]], ...]
    validate_only: bool = False

    @property
    def size(self) -> int:
        return 20 + sum(30 + 30 * len(entries) for _resource, entries in self.resources)


class OpType(IntEnum):
    """The operations of IncrementalAlterConfigs on a setting (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class AlterConfigOp(NamedTuple):
    """One change. ``op`` is a number, since a client may send one that Kafka does not have."""

    name: str
    op: int
    value: str | None = None


@define(eq=False)
class IncrementalAlterConfigsRequest(Request):
    """Change single settings of each resource."""

    resources: tuple[tuple[Resource, tuple[AlterConfigOp, ...]], ...]
    validate_only: bool = False

    @property
    def size(self) -> int:
        return 20 + sum(30 + 30 * len(ops) for _resource, ops in self.resources)


@define(eq=False)
class AlterConfigsResponse(Response):
    """One result for each resource, in the order of the request."""

    resources: tuple[tuple[Resource, ApiError], ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.resources)


@define(eq=False)
class IncrementalAlterConfigsResponse(Response):
    """One result for each resource, in the order of the request."""

    resources: tuple[tuple[Resource, ApiError], ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.resources)


declare(
    33, "AlterConfigs", AlterConfigsRequest, AlterConfigsResponse,
    help="a client replaces the settings of topics or brokers",
)  # fmt: skip
declare(
    44, "IncrementalAlterConfigs", IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
    help="a client changes single settings of topics or brokers",
)  # fmt: skip
