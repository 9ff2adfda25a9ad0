"""X10: a coordinator aborts no transaction by itself before its time."""

from __future__ import annotations

from emulator.protocol.events import TransactionStateChanged
from emulator.protocol.shown_coordination import TransactionLate, TransactionTimed
from scenarios.observe.checkers.coordinators_log import TransactionsLog
from scenarios.observe.findings.coordination_facts import AbortedEarly

ONGOING = "Ongoing"


class AbortsHaveReasons(TransactionsLog):
    """A coordinator aborts a transaction by itself only once that has lasted for its timeout
    (TransactionCoordinator.abortTimedOutTransactions, 0.11 to 3.9), also where another broker coordinates by then.

    Verified: each transaction that a coordinator, the leader in ZooKeeper, aborts for its time: since its id had none,
        for which the state before says so, the transaction timeout of its producer is over.

    After an unclean election of a partition of __transaction_state, and once a machine has crashed, what was known
    before does not count; nor does anything once a fault has set a clock.

    Not verified: aborts that a producer asks for, or another one with its id; how long exactly a transaction has
        lasted, of which no event shows the begin.
    """

    ids = ("X10",)
    statement = "late(t) ⇒ lasted(t) > timeout(t): a coordinator aborts no transaction by itself before its time"
    fails_when = "a coordinator takes each open transaction for late"

    def begin(self) -> None:
        super().begin()
        self._idle_us: dict[str, int] = {}
        """When each transactional id had no transaction last."""
        self._timeouts_us: dict[str, int] = {}

    def on_state(self, event: TransactionStateChanged) -> None:
        if event.state != ONGOING:
            self._idle_us[event.transactional_id] = event.t_us

    def on_timed(self, event: TransactionTimed) -> None:
        self._timeouts_us[event.transactional_id] = event.timeout_us

    def forget_written(self) -> None:
        super().forget_written()
        self._idle_us.clear()

    def on_late(self, event: TransactionLate) -> None:
        id = event.transactional_id
        idle_us, timeout_us = self._idle_us.get(id), self._timeouts_us.get(id)
        if self.now.clocks or idle_us is None or timeout_us is None or not self.coordinates(event.node, event.home):
            return
        lasted_us = event.t_us - idle_us
        if lasted_us < timeout_us:
            self.violated(event, AbortedEarly(event.node, id, lasted_us, timeout_us), brokers=(event.node,))
