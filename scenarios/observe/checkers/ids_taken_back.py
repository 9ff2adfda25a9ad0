"""G10: a member id that no client joins with is taken back."""

from __future__ import annotations

from emulator.protocol.events import GroupMemberAdded, GroupsLoaded, GroupStateChanged, GroupsUnloaded, NodeCrashed
from emulator.protocol.shown_coordination import MemberIdForgotten, MemberIdGiven
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.coordination_facts import IdWaitedFor
from scenarios.observe.history.deadlines import Deadlines

DEAD = "Dead"
Key = tuple[int, str, str]
"""A coordinator, a group, and a member id."""


class IdsTakenBack(Checker):
    """A coordinator that has given a member id to a client (KIP-394) waits for the client to join with it, and no
    rebalance of the group ends before: for the client's session timeout at most (KAFKA-9752).

    Verified: once a second, each member id that was given, until a client has joined with it, or the coordinator has
        taken it back. The bound is the longest session timeout that a client was given, and 5 s.

    Not verified: coordinators that the controller does not reach, until it does.
    """

    ids = ("G10",)
    gravity = Gravity.LIVENESS
    statement = "given(id) ⇒ soon joined(id) ∨ taken back(id): a member id that no client joins with is taken back"
    catches = ("KAFKA-9752",)
    fails_when = "member ids are not taken back"

    def begin(self) -> None:
        self._given: Deadlines[Key] = Deadlines()
        self._longest_us = 0

    def on_given(self, event: MemberIdGiven) -> None:
        self._longest_us = max(self._longest_us, event.session_us)
        self._given.begin((event.node, event.group, event.member), event.t_us)

    def on_used(self, event: GroupMemberAdded | MemberIdForgotten) -> None:
        self._given.end((event.node, event.group, event.member))

    def on_state(self, event: GroupStateChanged) -> None:
        if event.state == DEAD:
            self._given.end_all(lambda key: key[:2] == (event.node, event.group))

    def on_forgets(self, event: GroupsLoaded | GroupsUnloaded | NodeCrashed) -> None:
        self._given.end_all(lambda key: key[0] == event.node)

    def look(self, moment: Moment) -> None:
        if len(self._given):
            for key, lasted_us in self._given.overdue(
                moment.t_us, self._longest_us + SETTLING_US, lambda key: self.now.reached_since_us(key[0])
            ):
                node, group, member = key
                self.violated(moment, IdWaitedFor(node, group, member, lasted_us), brokers=(node,))
