"""I1: a leader takes nobody into its ISR who is not assigned to the partition."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import BecameLeader, IsrProposed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.checkers.ghosts import Ghosts


class ExpandsAssigned(Checker):
    """A leader adds to its ISR only replicas that it was told of, or that the move under way asks for.

    Verified: each wish of a leader for a larger ISR, against the replicas that its LeaderAndIsr named and the target of
        the partition's move, if one is under way: KAFKA-42's controller does not tell the leader of new replicas.

    Not verified: that the ISR in ZooKeeper holds assigned replicas only. A move leaves it otherwise for a while, and
    kafka-6794 for longer: the atlas counts that as a harm.
    """

    name: ClassVar[str] = "expands_assigned"
    ids: ClassVar[tuple[str, ...]] = ("I1",)
    statement: ClassVar[str] = "expand(f) ⇒ f ∈ RS: nobody joins the ISR who is not assigned"
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-9672", "KAFKA-1097", "KAFKA-1170")

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._commits = ghosts.commits
        self._told: dict[tuple[int, str, int], tuple[int, ...]] = {}

    def on_became_leader(self, event: BecameLeader) -> None:
        self._told[event.node, event.topic, event.partition] = event.replicas

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind != "expand":
            return
        told = self._told.get((event.node, event.topic, event.partition), ())
        target = self._commits.get(event.topic, event.partition).target
        for replica in event.replicas:
            if replica not in told and replica not in target:
                self.violated(
                    event,
                    f"{TopicPartition(event.topic, event.partition)}: broker {event.node}, leader of epoch "
                    f"{event.leader_epoch}, told of the replicas {list(told)}, takes in broker {replica}",
                )
