"""One member of a group (kafka.coordinator.group.MemberMetadata, 3.0)."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from attrs import define

from brokers.groups.records import StoredMember
from emulator.kernel import Timer
from emulator.protocol.groups.membership import JoinGroupResponse, Protocols, SyncGroupResponse
from emulator.protocol.groups.operations import DescribedMember

JoinCallback = Callable[[JoinGroupResponse], object]
SyncCallback = Callable[[SyncGroupResponse], object]


class NoCandidate(Exception):
    """A member supports none of the protocols that can be chosen (Kafka's IllegalArgumentException)."""


class Timeouts(NamedTuple):
    """The timeouts that a member states with its JoinGroup."""

    rebalance_us: int
    session_us: int


@define(eq=False)
class MemberMetadata:
    """A member.

    Attributes:
        protocols: the protocols by which it can be assigned partitions, its preferred one first, each with its
            metadata.
        assignment: the assignment from the leader in this generation.
        awaiting_join, awaiting_sync: answers its waiting JoinGroup or SyncGroup; None: none waits.
        is_new: whether it waits for the answer to its first JoinGroup: it cannot send heartbeats before.
        deadline_us: the time when its session ends, by the broker's monotonic clock.
        timer: a timer set for ``deadline_us`` or earlier; None: not set.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_us: int
    session_timeout_us: int
    protocol_type: str
    protocols: Protocols
    assignment: bytes = b""
    awaiting_join: JoinCallback | None = None
    awaiting_sync: SyncCallback | None = None
    is_new: bool = False
    deadline_us: int = 0
    timer: Timer | None = None

    @property
    def timeouts(self) -> Timeouts:
        return Timeouts(self.rebalance_timeout_us, self.session_timeout_us)

    @timeouts.setter
    def timeouts(self, stated: Timeouts) -> None:
        self.rebalance_timeout_us, self.session_timeout_us = stated

    def metadata(self, protocol: str) -> bytes:
        """The metadata of the member for ``protocol``; empty where it does not support that."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    def vote(self, candidates: Iterable[str]) -> str:
        """The protocol of ``candidates`` that it prefers. Raises: NoCandidate."""
        for name, _metadata in self.protocols:
            if name in candidates:
                return name
        raise NoCandidate(f"{self.member_id} does not support any of the candidate protocols")

    def stored(self, protocol: str, assignment: bytes) -> StoredMember:
        return StoredMember(
            self.member_id, self.instance_id, self.client_id, self.client_host, self.rebalance_timeout_us,
            self.session_timeout_us, self.metadata(protocol), assignment,
        )  # fmt: skip

    @classmethod
    def restored(cls, stored: StoredMember, protocol_type: str, protocol: str) -> "MemberMetadata":
        """The member that a new coordinator finds in ``__consumer_offsets``."""
        return cls(
            stored.member_id, stored.instance_id, stored.client_id, stored.client_host, stored.rebalance_timeout_us,
            stored.session_timeout_us, protocol_type, ((protocol, stored.subscription),), stored.assignment,
        )  # fmt: skip

    def described(self, protocol: str | None) -> DescribedMember:
        """The description of the member for DescribeGroups; ``protocol``: None where its group is not Stable."""
        metadata, assignment = (b"", b"") if protocol is None else (self.metadata(protocol), self.assignment)
        return DescribedMember(self.member_id, self.instance_id, self.client_id, self.client_host, metadata, assignment)
