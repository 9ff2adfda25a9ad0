"""The base of the checkers of refusals for a role that a broker has not."""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import BecameFollower, BecameLeader, ReplicaOffline, ReplicaStopped
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.facts import Facts


class RoleRefusals(Checker):
    """The base. A refusal may show that the role has changed: a broker answers those that wait before the change is
    recorded. So it is reported at the next look, unless the change has come."""

    def begin(self) -> None:
        self._refused: dict[tuple[int, TopicPartition], tuple[Any, Facts]] = {}
        """The refusals since the last look, by broker and partition."""

    def refused(self, event: Any, tp: TopicPartition, facts: Facts) -> None:
        """Take note of a refusal that does not fit the role of its broker."""
        self._refused[event.node, tp] = event, facts

    def on_end(self, event: BecameFollower | ReplicaStopped | ReplicaOffline) -> None:
        self.changed(event)

    def changed(self, event: BecameLeader | BecameFollower | ReplicaStopped | ReplicaOffline) -> None:
        """Forget the refusal of a broker whose role has changed."""
        if self._refused:
            self._refused.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def look(self, moment: Moment) -> None:
        self.finish()

    def finish(self) -> None:
        refused, self._refused = self._refused, {}
        for (node, tp), (event, facts) in refused.items():
            self.violated(event, facts, tp, (node,))
