"""G5: a member loses its session when it is silent, and only then."""

from __future__ import annotations

from collections.abc import Collection

from attrs import define

from emulator.protocol.events import (
    GroupGeneration,
    GroupMemberAdded,
    GroupMemberRemoved,
    GroupStateChanged,
    GroupsUnloaded,
    NodeStarted,
)
from emulator.protocol.shown_coordination import AssignmentGiven, MemberHeard, MembersLoaded
from scenarios.observe.checkers.checker import Checker, Gravity, Moment, forget
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.coordination_facts import RemovedEarly, RemovedLate, StaticRemoved, StaticTwice

STABLE = "Stable"
FIRST_JOIN_US = 300_000_000
"""How long a new member may wait for its first generation (GroupCoordinator.NewMemberJoinTimeoutMs, 2.1)."""


@define(eq=False)
class _Member:
    """A member at one coordinator.

    Attributes:
        added_us: when it was added; None: it was in a generation since.
        heard_us: when a request of it was last accepted; None: none was.
        stays: it is known to be there though it is silent.
    """

    added_us: int | None = None
    heard_us: int | None = None
    session_us: int = 0
    stays: bool = False


class MembersSilent(Checker):
    """A coordinator ends the session of a member only when no request of it was accepted for session.timeout.ms; of a
    new member that waits for its first generation, after five minutes. It does not keep one that is silent. Until then
    a static member stays, also where it misses a rebalance, and takes its place when it joins again (KIP-345).

    Verified: each member that is removed as its session has ended, against its heartbeats and commits that this
        coordinator has accepted, and the times at which it was added and was in a generation. Each static member that
        is removed as it has not joined again, and each that is added while it is there. Once a second, each member of a
        group that has been stable, or was read as such, for session.timeout.ms and 5 s, at a coordinator that nothing
        has disturbed for so long.

    Not verified: that a silent member is removed from a group that rebalances (``groups_settle``), or by a broker whose
        clock a fault has set; heartbeats that releases before 2.7 answer with REBALANCE_IN_PROGRESS while the leader
        assigns, and a JoinGroup that gets the present generation again, which do not count.
    """

    ids = ("G5",)
    gravity = Gravity.LIVENESS
    statement = (
        "removed(m, session) ⇔ silent(m) ≥ session.timeout: a member loses its session when it is silent, and only then"
    )
    catches = ("KAFKA-9232",)
    fails_when = "heartbeats do not count"

    def begin(self) -> None:
        self._members: dict[int, dict[tuple[str, str], _Member]] = {}
        self._stable_us: dict[tuple[int, str], int] = {}
        """The groups that are stable at a coordinator which has made them so, and since when."""
        self._static: dict[int, dict[tuple[str, str], str]] = {}
        """At each coordinator, by group and group.instance.id, the member that was added last and is there."""

    def on_started(self, event: NodeStarted) -> None:
        self._members.pop(event.node, None)
        self._static.pop(event.node, None)
        forget(event.node, self._stable_us)

    def on_unloaded(self, event: GroupsUnloaded) -> None:
        self._static.pop(event.node, None)
        forget(event.node, self._stable_us)

    def on_state(self, event: GroupStateChanged) -> None:
        self._stable_us.pop((event.node, event.group), None)
        if event.state == STABLE:
            self._stable_us[event.node, event.group] = event.t_us

    def on_loaded(self, event: MembersLoaded) -> None:
        """Take note of a new term: of the broker's last one as the coordinator nothing is left."""
        self._forget_others(event.node, event.group, [name for name, _ in event.members])
        for name, session_us in event.members:
            self._members.setdefault(event.node, {})[event.group, name] = _Member(None, event.t_us, session_us)
        if event.state == STABLE:
            self._stable_us[event.node, event.group] = event.t_us

    def look(self, moment: Moment) -> None:
        for (node, group), stable_us in self._stable_us.items():
            undisturbed_us = self.now.reached_since_us(node)
            if undisturbed_us is None or node in self.now.clocks or node in self.now.impaired:
                continue
            since_us = max(stable_us, undisturbed_us)
            for (of, name), member in self._members.get(node, {}).items():
                if of != group or member.heard_us is None or member.added_us is not None or member.stays:
                    continue
                silent_us = moment.t_us - max(member.heard_us, since_us)
                if silent_us > member.session_us + SETTLING_US:
                    member.stays = True
                    facts = RemovedLate(node, group, name, moment.t_us - member.heard_us, member.session_us)
                    self.violated(moment, facts, brokers=(node,))

    def _of(self, node: int, group: str, member: str) -> _Member:
        return self._members.setdefault(node, {}).setdefault((group, member), _Member())

    def on_added(self, event: GroupMemberAdded) -> None:
        self._of(event.node, event.group, event.member).added_us = event.t_us
        if event.instance:
            static, key = self._static.setdefault(event.node, {}), (event.group, event.instance)
            if key in static:
                facts = StaticTwice(event.node, event.group, event.instance, static[key], event.member)
                self.violated(event, facts, brokers=(event.node,))
            static[key] = event.member

    def on_generation(self, event: GroupGeneration) -> None:
        self._forget_others(event.node, event.group, event.members)
        for member in event.members:
            self._of(event.node, event.group, member).added_us = None

    def _forget_others(self, node: int, group: str, members: Collection[str]) -> None:
        of_node = self._members.setdefault(node, {})
        for key in [key for key in of_node if key[0] == group and key[1] not in members]:
            del of_node[key]
        static = self._static.setdefault(node, {})
        for key in [key for key in static if key[0] == group and static[key] not in members]:
            del static[key]

    def on_heard(self, event: MemberHeard) -> None:
        member = self._of(event.node, event.group, event.member)
        member.heard_us, member.session_us = event.t_us, event.session_us

    def on_given(self, event: AssignmentGiven) -> None:
        """Take note of an answered SyncGroup, from which the session begins again."""
        member = self._members.get(event.node, {}).get((event.group, event.member))
        if member is not None and member.heard_us is not None:
            member.heard_us = event.t_us

    def on_removed(self, event: GroupMemberRemoved) -> None:
        member = self._members.get(event.node, {}).pop((event.group, event.member), None)
        self._static.get(event.node, {}).pop((event.group, event.instance), None)
        if event.reason == "rebalance" and event.instance:
            facts_of_static = StaticRemoved(event.node, event.group, event.member, event.instance)
            self.violated(event, facts_of_static, brokers=(event.node,))
        if member is None or event.reason != "session":
            return
        if member.added_us is not None:
            if event.t_us - member.added_us < FIRST_JOIN_US:
                facts = RemovedEarly(event.node, event.group, event.member, -1, member.session_us)
                self.violated(event, facts, brokers=(event.node,))
        elif member.heard_us is not None and event.t_us - member.heard_us < member.session_us:
            silent_us = event.t_us - member.heard_us
            facts = RemovedEarly(event.node, event.group, event.member, silent_us, member.session_us)
            self.violated(event, facts, brokers=(event.node,))
