"""G9: a member that asks for another assignment gets one, the one that is made for it."""

from __future__ import annotations

from attrs import define

from emulator.protocol.events import (
    GroupGeneration,
    GroupMemberRemoved,
    GroupsLoaded,
    GroupStateChanged,
    GroupsUnloaded,
    NodeCrashed,
)
from emulator.protocol.shown_coordination import AssignmentGiven, AssignmentsMade, MemberJoins, MemberReturned
from scenarios.observe.checkers.checker import Checker, Gravity, Moment, forget
from scenarios.observe.findings.coordination_facts import (
    BACK,
    CHANGED,
    LEADER,
    AssignedOtherwise,
    GoneInVain,
    JoinsInVain,
)

STABLE, COMPLETING = "Stable", "CompletingRebalance"
GONE = ("left", "session", "sync")
"""The reasons for which a member is gone whose partitions the others have to get."""


@define(eq=False)
class _Formed:
    """A group at the coordinator that has formed its generation."""

    state: str
    generation: int
    leader: str


class RejoinsRebalance(Checker):
    """The leader of a stable group that joins again wants a new assignment, since its topics have changed, and so does
    any member that joins with other topics or protocols than before: the group rebalances (GroupCoordinator.
    doJoinGroup, 0.9 to 2.7). A member that joins as before gets its generation again: its answer was lost. Each member
    gets the assignment that the leader has made for it in its generation. Where a member is gone, the others get its
    partitions: the group rebalances (removeMemberAndUpdateGroup, 0.9 to 3.9).

    Verified: each JoinGroup of a member that a coordinator accepts in a generation that it has formed: what it does in
        the same transition. So with each member that leaves a generation, or is removed for its silence. Each static
        member that comes back while the leader assigns: it gets no place in that generation, as the assignment is made
        for its old member id. Before KAFKA-9801 (2.5) it got one: there that is not looked at. Each assignment that a
        coordinator gives to a member for which the leader of that generation has made one.

    Not verified: groups that were loaded, until they form a generation; static members that come back to a stable group
        with other topics; what a member gets for which the leader has made no assignment.
    """

    ids = ("G9",)
    gravity = Gravity.LIVENESS
    statement = (
        "joins(leader) ∨ changed(m) ∨ gone(m) ⇒ rebalances(g), given(m) = made(m): "
        "a member that asks for another assignment gets one, the one that is made for it, and so do those that are left"
    )
    catches = ("KAFKA-2464", "KAFKA-9801")
    fails_when = "a leader that joins a stable group again gets the generation that it had"

    def begin(self) -> None:
        self._groups: dict[tuple[int, str], _Formed] = {}
        self._asked: dict[tuple[int, str], JoinsInVain | GoneInVain] = {}
        """The groups that should be rebalancing at the end of the transition."""
        self._made: dict[str, tuple[int, list[dict[str, bytes]]]] = {}
        """By group, a generation, and the assignments that its leader has sent: more than once, if it tries again."""

    def on_generation(self, event: GroupGeneration) -> None:
        key = event.node, event.group
        self._groups[key] = _Formed(COMPLETING if event.members else "", event.generation, event.leader)

    def on_state(self, event: GroupStateChanged) -> None:
        found = self._groups.get((event.node, event.group))
        if found is not None:
            found.state = event.state
        self._asked.pop((event.node, event.group), None)

    def on_joins(self, event: MemberJoins) -> None:
        found = self._groups.get((event.node, event.group))
        if found is None:
            return
        wants = event.changed or (found.state == STABLE and found.leader == event.member)
        if wants and found.state in (STABLE, COMPLETING):
            who = LEADER if found.leader == event.member else CHANGED
            facts = JoinsInVain(event.node, event.group, event.member, found.generation, who)
            self._asked[event.node, event.group] = facts

    def on_removed(self, event: GroupMemberRemoved) -> None:
        found = self._groups.get((event.node, event.group))
        if found is not None and found.state in (STABLE, COMPLETING) and event.reason in GONE:
            facts = GoneInVain(event.node, event.group, event.member, found.generation, event.reason)
            self._asked[event.node, event.group] = facts

    def on_returned(self, event: MemberReturned) -> None:
        found = self._groups.get((event.node, event.group))
        if event.rebalances and found is not None and found.state == COMPLETING:
            facts = JoinsInVain(event.node, event.group, event.member, found.generation, BACK)
            self.violated(event, facts, brokers=(event.node,))

    def on_made(self, event: AssignmentsMade) -> None:
        generation, made = self._made.get(event.group, (-1, []))
        if generation != event.generation:
            made = []
        self._made[event.group] = event.generation, [*made, dict(event.assignments)]

    def on_given(self, event: AssignmentGiven) -> None:
        generation, made = self._made.get(event.group, (-1, []))
        meant = [each[event.member] for each in made if event.member in each]
        if generation == event.generation and meant and event.assignment not in meant:
            given, wanted = (each.decode(errors="replace") for each in (event.assignment, meant[-1]))
            facts = AssignedOtherwise(event.node, event.group, event.member, generation, given, wanted)
            self.violated(event, facts, brokers=(event.node,))

    def on_forgets(self, event: GroupsLoaded | GroupsUnloaded | NodeCrashed) -> None:
        forget(event.node, self._groups, self._asked)

    def look(self, moment: Moment) -> None:
        for (node, _group), facts in self._asked.items():
            self.violated(moment, facts, brokers=(node,))
        self._asked.clear()
