"""X6: a transactional producer writes within its transactions alone."""

from __future__ import annotations

from emulator.protocol.events import TransactionalAppended, TransactionsLoaded, TransactionStateChanged
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.coordinators_log import TransactionsLog
from scenarios.observe.findings.coordination_facts import WritesOutside

OVER = ("Empty", "CompleteCommit", "CompleteAbort")


class RecordsInTransactions(TransactionsLog):
    """A leader takes no records of a transaction that is over: its producer was fenced, or knows that it has ended
    (KIP-98; KAFKA-6119 fenced producers whose transaction lasts too long, 1.0.1).

    Verified: each batch of a transaction that the leader in ZooKeeper appends: the coordinator has the transaction as
        open, or is sending its markers.

    After an unclean election of a partition of __transaction_state, and once a machine has crashed or a leader's log
    was damaged, a producer may know a transaction that its coordinator does not know any more: it is not asked for
    until it has another epoch.

    Not verified: batches after a failover of a coordinator of transactions, until it changes the transaction again; a
        batch under way when its transaction ends, which Kafka could take before KIP-890 (3.6), is found where it comes.
    """

    ids = ("X6",)
    statement = "appended(batch) ⇒ open(t): a transactional producer writes within its transactions alone"
    catches = ("KAFKA-6119",)
    fails_when = "a transaction that lasts too long is aborted, and its producer goes on"

    def begin(self) -> None:
        super().begin()
        self._states: dict[int, str] = {}

    def on_loaded(self, event: TransactionsLoaded) -> None:
        self._states.clear()

    def on_state(self, event: TransactionStateChanged) -> None:
        self._states[event.producer_id] = event.state
        self.note_epoch(event)

    def on_appended(self, event: TransactionalAppended) -> None:
        state = self._states.get(event.producer_id, "")
        if state not in OVER or self.may_have_lost(event.producer_id):
            return
        tp = TopicPartition.of(event.topic, event.partition)
        leads, there = self.cluster.leads(event.node, tp), self.cluster.state(tp)
        if leads is not None and there is not None and leads.leader_epoch == there.leader_epoch:
            facts = WritesOutside(event.node, event.producer_id, event.base_offset, state)
            self.violated(event, facts, tp, (event.node,))
