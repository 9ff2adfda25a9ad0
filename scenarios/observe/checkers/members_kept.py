"""G8: a member that its coordinator has in its log stays one."""

from __future__ import annotations

from emulator.protocol.events import GroupGeneration, GroupMemberRemoved, GroupStateChanged
from emulator.protocol.shown_coordination import MemberRefused, MemberReturned
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog
from scenarios.observe.findings.coordination_facts import MemberLost

STABLE = "Stable"


class MembersKept(CoordinatorsLog):
    """A coordinator knows the members of the last stable generation, and each static member that came back since, also
    one that has taken over: their members are in __consumer_offsets (GroupMetadataManager.storeGroup, 0.9; KAFKA-10284,
    2.7).

    Verified: each time that the leader in ZooKeeper, in its leader epoch, refuses a client as no member, or as a static
        member that was replaced: it was removed, or was not in the last generation that became stable.

    After an unclean election of a partition of __consumer_offsets, and once a machine has crashed or a leader's log was
    damaged, members from before are not asked for any more. Before KAFKA-10284 a static member that came back was not
    in the log: it is not asked for. One that is replaced again before the log has it is no member by then: the third
    client gets its id, and is refused (GroupCoordinator.updateStaticMemberAndRebalance, 2.7.2).

    Not verified: members of a generation that has no assignment yet; answers to LeaveGroup by group.instance.id alone.
    """

    ids = ("G8",)
    statement = "refused(m) ⇒ removed(m) ∨ m ∉ stable(g): a member that its coordinator has in its log stays one"
    catches = ("KAFKA-10284",)
    fails_when = "a coordinator that takes over gives all members other ids"

    def begin(self) -> None:
        super().begin()
        self._formed: dict[tuple[int, str], dict[str, None]] = {}
        """The members of the last generation that a coordinator has formed of a group, and that is not stable yet."""
        self._kept: dict[str, dict[str, None]] = {}
        """The members of each group that are in the log."""
        self._removed: dict[str, None] = {}
        """The members that were removed: ids are never used again."""

    def on_generation(self, event: GroupGeneration) -> None:
        self._formed[event.node, event.group] = dict.fromkeys(event.members)
        if not event.members:
            self._kept.pop(event.group, None)

    def on_state(self, event: GroupStateChanged) -> None:
        if event.state == STABLE:
            self._kept[event.group] = self._formed.pop((event.node, event.group), {})

    def on_returned(self, event: MemberReturned) -> None:
        if event.stored and event.member not in self._removed:
            self._kept.setdefault(event.group, {})[event.member] = None

    def on_removed(self, event: GroupMemberRemoved) -> None:
        self._removed[event.member] = None
        for members in (self._kept.get(event.group), self._formed.get((event.node, event.group))):
            if members is not None:
                members.pop(event.member, None)

    def forget_written(self) -> None:
        self._kept.clear()

    def on_refused(self, event: MemberRefused) -> None:
        if event.member in self._kept.get(event.group, {}) and self.coordinates(event.node, event.home):
            facts = MemberLost(event.node, event.group, event.member, event.error)
            self.violated(event, facts, brokers=(event.node,))
