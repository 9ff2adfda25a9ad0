"""The base of the checkers of what coordinators have in their topic."""

from __future__ import annotations

from abc import abstractmethod

from brokers.groups.config import GROUP_METADATA_TOPIC
from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import BecameLeader, LogRecovered, NodeCrashed, TransactionStateChanged
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.past.changes import StateWritten


class CoordinatorsLog(Checker):
    """The base. An unclean election, a deletion of the topic, the crash of a machine, or a leader that has no more than
    its recovery has left of a damaged log (the only in-sync replica, or KIP-966) may lose what is there.

    Attributes:
        topic: __consumer_offsets, or __transaction_state.
    """

    topic = GROUP_METADATA_TOPIC

    def begin(self) -> None:
        self._recovered: dict[tuple[int, TopicPartition], int] = {}
        """Where each log ended after the last recovery that removed something from it."""

    @abstractmethod
    def forget_written(self) -> None:
        """Forget what was written before: it may be lost."""

    def on_crashed(self, event: NodeCrashed) -> None:
        if event.kind == "host":
            self.forget_written()

    def on_recovered(self, event: LogRecovered) -> None:
        if event.topic == self.topic:
            self._recovered[event.node, TopicPartition.of(event.topic, event.partition)] = event.log_end_offset

    def on_leads(self, event: BecameLeader) -> None:
        end = self._recovered.pop((event.node, TopicPartition.of(event.topic, event.partition)), -1)
        if event.log_end_offset <= end:
            self.forget_written()

    def on_written(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if event.tp.topic == self.topic and before is not None:
            unclean = state is not None and state.leader >= 0 and state.leader not in before.isr
            if state is None or unclean:
                self.forget_written()

    def coordinates(self, node: int, home: TopicPartition) -> bool:
        """Whether a broker leads a partition as ZooKeeper has it, in its leader epoch."""
        leads, state = self.cluster.leads(node, home), self.cluster.state(home)
        if leads is None or state is None:
            return False
        return (state.leader, state.leader_epoch) == (node, leads.leader_epoch)


class TransactionsLog(CoordinatorsLog):
    """The base of those that look at transactions. What is lost of a transactional id has two consequences: a producer
    may know a transaction that no coordinator knows, and leaders may know a later producer epoch, and
    refuse the markers of the next ones, until the epochs have come so far again."""

    topic = TRANSACTION_STATE_TOPIC

    def begin(self) -> None:
        super().begin()
        self._newest: dict[int, int] = {}
        self._epochs: dict[int, int] = {}
        self._lost: dict[int, int] = {}
        """The last epoch of each producer id of which something may be lost."""

    def note_epoch(self, event: TransactionStateChanged) -> None:
        """Take note of the epoch of a producer, as its coordinator has written it."""
        self._epochs[event.producer_id] = event.producer_epoch
        self._newest[event.producer_id] = max(event.producer_epoch, self._newest.get(event.producer_id, -1))
        if event.producer_epoch > self._lost.get(event.producer_id, event.producer_epoch):
            del self._lost[event.producer_id]

    def may_have_lost(self, producer_id: int) -> bool:
        """Whether what a producer did in its epoch may be lost."""
        return producer_id in self._lost

    def has_lost_epochs(self, producer_id: int) -> bool:
        """Whether a producer has an earlier epoch than it had."""
        return self._epochs.get(producer_id, -1) < self._lost.get(producer_id, -1)

    def forget_written(self) -> None:
        self._lost = dict(self._newest)
