"""Values of the tables of a ``ClusterState``: a role, a registration, and a partition as its leader knows it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from attrs import frozen

from emulator.protocol.events import BecameFollower, BecameLeader

Replicas = tuple[int, ...]


class Role(NamedTuple):
    """The last role that a broker took in a partition.

    Attributes:
        event: the event of a LeaderAndIsr by which the broker took the role.
        opened_us: when its process first took a role in the partition.
        stopped: a StopReplica has come since: ``kept``, where the broker keeps the log, or ``deleted``; empty: none.
        offline: whether its log directory has failed since.
    """

    event: BecameLeader | BecameFollower
    opened_us: int
    stopped: str = ""
    offline: bool = False

    @property
    def leader(self) -> int:
        """The leader that the broker knows by it: itself, where it leads."""
        return self.event.node if type(self.event) is BecameLeader else self.event.leader  # type: ignore[union-attr]


class Registration(NamedTuple):
    """A broker's znode in /brokers/ids.

    Attributes:
        t_us, seq: time and number of the write, or of ``BrokerRegistered`` once the broker has the answer.
        epoch: the transaction that created it: the broker epoch (KIP-380).
        of_earlier_process: whether it is, or may be, of an earlier process of the broker: its request was carried out
            after the end of that.
    """

    t_us: int
    seq: int
    epoch: int
    of_earlier_process: bool = False


@frozen
class LedPartition:
    """One partition as its leader knows it.

    Attributes:
        current: the replicas from before a move, where it receives them (KIP-352's draft); None: those assigned.
        replication_factor: the one that it keeps (0.8); 0: it keeps none.
    """

    isr: Replicas
    replicas: Replicas
    adding: Replicas
    removing: Replicas
    current: Replicas | None = None
    replication_factor: int = 0

    @property
    def reassigning(self) -> bool:
        return bool(self.adding or self.removing)


shared_led = lru_cache(4096)(LedPartition)
"""Many partitions and few different ones: most of those that a broker leads are equal in all of this."""
