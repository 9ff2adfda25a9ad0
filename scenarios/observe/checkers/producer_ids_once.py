"""X4: a producer id belongs to one producer, and a transactional id keeps the one that it has."""

from __future__ import annotations

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from brokers.transactions.metadata import LAST_EPOCH
from emulator.protocol.events import BecameLeader, Fault, ProducerIdentified, TransactionStateChanged
from emulator.protocol.shown import RecordsCompacted
from emulator.protocol.shown_coordination import CoordinatorWrote
from emulator.protocol.znodes import PRODUCER_ID_BLOCK, decode_claimed_block
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.coordination_facts import (
    BlockMisclaimed,
    IdUnclaimed,
    ProducerIdLost,
    ProducerIdTwice,
)
from scenarios.observe.history.circumstances import INJECTED
from scenarios.observe.past.changes import AssignmentWritten

DEAD = "Dead"


class ProducerIdsOnce(Checker):
    """Brokers claim blocks of producer ids in ZooKeeper (/latest_producer_id_block; ProducerIdManager, 0.11 to 2.8), or
    the controller does for them (KIP-730, 3.0), so no two idempotent producers and no two transactional ids have the
    same id. A coordinator that takes over knows them (TransactionStateManager, 0.11): else nothing fences the producers
    that were there before.

    Verified: each id that an emulated producer gets, and each that a transactional id has: it gets another one only
        once its epochs are used up, or it was removed. Each block in ZooKeeper begins after the one before it, and is
        claimed by a broker for itself, or by the controller; each id is in such a block.

    Not verified: idempotent producers of real clients; what a transactional id gets after a fault of a disk, a loss of
        committed records, a compaction of __transaction_state, a failed write of its coordinator, or a change of the
        number of its partitions.
    """

    ids = ("X4",)
    statement = (
        "id(a) = id(b) ⇔ a = b: a producer id belongs to one producer, and a transactional id keeps the one that it has"
    )
    catches = ("KIP-98",)
    fails_when = "each broker begins with the first block of ids"

    def begin(self) -> None:
        self._owners: dict[int, str] = {}
        self._last = -1
        """The last id that was claimed."""
        self._known: dict[str, tuple[int, int]] = {}
        """The producer id and the epoch of each transactional id, by its name in ``CoordinatorWrote``, as they were
        written last."""
        self._spoilt = False
        self._commits = self.history.commits

    def on_written(self, event: ZkWritten) -> None:
        if event.path != PRODUCER_ID_BLOCK or event.op == "delete":
            return
        broker, first, last = decode_claimed_block(event.data)
        mine = broker == event.client or event.client == self.cluster.epoch_owner
        if first != self._last + 1 or last < first or not mine:
            self.violated(event, BlockMisclaimed(event.client, broker, first, last, self._last))
        self._last = max(self._last, last)

    def _look_at_claim(self, event: ProducerIdentified | TransactionStateChanged, owner: str) -> None:
        if event.producer_id > self._last >= 0:
            self.violated(event, IdUnclaimed(event.producer_id, owner, self._last))

    def on_fault(self, event: Fault) -> None:
        self._spoilt |= event.action.startswith(INJECTED)

    def on_compacted(self, event: RecordsCompacted) -> None:
        self._spoilt |= event.tp.topic == TRANSACTION_STATE_TOPIC  # where it takes too much is for compaction_keeps

    def on_leads(self, event: BecameLeader) -> None:
        if event.topic == TRANSACTION_STATE_TOPIC:
            commit = self._commits.get(event.topic, event.partition)
            log = self._commits.logs.get(event.node, commit.tp)
            self._spoilt |= log is not None and not commit.held_by(log)

    def on_wrote(self, event: CoordinatorWrote) -> None:
        """Forget the ids of a write that has failed: the log may have it all the same, and it may be the tombstone of
        an expired id (removeFromCacheCallback of TransactionStateManager, 2.4.1)."""
        for name in event.of if event.failed else ():
            self._known.pop(name, None)

    def on_assigned(self, event: AssignmentWritten) -> None:
        if event.tp.topic == TRANSACTION_STATE_TOPIC and not (event.replicas and event.before):
            self._known.clear()

    def on_identified(self, event: ProducerIdentified) -> None:
        first = self._owners.get(event.producer_id)
        if first is not None:
            self.violated(event, ProducerIdTwice(event.producer_id, first, f"client {event.node}"))
        self._owners[event.producer_id] = f"client {event.node}"
        self._look_at_claim(event, f"client {event.node}")

    def on_state(self, event: TransactionStateChanged) -> None:
        owner = f"transactional id {event.transactional_id}"
        first = self._owners.setdefault(event.producer_id, owner)
        self._look_at_claim(event, owner)
        if first != owner:
            self._owners[event.producer_id] = owner
            self.violated(event, ProducerIdTwice(event.producer_id, first, owner))
        before, epoch = self._known.get(owner, (event.producer_id, -1))
        if event.state == DEAD:
            self._known.pop(owner, None)
            return
        self._known[owner] = event.producer_id, event.producer_epoch
        if before != event.producer_id and epoch < LAST_EPOCH - 1 and not (self._spoilt or self._have_lost()):
            facts = ProducerIdLost(event.node, event.transactional_id, before, epoch, event.producer_id)
            self.violated(event, facts, brokers=(event.node,))

    def _have_lost(self) -> bool:
        """Whether the logs of transactional ids may have lost what was committed."""
        found = (self._commits.get(*tp) for tp in self.cluster.partitions(TRANSACTION_STATE_TOPIC))
        return any(one.unclean_epoch >= 0 or one.unflushed or one.crashed or one.unknown_below for one in found)
