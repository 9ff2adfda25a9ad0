"""X7: a coordinator of transactions that was replaced decides nothing."""

from __future__ import annotations

from emulator.protocol.events import TransactionMarked
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.zombies_fenced import LeaderEpochs
from scenarios.observe.findings.coordination_facts import OldCoordinatorMarks


class OldCoordinatorsFenced(LeaderEpochs):
    """A leader that has a marker of a later coordinator of a transactional id in its log refuses those of earlier ones
    (TRANSACTION_COORDINATOR_FENCED; ProducerStateManager.checkCoordinatorEpoch, 0.11 to 2.7).

    Verified: each marker that a leader appends, against the coordinator epochs of the markers of its producer that the
        same leader has appended since it became the leader.

    Not verified: coordinator epochs that its log has from earlier leaders.
    """

    ids = ("X7",)
    statement = (
        "appended(marker) ⇒ marker.coordinator_epoch ≥ epoch(log): a coordinator of transactions that was replaced "
        "decides nothing"
    )
    catches = ("KAFKA-9144",)
    fails_when = "leaders take markers of any coordinator epoch"

    def on_marked(self, event: TransactionMarked) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        epoch = event.coordinator_epoch
        current = self.raised(event.node, tp, event.producer_id, epoch)
        if epoch < current:
            facts = OldCoordinatorMarks(event.node, event.producer_id, event.committed, epoch, current)
            self.violated(event, facts, tp, (event.node,))
