"""One consumer group (kafka.coordinator.group.GroupMetadata, 3.0): its state, its members, and its committed offsets.

It changes its own fields only; the coordinator does what follows from a change.
"""

from collections.abc import Mapping
from enum import StrEnum

from attrs import define, field

from brokers.groups.committed import CommittedOffsets
from brokers.groups.member import JoinCallback, MemberMetadata, Timeouts
from brokers.groups.records import OffsetAndMetadata, StoredGroup
from brokers.groups.subscription import UnknownSubscription, subscribed_topics
from emulator.kernel import Timer
from emulator.protocol.groups.membership import JoinedMember, Protocols
from emulator.protocol.types import TopicPartition

CONSUMER_PROTOCOL = "consumer"


class GroupState(StrEnum):
    """The states of a group, with Kafka's names."""

    EMPTY = "Empty"
    """The group has no member; it may still have offsets."""
    PREPARING = "PreparingRebalance"
    """The members have to join again."""
    COMPLETING = "CompletingRebalance"
    """The leader has to send the assignment."""
    STABLE = "Stable"
    DEAD = "Dead"
    """The group was removed, or has moved to another coordinator."""


CAN_FOLLOW: Mapping[GroupState, tuple[GroupState, ...]] = {
    GroupState.EMPTY: (GroupState.PREPARING,),
    GroupState.PREPARING: (GroupState.EMPTY, GroupState.COMPLETING, GroupState.STABLE),
    GroupState.COMPLETING: (GroupState.PREPARING,),
    GroupState.STABLE: (GroupState.COMPLETING,),
    GroupState.DEAD: tuple(GroupState),
}
"""The states before each state."""


@define(eq=False)
class DelayedJoin:
    """A rebalance that waits for the members.

    Attributes:
        remaining_us: the time for which the first rebalance of an empty group can be delayed further, while new members
            come (InitialDelayedJoin); None: it ends with the last member's JoinGroup (DelayedJoin).
        delay_us: the time for which ``timer`` was set.
    """

    delay_us: int
    timer: Timer
    remaining_us: int | None = None


@define(eq=False)
class GroupMetadata:
    """A group.

    Attributes:
        state_ms: the time since when it has been in its state, by the broker's clock; None: not known.
        members: the members in the order in which they joined. Kafka's order is that of a hash table.
        instances: the member ids of the static members, by instance id.
        pending: member ids that were given to clients which have not joined yet, with the timers that remove them.
        unsynced: the members whose SyncGroup of this generation has not come.
        subscribed: the topics of a consumer group's members; None: not known.
        newly_joined: whether a member has come while the first rebalance was delayed.
        delayed: the rebalance that waits for members; None: none.
        sync_timer: ends the wait for SyncGroups (KAFKA-12890).
    """

    id: str
    state_ms: int | None
    state: GroupState = GroupState.EMPTY
    protocol_type: str | None = None
    protocol: str | None = None
    generation: int = 0
    leader: str | None = None
    members: dict[str, MemberMetadata] = field(factory=dict)
    instances: dict[str, str] = field(factory=dict)
    pending: dict[str, Timer] = field(factory=dict)
    unsynced: dict[str, None] = field(factory=dict)
    subscribed: tuple[str, ...] | None = None
    newly_joined: bool = False
    committed: CommittedOffsets = field(factory=CommittedOffsets)
    delayed: DelayedJoin | None = None
    sync_timer: Timer | None = None
    _supporters: dict[str, int] = field(factory=dict)
    """The number of times that members name each protocol."""

    @classmethod
    def restored(cls, id: str, stored: StoredGroup) -> "GroupMetadata":
        """The group that a new coordinator finds in ``__consumer_offsets``. Its last record is a complete generation,
        so it is Stable, or Empty."""
        state = GroupState.STABLE if stored.members else GroupState.EMPTY
        group = cls(id, stored.state_ms, state, stored.protocol_type or None, stored.protocol, stored.generation)
        group.leader = stored.leader
        for member in stored.members:
            assert stored.protocol is not None
            group.add(MemberMetadata.restored(member, stored.protocol_type, stored.protocol))
        group.learn_topics()
        return group

    # -- in words ---------------------------------------------------------------------------------------------------

    def in_words(self, *, with_members: bool) -> str:
        members = f" of {', '.join(sorted(self.members))}" if with_members else ""
        return f"generation {self.generation}{members}"

    def offsets_in_words(self) -> dict[str, str]:
        """Each committed offset, with those that are not decided yet."""
        committed = self.committed
        found = {tp: str(value.offset) for tp, (value, _at) in committed.offsets.items()}
        for tp, waiting in committed.pending.items():
            found[tp] = f"{found.get(tp, 'nothing')}, and {waiting.offset} that is being written"
        for producer_id, offsets in committed.transactional.items():
            for tp, (value, _at) in offsets.items():
                found[tp] = f"{found.get(tp, 'nothing')}, and {value.offset} in a transaction of {producer_id}"
        return {f"group {self.id}'s offset of {tp}": words for tp, words in found.items()}

    # -- state ------------------------------------------------------------------------------------------------------

    def transition(self, state: GroupState, now_ms: int) -> None:
        assert self.state in CAN_FOLLOW[state], f"{self.id}: {self.state} -> {state}"
        self.state = state
        self.state_ms = now_ms

    @property
    def can_rebalance(self) -> bool:
        return self.state in CAN_FOLLOW[GroupState.PREPARING]

    @property
    def can_be_removed(self) -> bool:
        """Whether it is empty: it has no member and no offset."""
        return self.state is GroupState.EMPTY and not self.committed.keeps_anything

    def next_generation(self) -> None:
        """Begin the next generation, of the present members."""
        self.generation += 1
        self.protocol = self.select_protocol() if self.members else None
        self.learn_topics()
        self.unsynced.clear()

    # -- members ----------------------------------------------------------------------------------------------------

    def add(self, member: MemberMetadata, callback: JoinCallback | None = None) -> None:
        """Add ``member``; ``callback`` answers its JoinGroup."""
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = member.protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._support(member.protocols, 1)
        member.awaiting_join = callback
        self.forget_pending(member.member_id)

    def remove(self, member_id: str) -> MemberMetadata | None:
        """Remove a member, or a member id that is pending. If it was the leader, the first of the others becomes the
        leader."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._support(member.protocols, -1)
            if member.instance_id is not None:
                self.instances.pop(member.instance_id, None)
            if member.timer is not None:
                member.timer.cancel()
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.forget_pending(member_id)
        self.unsynced.pop(member_id, None)
        return member

    def forget_pending(self, member_id: str) -> None:
        timer = self.pending.pop(member_id, None)
        if timer is not None:
            timer.cancel()

    def update(
        self, member: MemberMetadata, protocols: Protocols, timeouts: Timeouts, callback: JoinCallback | None
    ) -> None:
        """Let ``member`` join again."""
        member.timeouts = timeouts
        self._support(member.protocols, -1)
        member.protocols = protocols
        self._support(protocols, 1)
        member.awaiting_join = callback

    def rename(self, instance_id: str, old: str, new: str) -> MemberMetadata:
        """Give the static member ``instance_id`` another member id (replaceStaticMember)."""
        member = self.members.pop(old)
        member.member_id = new
        self.members[new] = member
        if self.leader == old:
            self.leader = new
        self.instances[instance_id] = new
        return member

    @property
    def assignments(self) -> dict[str, bytes]:
        return {member.member_id: member.assignment for member in self.members.values()}

    @property
    def awaiting(self) -> int:
        """The number of members that wait for the answer to their JoinGroup."""
        return sum(member.awaiting_join is not None for member in self.members.values())

    @property
    def all_joined(self) -> bool:
        return not self.pending and all(member.awaiting_join is not None for member in self.members.values())

    def elect_joined_leader(self) -> bool:
        """Replace the leader, if it has not joined again, by a member that has. Returns False if no member has, or if
        there is none."""
        if self.leader is None:
            return False
        if self.members[self.leader].awaiting_join is None:
            joined = next((m for m in self.members.values() if m.awaiting_join is not None), None)
            if joined is None:
                return False
            self.leader = joined.member_id
        return True

    @property
    def rebalance_timeout_us(self) -> int:
        return max((member.rebalance_timeout_us for member in self.members.values()), default=0)

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """All members, for the leader."""
        assert self.protocol is not None
        return tuple(
            JoinedMember(member.member_id, member.instance_id, member.metadata(self.protocol))
            for member in self.members.values()
        )

    # -- offsets ----------------------------------------------------------------------------------------------------

    def expired(
        self, now_ms: int, retention_ms: int, unsubscribed: bool, only_stable: bool = False
    ) -> tuple[TopicPartition, ...]:
        """The partitions whose offsets have expired (removeExpiredOffsets). A group without members keeps its offsets
        for ``retention_ms`` from when it became empty, one that never had members from their commits.

        Args:
            unsubscribed: whether offsets of topics to which no member subscribes expire, too, in a group with members;
                ``only_stable``: in one that is not rebalancing.
        """
        if self.protocol_type is None:
            return self.committed.expired(now_ms, retention_ms, _committed_ms)
        if self.state is GroupState.EMPTY:
            state_ms = self.state_ms
            since = _committed_ms if state_ms is None else lambda _value: state_ms
            return self.committed.expired(now_ms, retention_ms, since)
        if only_stable and self.state is not GroupState.STABLE:
            return ()
        if unsubscribed and self.is_consumer_group and self.subscribed is not None:
            return self.committed.expired(now_ms, retention_ms, _committed_ms, self.subscribed)
        return ()

    # -- protocols --------------------------------------------------------------------------------------------------

    def _support(self, protocols: Protocols, count: int) -> None:
        for name, _metadata in protocols:
            self._supporters[name] = self._supporters.get(name, 0) + count

    def supports(self, protocol_type: str, protocols: Protocols) -> bool:
        """Whether a member with these protocols can join: all members support at least one of them."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type and protocols)
        common = any(self._supporters.get(name, 0) == len(self.members) for name, _metadata in protocols)
        return self.protocol_type == protocol_type and common

    def select_protocol(self) -> str:
        """The protocol that all members support and most prefer; of several, the one that the earliest member prefers.
        Kafka counts the names in the members' requests (2.3 to 3.0): a name that a member gives twice counts twice, so
        it is no candidate. Raises: NoCandidate."""
        candidates = {name: None for name, count in self._supporters.items() if count == len(self.members)}
        votes: dict[str, int] = {}
        for member in self.members.values():
            name = member.vote(candidates)
            votes[name] = votes.get(name, 0) + 1
        return max(votes, key=lambda name: votes[name])

    @property
    def is_consumer_group(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL

    def subscribes(self, topic: str) -> bool:
        """Whether a member subscribes to ``topic``; True where that is not known."""
        return self.subscribed is None or topic in self.subscribed

    def learn_topics(self) -> None:
        """Find the topics that the members of a new generation subscribe to (computeSubscribedTopics)."""
        self.subscribed = None
        if not self.is_consumer_group:
            return
        if not self.members:
            self.subscribed = ()
        elif self.protocol is not None:
            try:
                topics = (subscribed_topics(m.metadata(self.protocol)) for m in self.members.values())
                self.subscribed = tuple(dict.fromkeys(topic for each in topics for topic in each))
            except UnknownSubscription:
                self.subscribed = None

    def stored(self, assignments: Mapping[str, bytes]) -> StoredGroup:
        """The record of the group in ``__consumer_offsets``."""
        protocol = self.protocol
        members = () if protocol is None else tuple(
            member.stored(protocol, assignments[member.member_id]) for member in self.members.values()
        )  # fmt: skip
        return StoredGroup(self.protocol_type or "", self.generation, protocol, self.leader, self.state_ms, members)


def _committed_ms(value: OffsetAndMetadata) -> int:
    return value.commit_ms
