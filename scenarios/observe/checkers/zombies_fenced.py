"""X5: a producer whose epoch is over writes nothing."""

from __future__ import annotations

from emulator.protocol.errors import Errors
from emulator.protocol.events import BecameFollower, BecameLeader, NodeStarted, TransactionMarked
from emulator.protocol.shown import ProduceRefused
from emulator.protocol.shown_coordination import CommitAccepted, SequencedAccepted
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, forget
from scenarios.observe.findings.client_facts import ProducerRefused
from scenarios.observe.findings.coordination_facts import ZombieWrites

FENCED = Errors.INVALID_PRODUCER_EPOCH.name


class LeaderEpochs(Checker):
    """The base of checkers of fencing by an epoch of a producer. What a leader has accepted counts until it is
    given a role again, or its process starts."""

    def begin(self) -> None:
        self._epochs: dict[tuple[int, TopicPartition], dict[int, int]] = {}

    def on_started(self, event: NodeStarted) -> None:
        forget(event.node, self._epochs)

    def on_role(self, event: BecameLeader | BecameFollower) -> None:
        self._epochs.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def highest(self, node: int, tp: TopicPartition, producer_id: int) -> int:
        """The highest epoch of a producer at a leader; -1: none is known."""
        return self._epochs.get((node, tp), {}).get(producer_id, -1)

    def raised(self, node: int, tp: TopicPartition, producer_id: int, epoch: int) -> int:
        """The highest epoch of a producer at a leader, once it has accepted this one."""
        highest = max(epoch, self.highest(node, tp, producer_id))
        self._epochs.setdefault((node, tp), {})[producer_id] = highest
        return highest


class ZombiesFenced(LeaderEpochs):
    """A leader that has a later epoch of a producer in its log refuses what comes with an earlier one: records, records
    that it has already, and offsets of a transaction (KIP-98; ProducerAppendInfo.checkProducerEpoch, 0.11 to 2.7). It
    refuses no records for their epoch otherwise.

    Verified: each batch of an idempotent or transactional producer that a leader accepts, and each commit of offsets in
        a transaction, against the epochs of the batches and markers that the same leader has accepted since it became
        the leader. Each batch that it refuses with INVALID_PRODUCER_EPOCH: some leader of the partition has accepted a
        later epoch.

    Not verified: epochs that its log has from earlier leaders; a producer of which retention has deleted everything.
    """

    ids = ("X5",)
    statement = "accepted(batch) ⇒ batch.producer_epoch ≥ epoch(log): a producer whose epoch is over writes nothing"
    catches = ("KIP-98", "KIP-360")
    fails_when = "leaders and coordinators take what comes from earlier producer epochs"

    def begin(self) -> None:
        super().begin()
        self._latest: dict[tuple[TopicPartition, int], int] = {}
        """The highest epoch of each producer that any leader of a partition has had."""

    def on_marked(self, event: TransactionMarked) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._see(tp, event.producer_id, event.producer_epoch)
        if self.cluster.leads(event.node, tp) is not None:
            self.raised(event.node, tp, event.producer_id, event.producer_epoch)

    def _see(self, tp: TopicPartition, producer_id: int, epoch: int) -> None:
        self._latest[tp, producer_id] = max(epoch, self._latest.get((tp, producer_id), -1))

    def on_refused(self, event: ProduceRefused) -> None:
        tp, epoch = TopicPartition.of(event.topic, event.partition), event.producer_epoch
        latest = self._latest.get((tp, event.producer_id), -1)
        if event.error == FENCED and latest <= epoch >= 0:
            facts = ProducerRefused(event.node, event.producer_id, epoch, latest)
            self.violated(event, facts, tp, (event.node,))

    def on_accepted(self, event: SequencedAccepted) -> None:
        self._see(event.tp, event.producer_id, event.producer_epoch)
        what = "repeated records" if event.repeated else "records"
        current = self.raised(event.node, event.tp, event.producer_id, event.producer_epoch)
        if event.producer_epoch < current:
            facts = ZombieWrites(event.node, what, event.producer_id, event.producer_epoch, current)
            self.violated(event, facts, event.tp, (event.node,))

    def on_commit(self, event: CommitAccepted) -> None:
        if event.producer_id < 0:
            return
        current = self.highest(event.node, event.home, event.producer_id)
        if event.producer_epoch < current:
            facts = ZombieWrites(event.node, "offsets", event.producer_id, event.producer_epoch, current)
            self.violated(event, facts, event.home, (event.node,))
