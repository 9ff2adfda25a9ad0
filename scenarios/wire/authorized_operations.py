"""The authorized operations of a response (KIP-430), of a broker without an authorizer: all that the resource has
(AclEntry.supportedOperations, 3.0.0), for a client that asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_REQUESTED = -2147483648
"""The value for a client that did not ask."""

READ, WRITE, CREATE, DELETE, ALTER, DESCRIBE, CLUSTER_ACTION = 3, 4, 5, 6, 7, 8, 9
DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE = 10, 11, 12
"""Codes of org.apache.kafka.common.acl.AclOperation."""

TOPIC = (READ, WRITE, CREATE, DESCRIBE, DELETE, ALTER, DESCRIBE_CONFIGS, ALTER_CONFIGS)
GROUP = (READ, DESCRIBE, DELETE)
CLUSTER = (CREATE, CLUSTER_ACTION, DESCRIBE_CONFIGS, ALTER_CONFIGS, IDEMPOTENT_WRITE, ALTER, DESCRIBE)
"""The operations of each kind of resource."""


def authorized(body: Mapping[str, Any], asked: str, operations: tuple[int, ...]) -> int:
    """The bits of the operations, as the response to ``body`` has them; ``asked``: the field by which a client asks,
    which older versions do not have."""
    return sum(1 << code for code in operations) if body.get(asked, False) else NOT_REQUESTED
