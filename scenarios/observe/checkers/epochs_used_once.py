"""X8: a transactional id uses up one epoch at a time."""

from __future__ import annotations

from emulator.protocol.events import NodeCrashed, TransactionsLoaded, TransactionStateChanged, TransactionsUnloaded
from scenarios.observe.checkers.checker import Checker, Gravity, forget
from scenarios.observe.findings.coordination_facts import EpochsSkipped


class EpochsUsedOnce(Checker):
    """The epochs of a producer id grow by one, whether a new producer comes or a late transaction is fenced: a
    transactional id has 32,767 of them, and a fence whose record could not be written is tried again with the same one
    (KAFKA-9666, 2.6).

    Verified: each state of a transactional id against the one before it, of the same producer id at the same
        coordinator.

    Before KAFKA-9666 each attempt to fence used up one: releases up to 2.5 are not looked at.

    Not verified: epochs that a failover of the coordinator uses up.
    """

    ids = ("X8",)
    gravity = Gravity.LIVENESS
    statement = "epoch(n+1) ≤ epoch(n) + 1: a transactional id uses up one epoch at a time"
    catches = ("KAFKA-9666",)
    fails_when = "a producer that is late is fenced by two epochs"

    def begin(self) -> None:
        self._fences_once = self.start.fences_once
        self._last: dict[tuple[int, str], tuple[int, int]] = {}

    def on_state(self, event: TransactionStateChanged) -> None:
        key = event.node, event.transactional_id
        producer_id, epoch = self._last.get(key, (-1, -1))
        if self._fences_once and producer_id == event.producer_id and event.producer_epoch > epoch + 1:
            facts = EpochsSkipped(event.node, event.transactional_id, producer_id, epoch, event.producer_epoch)
            self.violated(event, facts, brokers=(event.node,))
        self._last[key] = event.producer_id, event.producer_epoch

    def on_forgets(self, event: TransactionsLoaded | TransactionsUnloaded | NodeCrashed) -> None:
        forget(event.node, self._last)
