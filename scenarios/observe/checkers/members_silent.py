"""G5: a member loses its session only when it is silent."""

from __future__ import annotations

from typing import ClassVar

from attrs import define

from emulator.protocol.events import GroupGeneration, GroupMemberAdded, GroupMemberRemoved, NodeStarted
from emulator.protocol.shown_coordination import MemberHeard
from scenarios.observe.checkers.checker import Checker, Gravity, Report
from scenarios.observe.findings.coordination_facts import RemovedEarly
from scenarios.observe.history.history import History

FIRST_JOIN_US = 300_000_000
"""How long a new member may wait for its first generation (GroupCoordinator.NewMemberJoinTimeoutMs, 2.1)."""


@define(eq=False)
class _Member:
    """A member at one coordinator.

    Attributes:
        added_us: when it was added; None: it was in a generation since.
        heard_us: when a request of it was last accepted; None: none was.
    """

    added_us: int | None = None
    heard_us: int | None = None
    session_us: int = 0


class MembersSilent(Checker):
    """A coordinator ends the session of a member only when no request of it was accepted for session.timeout.ms; of a
    new member that waits for its first generation, after five minutes.

    Verified: each member that is removed as its session has ended, against its heartbeats and commits that this
        coordinator has accepted, and the times at which it was added and was in a generation.

    Not verified: that a silent member is removed (``groups_settle`` sees where that holds up a rebalance); heartbeats
        that releases before 2.7 answer with REBALANCE_IN_PROGRESS while the leader assigns, and a JoinGroup that gets
        the present generation again, which do not count.
    """

    name: ClassVar[str] = "members_silent"
    ids: ClassVar[tuple[str, ...]] = ("G5",)
    gravity: ClassVar[Gravity] = Gravity.LIVENESS
    statement: ClassVar[str] = (
        "removed(m, session) ⇒ silent(m) ≥ session.timeout: a member loses its session only when it is silent"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-9232",)
    fails_when: ClassVar[str | None] = "heartbeats do not count"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._members: dict[int, dict[tuple[str, str], _Member]] = {}

    def on_started(self, event: NodeStarted) -> None:
        self._members.pop(event.node, None)

    def _of(self, node: int, group: str, member: str) -> _Member:
        return self._members.setdefault(node, {}).setdefault((group, member), _Member())

    def on_added(self, event: GroupMemberAdded) -> None:
        self._of(event.node, event.group, event.member).added_us = event.t_us

    def on_generation(self, event: GroupGeneration) -> None:
        for member in event.members:
            self._of(event.node, event.group, member).added_us = None

    def on_heard(self, event: MemberHeard) -> None:
        member = self._of(event.node, event.group, event.member)
        member.heard_us, member.session_us = event.t_us, event.session_us

    def on_removed(self, event: GroupMemberRemoved) -> None:
        member = self._members.get(event.node, {}).pop((event.group, event.member), None)
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
