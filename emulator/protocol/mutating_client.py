"""The client of a request that changes topics, as its quota is looked up (KIP-599, 2.7)."""

from typing import NamedTuple


class MutatingClient(NamedTuple):
    """A user and a client id.

    Attributes:
        is_strict: whether the version of the request knows THROTTLING_QUOTA_EXCEEDED, so that what exceeds the quota is
            refused.
    """

    user: str
    client_id: str
    is_strict: bool
