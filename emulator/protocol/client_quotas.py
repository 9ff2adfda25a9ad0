"""DescribeClientQuotas (API 48) and AlterClientQuotas (API 49, KIP-546, 2.6): a client asks for the quotas of users and
client ids, or changes them, at any broker."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import ApiError

USER, CLIENT_ID, IP = "user", "client-id", "ip"
"""The types of the parts of an entity."""
QuotaEntity = tuple[tuple[str, str | None], ...]
"""The parts of an entity: the type and the name of each; None: the default of all that have no quota of their own."""
QuotaValues = tuple[tuple[str, float], ...]
EXACT, DEFAULT, SPECIFIED = 0, 1, 2
"""The ways in which a filter fits a part: its name, the default, any (DescribeClientQuotasRequest, 2.6)."""


class QuotaFilter(NamedTuple):
    """The filter of one part of an entity. ``match_type`` is a number, since a client may send one that Kafka does not
    have."""

    type: str
    match_type: int
    match: str | None = None


@define(eq=False)
class DescribeClientQuotasRequest(Request):
    """Attributes:
    strict: only entities without other parts.
    """

    filters: tuple[QuotaFilter, ...]
    strict: bool

    @property
    def size(self) -> int:
        return 20 + 20 * len(self.filters)


@define(eq=False)
class DescribeClientQuotasResponse(Response):
    error: ApiError
    entries: tuple[tuple[QuotaEntity, QuotaValues], ...] = ()

    @property
    def size(self) -> int:
        return 20 + 60 * len(self.entries)


@define(eq=False)
class AlterClientQuotasRequest(Request):
    """Attributes:
    entries: each entity, with its changes: a key and its value; None: the key is removed.
    """

    entries: tuple[tuple[QuotaEntity, tuple[tuple[str, float | None], ...]], ...]
    validate_only: bool

    @property
    def size(self) -> int:
        return 20 + 60 * len(self.entries)


@define(eq=False)
class AlterClientQuotasResponse(Response):
    """One result for each entity, in the order of the request."""

    entries: tuple[tuple[QuotaEntity, ApiError], ...]

    @property
    def size(self) -> int:
        return 10 + 40 * len(self.entries)


declare(
    48, "DescribeClientQuotas", DescribeClientQuotasRequest, DescribeClientQuotasResponse,
    help="a client asks for the quotas of users and client ids",
)  # fmt: skip
declare(
    49, "AlterClientQuotas", AlterClientQuotasRequest, AlterClientQuotasResponse,
    help="a client changes the quotas of users and client ids",
)  # fmt: skip
