"""The leader that a broker names which does not lead itself: in answers to Produce 10 and Fetch 16 (KIP-951, 3.7)."""

from typing import NamedTuple


class KnownLeader(NamedTuple):
    """The leader of a partition.

    Attributes:
        leader: its broker id, or NO_LEADER.
        leader_epoch: its epoch; -1: not known.
        is_alive: whether the broker takes it to be alive, so that clients are given its address.
    """

    leader: int
    leader_epoch: int
    is_alive: bool
