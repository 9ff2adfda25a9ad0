"""G6: the rebalance of a group ends."""

from __future__ import annotations

from emulator.protocol.events import GroupStateChanged, GroupsUnloaded, NodeCrashed
from emulator.protocol.shown_coordination import MemberHeard
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.coordination_facts import NeverStable
from scenarios.observe.history.deadlines import Deadlines

REBALANCES = ("PreparingRebalance", "CompletingRebalance")


class GroupsSettle(Checker):
    """A group that rebalances is stable, or empty, in time: once all members have joined, or the longest of their
    rebalance timeouts is over, and the leader has assigned, or its session has ended.

    Verified: once a second, each group in one of the two states of a rebalance, from the moment that it got into it or
        that nothing excuses it any more. The bound is twice the longest rebalance timeout that a member of the group
        has had, the longest session timeout, and 5 s.

    Not verified: groups of which no member has said its timeouts to this coordinator; rebalances that follow each
        other.
    """

    ids = ("G6",)
    gravity = Gravity.LIVENESS
    statement = "rebalances(g) ⇒ soon stable(g) ∨ empty(g): the rebalance of a group ends"
    catches = ("KAFKA-9752",)
    fails_when = "a rebalance that all have joined is not completed"

    def begin(self) -> None:
        self._rebalances: Deadlines[tuple[int, str, str]] = Deadlines()
        self._bounds: dict[str, int] = {}
        self._longest_us = 0

    def on_heard(self, event: MemberHeard) -> None:
        bound_us = 2 * event.rebalance_us + event.session_us + SETTLING_US
        if bound_us > self._bounds.get(event.group, 0):
            self._bounds[event.group] = bound_us
            self._longest_us = max(self._longest_us, bound_us)

    def on_state(self, event: GroupStateChanged) -> None:
        for state in REBALANCES:
            self._rebalances.end((event.node, event.group, state))
        if event.state in REBALANCES:
            self._rebalances.begin((event.node, event.group, event.state), event.t_us)

    def on_end(self, event: GroupsUnloaded | NodeCrashed) -> None:
        self._rebalances.end_all(lambda key: key[0] == event.node)

    def look(self, moment: Moment) -> None:
        if len(self._rebalances) and self._longest_us:
            for (node, group, state), lasted_us in self._rebalances.overdue(
                moment.t_us, self._longest_us, lambda key: self.now.reached_since_us(key[0])
            ):
                if group in self._bounds:
                    self.violated(moment, NeverStable(node, group, state, lasted_us), brokers=(node,))
