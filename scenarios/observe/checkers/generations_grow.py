"""G11: each generation of a group has a number of its own."""

from __future__ import annotations

from emulator.protocol.events import GroupGeneration, GroupStateChanged, GroupsUnloaded, NodeStarted, OffsetsRemoved
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog
from scenarios.observe.findings.coordination_facts import GenerationAgain

STABLE, DEAD = "Stable", "Dead"


class GenerationsGrow(CoordinatorsLog):
    """The generations of a group are numbered one after the other, also where another broker takes over: members of an
    earlier generation are recognized by its number (GroupMetadata.initNextGeneration, 0.9).

    Verified: each generation against the one before that its coordinator has formed; the first one of a coordinator
        against the last one that was stable, and so is in __consumer_offsets.

    After an unclean election of a partition of __consumer_offsets, and once a machine has crashed or a leader's log was
    damaged, what was stable before is not asked for any more; nor is a group that was removed.

    Not verified: generations that were never stable, which the next coordinator does not know.
    """

    ids = ("G11",)
    statement = "generation(g)[n+1] > generation(g)[n]: each generation of a group has its own number"
    fails_when = "a group keeps its generation when its members join again"

    def begin(self) -> None:
        super().begin()
        self._formed: dict[int, dict[str, int]] = {}
        """The last generation that a coordinator has formed, by group."""
        self._stable: dict[str, int] = {}

    def on_forgets(self, event: NodeStarted | GroupsUnloaded) -> None:
        self._formed.pop(event.node, None)

    def on_removed(self, event: OffsetsRemoved) -> None:
        if event.group_too:
            self._formed.get(event.node, {}).pop(event.group, None)
            self._stable.pop(event.group, None)

    def forget_written(self) -> None:
        self._stable.clear()

    def on_state(self, event: GroupStateChanged) -> None:
        if event.state == STABLE:
            self._stable[event.group] = event.generation
        elif event.state == DEAD:
            self._formed.get(event.node, {}).pop(event.group, None)

    def on_generation(self, event: GroupGeneration) -> None:
        formed = self._formed.setdefault(event.node, {})
        before = formed.get(event.group, self._stable.get(event.group, -1))
        if event.generation <= before:
            facts = GenerationAgain(event.node, event.group, event.generation, before)
            self.violated(event, facts, brokers=(event.node,))
        formed[event.group] = event.generation
