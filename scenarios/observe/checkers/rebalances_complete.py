"""G13: a rebalance is complete when no JoinGroup is missing, or its time is over."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.events import (
    GroupGeneration,
    GroupMemberAdded,
    GroupMemberRemoved,
    GroupStateChanged,
    GroupsUnloaded,
    NodeCrashed,
)
from emulator.protocol.shown_coordination import (
    MemberHeard,
    MemberIdForgotten,
    MemberIdGiven,
    MemberJoins,
    MembersLoaded,
)
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.findings.coordination_facts import LeftOut, RebalanceIsJoined
from scenarios.observe.history.deadlines import Deadlines

EMPTY, PREPARING = "Empty", "PreparingRebalance"
BOUND_US = 2_000_000
NEVER = -1


@define(eq=False)
class RebalancingGroup:
    """A group as its coordinator has it.

    Attributes:
        joined_us: when each member has joined last; NEVER: not known.
        ids: the member ids with which clients are to join.
        prepared_us: when it began to prepare a rebalance; NEVER: it does not.
        first: whether that rebalance began in an empty group, and so may be delayed.
        replaced: whether a static member was replaced since its last generation: no event shows the new member id.
        rebalance_us: the rebalance timeout of each member, as it has joined last.
    """

    joined_us: dict[str, int] = field(factory=dict)
    ids: dict[str, None] = field(factory=dict)
    state: str = EMPTY
    prepared_us: int = NEVER
    first: bool = False
    replaced: bool = False
    reported: bool = False
    rebalance_us: dict[str, int] = field(factory=dict)

    @property
    def is_joined(self) -> bool:
        if self.prepared_us == NEVER or self.first or self.replaced or self.reported:
            return False
        if self.ids or not self.joined_us:
            return False
        return all(joined_us >= self.prepared_us for joined_us in self.joined_us.values())


class RebalancesComplete(Checker):
    """A coordinator completes a rebalance as soon as every member has joined again and it waits for no client to which
    it has given a member id, whatever was the last that it waited for (DelayedJoin.tryComplete, 0.9 to 3.9). Before
    that it waits for as long as the longest rebalance timeout of its members says.

    Verified: once a second, each group that prepares a rebalance, and whose members have all joined since: it is
        complete after 2 s at most, while nothing excuses its coordinator. Each member that is left out of the next
        generation, as it has not joined: its own rebalance timeout is over since the rebalance began.

    Not verified: the first rebalance of an empty group, which is delayed; one in which, or before which, a static
        member was replaced since the last generation.
    """

    ids = ("G13",)
    gravity = Gravity.LIVENESS
    statement = (
        "complete(g) ⇔ joined(g) = members(g) ∨ time is over: a rebalance is complete when all members have "
        "joined, and not before its time is over"
    )
    fails_when = "a rebalance waits on when a client does not join with its member id"

    def begin(self) -> None:
        self._groups: dict[int, dict[str, RebalancingGroup]] = {}
        self._waiting: Deadlines[tuple[int, str]] = Deadlines()

    def _group(self, node: int, group: str) -> RebalancingGroup:
        return self._groups.setdefault(node, {}).setdefault(group, RebalancingGroup())

    def on_loaded(self, event: MembersLoaded) -> None:
        group = self._groups.setdefault(event.node, {})[event.group] = RebalancingGroup(state=event.state)
        group.joined_us.update((member, NEVER) for member, _session_us in event.members)

    def on_added(self, event: GroupMemberAdded) -> None:
        group = self._group(event.node, event.group)
        group.joined_us[event.member] = event.t_us
        group.ids.pop(event.member, None)

    def on_joins(self, event: MemberJoins) -> None:
        group = self._group(event.node, event.group)
        if event.member in group.joined_us:
            group.joined_us[event.member] = event.t_us

    def on_heard(self, event: MemberHeard) -> None:
        self._group(event.node, event.group).rebalance_us[event.member] = event.rebalance_us

    def on_removed(self, event: GroupMemberRemoved) -> None:
        group = self._group(event.node, event.group)
        group.joined_us.pop(event.member, None)
        may_take_us = group.rebalance_us.pop(event.member, 0)
        waited_us = event.t_us - group.prepared_us
        if event.reason == "rebalance" and group.prepared_us != NEVER and waited_us < may_take_us and not group.first:
            facts = LeftOut(event.node, event.group, event.member, waited_us, may_take_us)
            self.violated(event, facts, brokers=(event.node,))
        group.replaced |= event.reason == "replaced"

    def on_given(self, event: MemberIdGiven) -> None:
        self._group(event.node, event.group).ids[event.member] = None

    def on_forgotten(self, event: MemberIdForgotten) -> None:
        self._group(event.node, event.group).ids.pop(event.member, None)

    def on_generation(self, event: GroupGeneration) -> None:
        group = self._group(event.node, event.group)
        group.joined_us = {member: group.joined_us.get(member, NEVER) for member in event.members}
        group.replaced = False

    def on_state(self, event: GroupStateChanged) -> None:
        group = self._group(event.node, event.group)
        self._waiting.end((event.node, event.group))
        if event.state == PREPARING:
            group.prepared_us, group.first, group.reported = event.t_us, group.state == EMPTY, False
        else:
            group.prepared_us = NEVER
        group.state = event.state

    def on_forgets(self, event: GroupsUnloaded | NodeCrashed) -> None:
        for name in self._groups.pop(event.node, ()):
            self._waiting.end((event.node, name))

    def look(self, moment: Moment) -> None:
        for node, groups in self._groups.items():
            for name, group in groups.items():
                if group.is_joined:
                    self._waiting.begin((node, name), moment.t_us)
                else:
                    self._waiting.end((node, name))
        for (node, name), held_us in self._waiting.overdue(
            moment.t_us, BOUND_US, lambda key: self.now.reached_since_us(key[0])
        ):
            group = self._groups[node][name]
            group.reported = True
            self.violated(moment, RebalanceIsJoined(node, name, tuple(group.joined_us), held_us), brokers=(node,))
