"""X1: the markers of a transaction say what its coordinator has decided, and it is complete when all are there."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.events import TransactionMarked, TransactionStateChanged
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.coordinators_log import TransactionsLog
from scenarios.observe.findings.coordination_facts import EndsWithPartitions, MarkerDisagrees, MarkerLacks

ONGOING, COMPLETE = "Ongoing", ("CompleteCommit", "CompleteAbort")
DECIDED = {"PrepareCommit": True, "PrepareAbort": False}


@define(eq=False)
class _Transaction:
    """The last transaction of a producer id.

    Attributes:
        partitions: those that it has.
        marked: the partitions to which a leader has written a marker since it began.
    """

    state: str = ""
    partitions: dict[TopicPartition, None] = field(factory=dict)
    marked: dict[TopicPartition, None] = field(factory=dict)


class MarkersDecided(TransactionsLog):
    """After PrepareCommit leaders write COMMIT alone, after PrepareAbort ABORT alone; and a coordinator takes a
    transaction for complete once each of its partitions has a marker (KIP-98; TransactionMarkerChannelManager, 0.11 to
    2.7).

    Verified: each marker that a leader writes, against the last decision about the producer, while it is being carried
        out. Each transaction that is complete: a leader has written a marker to each partition that was in it, unless
        its topic is gone, or is being deleted; and it has no partitions any more, which its producer's next one would
        take over (TransactionMetadata.prepareComplete, 0.11).

    After an unclean election of a partition of __transaction_state, and once a machine has crashed or a leader's log
    was damaged, what was decided before may be decided otherwise.

    Not verified: markers that come before the coordinator knows that its decision is written, as after a failover; that
        the markers stay in the logs (``no_batch_twice``, ``isr_complete``).
    """

    ids = ("X1",)
    statement = (
        "marker(t, p) = decision(t), complete(t) ⇒ ∀ p marker(t, p): the markers of a transaction say what its "
        "coordinator has decided, and it is complete when all are there"
    )
    catches = ("KAFKA-5130",)
    fails_when = "a coordinator sends ABORT, whatever was decided"

    def begin(self) -> None:
        super().begin()
        self._transactions: dict[int, _Transaction] = {}

    def forget_written(self) -> None:
        self._transactions.clear()

    def on_state(self, event: TransactionStateChanged) -> None:
        found = self._transactions.get(event.producer_id)
        if found is None:
            found = self._transactions[event.producer_id] = _Transaction()
        if event.state in COMPLETE:
            self._check_complete(event, found)
            if event.partitions:
                facts = EndsWithPartitions(event.node, event.transactional_id, event.state, len(event.partitions))
                self.violated(event, facts, None, (event.node,))
        elif event.state == ONGOING and found.state != ONGOING:
            found.partitions, found.marked = {}, {}
        if event.state == ONGOING or event.state in DECIDED:
            found.partitions.update(dict.fromkeys(map(TopicPartition.of, event.topics, event.partitions)))
        found.state = event.state

    def _check_complete(self, event: TransactionStateChanged, found: _Transaction) -> None:
        for tp in found.partitions:
            there = self.cluster.assignment(tp) and not self.cluster.is_deleting(tp.topic)
            if tp not in found.marked and there:
                facts = MarkerLacks(event.node, event.transactional_id, event.producer_id, event.state)
                self.violated(event, facts, tp, (event.node,))
        found.partitions, found.marked = {}, {}

    def on_marked(self, event: TransactionMarked) -> None:
        found = self._transactions.get(event.producer_id)
        if found is None:
            return
        tp = TopicPartition.of(event.topic, event.partition)
        found.marked[tp] = None
        decided = DECIDED.get(found.state)
        if decided is not None and decided != event.committed:
            facts = MarkerDisagrees(event.node, event.producer_id, event.committed, found.state)
            self.violated(event, facts, tp, (event.node,))
