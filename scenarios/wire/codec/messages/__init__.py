"""Kafka's messages, one declaration for each API (Kafka 3.0's message definitions, where no other release is named)."""

from typing import Final

from scenarios.wire.codec.messages import (
    acls,
    data,
    first_requests,
    groups,
    offsets,
    replica_admin,
    security,
    topics,
    transactions,
)
from scenarios.wire.codec.messages.first_requests import API_VERSIONS
from scenarios.wire.codec.schema import Api

_THEMES: Final = (first_requests, data, groups, offsets, topics, replica_admin, transactions, security, acls)
APIS: Final[dict[int, Api]] = {
    api.key: api for theme in _THEMES for api in vars(theme).values() if isinstance(api, Api)
}
"""Every API that the codec knows, by its key."""

__all__ = ["APIS", "API_VERSIONS"]
