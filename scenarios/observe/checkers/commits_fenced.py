"""G3: a group takes offsets from its present members alone."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.events import GroupGeneration, GroupMemberRemoved, GroupsLoaded, GroupsUnloaded, NodeStarted
from emulator.protocol.shown_coordination import CommitAccepted
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.coordination_facts import ZombieCommits


@define(eq=False)
class _Group:
    """A group at one coordinator.

    Attributes:
        generation: the last one that was formed here.
        removed: the members that were removed here.
    """

    generation: int = -1
    removed: dict[str, None] = field(factory=dict)


class CommitsFenced(Checker):
    """A coordinator refuses the commit of a member that was removed, or that is in another generation than its group
    (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION; GroupCoordinator.doCommitOffsets, 0.9 to 2.7).

    Verified: each commit that a coordinator begins to write, against the generations that it has formed and the members
        that it has removed since it loaded the group.

    Not verified: generations that another coordinator has formed before; clients without a generation, which commit to
        groups without members; static members that were replaced.
    """

    ids = ("G3",)
    statement = (
        "accepted(commit) ⇒ commit.generation = group.generation: a group takes offsets from its present members alone"
    )
    catches = ("KIP-447",)
    fails_when = "a coordinator takes commits of any member and generation"

    def begin(self) -> None:
        self._groups: dict[int, dict[str, _Group]] = {}

    def on_forgets(self, event: NodeStarted | GroupsLoaded | GroupsUnloaded) -> None:
        self._groups.pop(event.node, None)

    def _of(self, node: int, group: str) -> _Group:
        return self._groups.setdefault(node, {}).setdefault(group, _Group())

    def on_generation(self, event: GroupGeneration) -> None:
        found = self._of(event.node, event.group)
        found.generation = event.generation
        for member in event.members:
            found.removed.pop(member, None)

    def on_removed(self, event: GroupMemberRemoved) -> None:
        if event.reason != "replaced":
            self._of(event.node, event.group).removed[event.member] = None

    def on_commit(self, event: CommitAccepted) -> None:
        if event.generation < 0:
            return
        found = self._of(event.node, event.group)
        removed = event.member in found.removed
        if removed or found.generation not in (-1, event.generation):
            facts = ZombieCommits(event.node, event.group, event.member, event.generation, found.generation, removed)
            self.violated(event, facts, brokers=(event.node,))
