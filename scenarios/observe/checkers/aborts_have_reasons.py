"""X10: a coordinator ends a transaction as its producer asks, and aborts none by itself before its time."""

from __future__ import annotations

from emulator.protocol.events import TransactionStateChanged
from emulator.protocol.shown_coordination import TransactionEndAsked, TransactionLate, TransactionTimed
from scenarios.observe.checkers.coordinators_log import TransactionsLog
from scenarios.observe.checkers.markers_decided import DECIDED, ONGOING
from scenarios.observe.findings.coordination_facts import AbortedEarly, EndedOtherwise


class AbortsHaveReasons(TransactionsLog):
    """A coordinator ends a transaction as its producer asks by EndTxn, and aborts it by itself only once it has lasted
    for its timeout (TransactionCoordinator.endTransaction and abortTimedOutTransactions, 0.11 to 3.9), also where
    another broker coordinates by then.

    Verified: each decision of a coordinator under the epoch with which the producer has asked for the end: to commit
        where it has asked for that alone, to abort where it has asked for that alone. What fences a producer aborts
        under a later epoch. A coordinator that has lost epochs (KIP-966) obeys a later one, too: up to 2.5 it refuses
        earlier ones only (KAFKA-9600). Each transaction that a coordinator, the leader in ZooKeeper, aborts for its
        time: since its id had none, for which the state before says so, the transaction timeout of its producer is
        over.

    After an unclean election of a partition of __transaction_state, and once a machine has crashed or a leader's log
    was damaged, what was known before does not count; nor does anything once a fault has set a clock.

    Not verified: whether what fences has a reason (``fences_have_reasons``); how long exactly a transaction has lasted,
        of which no event shows the begin.
    """

    ids = ("X10",)
    statement = (
        "decision(t) = asked(t), late(t) ⇒ lasted(t) > timeout(t): a coordinator ends a transaction as its producer "
        "asks, and aborts none by itself before its time"
    )
    fails_when = "a coordinator takes each open transaction for late"

    def begin(self) -> None:
        super().begin()
        self._idle_us: dict[str, int] = {}
        """When each transactional id had no transaction last."""
        self._asked: dict[tuple[str, int, int], dict[bool, None]] = {}
        """By id, producer id and epoch: how its producer has asked for the end of the transaction that is open."""
        self._timeouts_us: dict[str, int] = {}

    def on_state(self, event: TransactionStateChanged) -> None:
        if event.state != ONGOING:
            self._idle_us[event.transactional_id] = event.t_us
        producer = event.transactional_id, event.producer_id, event.producer_epoch
        if event.state not in DECIDED:
            if event.state != ONGOING:
                self._asked.pop(producer, None)
            return
        committed, asked = DECIDED[event.state], self._asked.get(producer, {})
        if committed not in asked and (committed or asked) and not self._asked_later(event, committed):
            facts = EndedOtherwise(event.node, event.transactional_id, committed, bool(asked))
            self.violated(event, facts, brokers=(event.node,))

    def _asked_later(self, event: TransactionStateChanged, committed: bool) -> bool:
        """Whether it has been asked for that end under a later epoch, which the coordinator has lost."""
        id, epoch = event.producer_id, event.producer_epoch
        return any(
            (key[0], key[1]) == (event.transactional_id, id) and key[2] > epoch and committed in asked
            for key, asked in self._asked.items()
        )

    def on_asked(self, event: TransactionEndAsked) -> None:
        producer = event.transactional_id, event.producer_id, event.producer_epoch
        self._asked.setdefault(producer, {})[event.committed] = None

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
