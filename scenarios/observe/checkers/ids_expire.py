"""X9: a transactional id that is not used expires."""

from __future__ import annotations

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import NodeCrashed, TransactionStateChanged, TransactionsUnloaded
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.findings.coordination_facts import IdStays
from scenarios.observe.history.deadlines import Deadlines

UNUSED = ("Empty", "CompleteCommit", "CompleteAbort")
WEEK_MS, HOUR_MS = 604_800_000, 3_600_000
WRITTEN_US = 30_000_000
"""How long it may take until the tombstone of an id is written; one that was not is tried again at the next check."""


class IdsExpire(Checker):
    """A coordinator removes a transactional id without a transaction once it was not used for
    transactional.id.expiration.ms, and tries again where that could not be written
    (TransactionStateManager.enableTransactionalIdExpiration, 0.11).

    Verified: once a second, each id that has no transaction since its coordinator, which works and is reached, has
        changed it last: it stays for that time, transaction.remove.expired.transaction.cleanup.interval.ms and 30 s at
        most, while all replicas of all partitions of __transaction_state are in sync.

    Not verified: that it stays so long (its coordinator decides before its record is written); ids that a coordinator
        has loaded, until it changes them.
    """

    ids = ("X9",)
    gravity = Gravity.LIVENESS
    statement = "unused(id) ⇒ soon expired(id): a transactional id that is not used is removed"
    fails_when = "a coordinator takes no id for unused"

    def begin(self) -> None:
        unused_us = self.start.time_us("transactional.id.expiration.ms", WEEK_MS)
        interval_us = self.start.time_us("transaction.remove.expired.transaction.cleanup.interval.ms", HOUR_MS)
        self._bound_us = unused_us + interval_us + WRITTEN_US
        self._unused: Deadlines[tuple[int, str]] = Deadlines()

    def on_state(self, event: TransactionStateChanged) -> None:
        key = event.node, event.transactional_id
        self._unused.end_all(lambda known: known[1] == key[1])
        if event.state in UNUSED:
            self._unused.begin(key, event.t_us)

    def on_end(self, event: TransactionsUnloaded | NodeCrashed) -> None:
        self._unused.end_all(lambda key: key[0] == event.node)

    def look(self, moment: Moment) -> None:
        if len(self._unused):
            for (node, id), lasted_us in self._unused.overdue(moment.t_us, self._bound_us, self._since_us):
                self.violated(moment, IdStays(node, id, lasted_us), brokers=(node,))

    def _since_us(self, key: tuple[int, str]) -> int | None:
        """Since when nothing excuses that an id stays; None: something does now."""
        cluster, now = self.cluster, self.now
        if key[0] in now.clocks or key[0] in now.impaired:
            return None
        partitions = cluster.partitions(TRANSACTION_STATE_TOPIC)
        whole = all(len(cluster.isr(tp)) == len(cluster.assignment(tp)) for tp in partitions)
        return now.reached_since_us(key[0]) if whole else None
