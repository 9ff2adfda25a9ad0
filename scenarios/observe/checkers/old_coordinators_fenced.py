"""X7: a coordinator of transactions that was replaced decides nothing."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import BecameFollower, BecameLeader, NodeStarted, TransactionMarked
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.coordination_facts import OldCoordinatorMarks
from scenarios.observe.history.history import History


class OldCoordinatorsFenced(Checker):
    """A leader that has a marker of a later coordinator of a transactional id in its log refuses those of earlier ones
    (TRANSACTION_COORDINATOR_FENCED; ProducerStateManager.checkCoordinatorEpoch, 0.11 to 2.7).

    Verified: each marker that a leader appends, against the coordinator epochs of the markers of its producer that the
        same leader has appended since it became the leader.

    Not verified: coordinator epochs that its log has from earlier leaders.
    """

    name: ClassVar[str] = "old_coordinators_fenced"
    ids: ClassVar[tuple[str, ...]] = ("X7",)
    statement: ClassVar[str] = (
        "appended(marker) ⇒ marker.coordinator_epoch ≥ epoch(log): a coordinator of transactions that was replaced "
        "decides nothing"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-9144",)
    fails_when: ClassVar[str | None] = "leaders take markers of any coordinator epoch"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._epochs: dict[tuple[int, TopicPartition], dict[int, int]] = {}

    def on_started(self, event: NodeStarted) -> None:
        for key in [key for key in self._epochs if key[0] == event.node]:
            del self._epochs[key]

    def on_leader(self, event: BecameLeader) -> None:
        self._epochs.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def on_follower(self, event: BecameFollower) -> None:
        self._epochs.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def on_marked(self, event: TransactionMarked) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        known = self._epochs.setdefault((event.node, tp), {})
        epoch, current = event.coordinator_epoch, known.get(event.producer_id, -1)
        if epoch < current:
            facts = OldCoordinatorMarks(event.node, event.producer_id, event.committed, epoch, current)
            self.violated(event, facts, tp, (event.node,))
        known[event.producer_id] = max(epoch, current)
