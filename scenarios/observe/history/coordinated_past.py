"""The groups and transactional ids at their coordinators, as events have shown them.

A coordinator has what it has read, and what it has changed since. What is not known of it is not here: the groups and
ids of a coordinator that could not read its log.
"""

from __future__ import annotations

from typing import Any

from attrs import define, field

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import (
    GroupGeneration,
    GroupMemberAdded,
    GroupMemberRemoved,
    GroupsLoaded,
    GroupStateChanged,
    GroupsUnloaded,
    NodeCrashed,
    TransactionsLoaded,
    TransactionStateChanged,
    TransactionsUnloaded,
)
from emulator.protocol.java_hash import partition_of
from emulator.protocol.shown_coordination import (
    AssignmentsMade,
    CoordinatorAppends,
    CoordinatorWrote,
    GroupsRead,
    MemberReturned,
    TransactionsRead,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.past.cluster_state import FoldedState

PREPARING, COMPLETING, STABLE, EMPTY, DEAD = (
    "PreparingRebalance", "CompletingRebalance", "Stable", "Empty", "Dead",
)  # fmt: skip
REPLACED = "replaced"


@define(eq=False)
class Generation:
    """A generation that a coordinator has formed, or has read.

    Attributes:
        protocol, leader: "": the group has none.
        members: the ids that its members had as it began.
        assigned: the assignments: each that its leader has sent, and what was read.
        listed, joined: by member, its instance id and metadata, in the answer to the leader, and as it has sent them.
    """

    protocol: str
    leader: str
    members: tuple[str, ...]
    assigned: list[dict[str, bytes]] = field(factory=list)
    listed: dict[str, tuple[str | None, bytes]] = field(factory=dict)
    joined: dict[str, tuple[str | None, bytes]] = field(factory=dict)


@define(eq=False)
class GroupThere:
    """A group at one coordinator.

    Attributes:
        since_us: when it got into its state; None: before it was read.
        members: the members, each with its instance id.
        replaced: whether a static member was replaced since the last generation: ids are not known for sure.
        removed: when each member was removed that there is no more.
    """

    state: str = EMPTY
    generation: int = 0
    since_us: int | None = None
    members: dict[str, str] = field(factory=dict)
    replaced: bool = False
    removed: dict[str, int] = field(factory=dict)
    generations: dict[int, Generation] = field(factory=dict)

    @property
    def current(self) -> Generation | None:
        return self.generations.get(self.generation)


@define(eq=False)
class IdThere:
    """A transactional id at one coordinator.

    Attributes:
        state: its state, as records have it; None: not known.
        before: the state that ``state`` was written over; None: there was none.
        is_writing: whether a record has no outcome yet. ``writing``: that record; None: it is a tombstone.
        failed: the last record that could not be written over ``state``: a fence takes effect before it is written.
    """

    state: Any = None
    before: Any = None
    is_writing: bool = False
    writing: Any = None
    failed: Any = None


class Coordinators:
    """The fold."""

    def __init__(self, cluster: FoldedState) -> None:
        self._cluster = cluster
        self.groups: dict[tuple[int, str], GroupThere] = {}
        self.ids: dict[tuple[int, str], IdThere] = {}
        self.read: dict[tuple[int, TopicPartition], int] = {}
        """The partitions that each broker has read and not given up, with the leader epochs."""
        self._failed: dict[tuple[int, str], int] = {}
        self._written: dict[tuple[int, str], int] = {}
        """By broker and record, the time at which a write of it has failed, or is done."""
        self._counts: dict[str, int] = {}

    # -- where ------------------------------------------------------------------------------------------------------

    def home(self, topic: str, key: str) -> TopicPartition | None:
        """The partition that a group or id belongs to; None: its topic is not there, or got more partitions, of which
        brokers do not know before they start again."""
        count = len(self._cluster.topics.get(topic, ()))
        if not count or self._counts.setdefault(topic, count) != count:
            return None
        return TopicPartition.of(topic, partition_of(key, count))

    def coordinates(self, node: int, topic: str, key: str) -> bool | None:
        """Whether a broker has read the partition of a group or id, and has not given it up; None: not known."""
        home = self.home(topic, key)
        return None if home is None else (node, home) in self.read

    def has_failed(self, node: int, of: str, now_us: int) -> bool:
        """Whether a write of a record has failed in this transition."""
        return self._failed.get((node, of)) == now_us

    def has_written(self, node: int, of: str, now_us: int) -> bool:
        """Whether a record was written in this transition."""
        return self._written.get((node, of)) == now_us

    # -- groups -----------------------------------------------------------------------------------------------------

    def _group(self, node: int, group: str) -> GroupThere:
        found = self.groups.get((node, group))
        if found is None:
            found = self.groups[node, group] = GroupThere()
        return found

    def on_state(self, event: GroupStateChanged) -> None:
        if event.state == DEAD:
            self.groups.pop((event.node, event.group), None)
            return
        found = self._group(event.node, event.group)
        found.state, found.generation, found.since_us = event.state, event.generation, event.t_us

    def on_generation(self, event: GroupGeneration) -> None:
        found = self._group(event.node, event.group)
        found.generation, found.replaced = event.generation, False
        found.generations = {event.generation: Generation(event.protocol, event.leader, event.members)}
        found.members = {member: found.members.get(member, "") for member in event.members}

    def on_added(self, event: GroupMemberAdded) -> None:
        self._group(event.node, event.group).members[event.member] = event.instance

    def on_removed(self, event: GroupMemberRemoved) -> None:
        found = self._group(event.node, event.group)
        found.members.pop(event.member, None)
        found.removed[event.member] = event.t_us
        found.replaced |= event.reason == REPLACED

    def on_returned(self, event: MemberReturned) -> None:
        self._group(event.node, event.group).members[event.member] = event.instance

    def on_made(self, event: AssignmentsMade) -> None:
        current = self._group(event.node, event.group).generations.get(event.generation)
        if current is not None:
            current.assigned.append(dict(event.assignments))

    def on_groups_read(self, event: GroupsRead) -> None:
        for group, stored in event.groups.items():
            state = STABLE if stored.members else EMPTY
            members = {each.member_id: each.instance_id or "" for each in stored.members}
            there = self.groups[event.node, group] = GroupThere(state, stored.generation, None, members)
            assigned = [{each.member_id: each.assignment for each in stored.members}]
            there.generations[stored.generation] = Generation(
                stored.protocol or "", stored.leader or "", tuple(members), assigned
            )

    # -- transactional ids ------------------------------------------------------------------------------------------

    def on_ids_read(self, event: TransactionsRead) -> None:
        for id, state in event.ids.items():
            self.ids[event.node, id] = IdThere(state)

    def on_appends(self, event: CoordinatorAppends) -> None:
        records = event.records
        if records.tp.topic == TRANSACTION_STATE_TOPIC:
            found = self._id(event.node, records.transactional_id)
            found.is_writing, found.writing = True, records.value

    def on_wrote(self, event: CoordinatorWrote) -> None:
        for of in event.of:
            (self._failed if event.failed else self._written)[event.node, of] = event.t_us
            if of.startswith(ID):
                found = self._id(event.node, of.removeprefix(ID))
                if event.failed:
                    found.failed = found.writing
                else:
                    found.before, found.state, found.failed = found.state, found.writing, None
                found.is_writing, found.writing = False, None

    def on_id_state(self, event: TransactionStateChanged) -> None:
        if event.state == DEAD:
            self.ids.pop((event.node, event.transactional_id), None)

    def _id(self, node: int, id: str) -> IdThere:
        found = self.ids.get((node, id))
        if found is None:
            found = self.ids[node, id] = IdThere()
        return found

    # -- what is read and given up ----------------------------------------------------------------------------------

    def on_loaded(self, event: GroupsLoaded | TransactionsLoaded) -> None:
        self.read[event.node, TopicPartition.of(event.topic, event.partition)] = event.leader_epoch

    def on_unloaded(self, event: GroupsUnloaded | TransactionsUnloaded) -> None:
        home = TopicPartition.of(event.topic, event.partition)
        self.read.pop((event.node, home), None)
        if event.topic == TRANSACTION_STATE_TOPIC:
            for key in [key for key in self.ids if key[0] == event.node and self.home(event.topic, key[1]) == home]:
                del self.ids[key]

    def on_crashed(self, event: NodeCrashed) -> None:
        known: tuple[dict[Any, Any], ...] = self.groups, self.ids, self.read
        for table in known:
            for key in [key for key in table if key[0] == event.node]:
                del table[key]


def offset_name(group: str, tp: TopicPartition) -> str:
    """The name of the record of a committed offset (``CoordinatorWrote``)."""
    return f"group {group}'s offset of {tp}"


ID = "transactional id "
"""The beginning of the name of a transactional id's record (``CoordinatorWrote``)."""
