"""The versions of its APIs that a broker announces. They are independent of the emulated release: clients of today
attach to an emulated 0.8 too. Only those of transactions end with the newest that the release has, since clients of
today decide by them what they do after an error (``brokers.transactions.policies``).

The numbers are those of the message schemas in Apache Kafka 2.4.1 and 3.0.0 (clients/src/main/resources/common/message)
as far as brokers here know them, without topic ids (Metadata 10, DeleteTopics 6 and Fetch 13 have them). ``3.0`` goes
beyond 3.0.0 where clients ask for it and nothing else changes: JoinGroup 8 and 9, LeaveGroup 5, DescribeCluster 1.
"""

from collections.abc import Mapping

from scenarios.wire.apis.base import Versions

DEFAULT = "3.0"

PROFILES: Mapping[str, Mapping[int, Versions]] = {
    "2.4": {
        0: (3, 8), 1: (4, 11), 2: (1, 5), 3: (0, 9), 8: (2, 8), 9: (1, 6), 10: (0, 3), 11: (0, 6), 12: (0, 4),
        13: (0, 4), 14: (0, 4), 15: (0, 5), 16: (0, 3), 18: (0, 3), 19: (0, 5), 20: (1, 4), 22: (0, 2),
        23: (2, 3), 24: (0, 1), 25: (0, 1), 26: (0, 1), 28: (0, 2), 29: (0, 1), 30: (0, 1), 31: (0, 1),
        32: (0, 2), 33: (0, 1), 34: (0, 1),
        35: (0, 1), 37: (0, 1), 42: (0, 2), 43: (0, 2), 44: (0, 1), 45: (0, 0), 46: (0, 0), 47: (0, 0),
    },
    "3.0": {
        0: (3, 9), 1: (4, 12), 2: (1, 7), 3: (0, 9), 8: (2, 8), 9: (1, 8), 10: (0, 4), 11: (0, 9), 12: (0, 4),
        13: (0, 5), 14: (0, 5), 15: (0, 5), 16: (0, 4), 18: (0, 3), 19: (0, 6), 20: (1, 5), 22: (0, 4),
        23: (2, 4), 24: (0, 3), 25: (0, 3), 26: (0, 3), 28: (0, 3), 29: (0, 2), 30: (0, 2), 31: (0, 2),
        32: (0, 4), 33: (0, 2), 34: (0, 2),
        35: (0, 2), 37: (0, 3), 42: (0, 2), 43: (0, 2), 44: (0, 1), 45: (0, 0), 46: (0, 0), 47: (0, 0), 60: (0, 1),
    },
}  # fmt: skip
"""The versions that are announced, by the number of the API: each is one that the API's class can translate."""


def announced(profile: str, newest: Mapping[int, int]) -> dict[int, Versions]:
    """The versions that brokers announce.

    Args:
        newest: for some APIs, the newest version that the brokers themselves have.
    """
    return {key: (low, min(high, newest.get(key, high))) for key, (low, high) in PROFILES[profile].items()}
