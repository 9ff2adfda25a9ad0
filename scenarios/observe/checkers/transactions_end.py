"""X2: a transaction ends in time."""

from __future__ import annotations

from collections.abc import Callable

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import NodeCrashed, TransactionStateChanged, TransactionsUnloaded
from emulator.protocol.shown_coordination import TransactionsRead, TransactionTimed
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Gravity, Moment
from scenarios.observe.checkers.coordinators_log import TransactionsLog
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.coordination_facts import TransactionLasts
from scenarios.observe.history.deadlines import Deadlines
from scenarios.observe.history.settings_history import MIN_ISR
from scenarios.observe.past.changes import StateWritten

Key = tuple[int, str]
"""A coordinator and a transactional id."""
ONGOING, DECIDED = "Ongoing", ("PrepareCommit", "PrepareAbort")
MARKERS_US = 30_000_000
"""How long the markers of a decided transaction may take, where nothing excuses it: a request of them may wait for the
end of its connection."""


class TransactionsEnd(TransactionsLog):
    """A coordinator aborts a transaction that lasts longer than its timeout, and completes one that is decided
    (TransactionCoordinator.abortTimedOutTransactions, TransactionMarkerChannelManager, 0.11 to 2.7).

    Verified: once a second, each transaction that is open or decided, also one that its coordinator has read: since
        when that works and the controller reaches it, the partition of its transactional id has min.insync.replicas in
        sync, and each partition of the transaction has all its replicas in sync, min.insync.replicas of them at least,
        or is gone with its topic: then no marker is waited for, unless the coordinator missed the deletion and asks for
        ever. An open one may last for its timeout, transaction.abort.timed.out.transaction.cleanup.interval.ms and 5 s
        more, counted from when its partition of __transaction_state has all replicas in sync; its markers take at most
        30 s, and have come when the cluster is at rest. Markers of one coordinator wait for each other. No partition is
        added to one that should have been aborted 5 s ago.

    After an unclean election of a partition of __transaction_state, and once a machine has crashed or a leader's log
    was damaged, leaders may refuse the markers of a producer until it has a later epoch than ever: it is not asked for
    until then.

    Not verified: transactional ids that a coordinator cannot change any more (``coordinators_remember``).
    """

    ids = ("X2",)
    gravity = Gravity.LIVENESS
    statement = "open(t) ⇒ soon complete(t): a transaction ends in time"
    catches = ("KAFKA-5415", "KAFKA-5351")
    fails_when = "a coordinator does not look for transactions that last too long, or sends no markers"

    def begin(self) -> None:
        super().begin()
        self._settings = self.history.settings
        start = self._settings.start
        name = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
        self._interval_us = start.time_us(name, 10_000)
        self._open: Deadlines[Key] = Deadlines()
        self._decided: Deadlines[Key] = Deadlines()
        self._longest_us = 0
        self._partitions: dict[str, tuple[TopicPartition, ...]] = {}
        self._states: dict[str, str] = {}
        self._at: dict[str, int] = {}
        """The coordinator that has changed each id last."""
        self._producers: dict[str, int] = {}
        self._begun_us: dict[str, int] = {}
        """Since when the transaction of an id is known to be open."""
        self._timeouts_us: dict[str, int] = {}
        self._gone_us: dict[str, int] = {}
        """When each topic was deleted that is gone."""
        self._deletions = self.history.missed_deletions
        self._homes_us: dict[TopicPartition, int] = {}
        """When the state of each partition of __transaction_state was last written."""

    def on_home(self, event: StateWritten) -> None:
        if event.tp.topic == TRANSACTION_STATE_TOPIC:
            self._homes_us[event.tp] = event.t_us

    def on_timed(self, event: TransactionTimed) -> None:
        self._longest_us = max(self._longest_us, event.timeout_us)
        self._timeouts_us[event.transactional_id] = event.timeout_us

    def on_ids_read(self, event: TransactionsRead) -> None:
        """A coordinator that takes over goes on with the transactions that it has read, and no other one does."""
        for id, read in event.ids.items():
            for deadlines in (self._open, self._decided):
                deadlines.end_all(lambda key, id=id: key[1] == id)  # type: ignore[misc]
            self._producers[id], self._states[id], self._at[id] = read.producer_id, str(read.state), event.node
            self._partitions[id] = tuple(read.partitions)
            self._timeouts_us[id] = read.timeout_ms * 1000
            self._longest_us = max(self._longest_us, read.timeout_ms * 1000)
            if read.state == ONGOING or read.state in DECIDED:
                (self._open if read.state == ONGOING else self._decided).begin((event.node, id), event.t_us)

    def on_state(self, event: TransactionStateChanged) -> None:
        key = event.node, event.transactional_id
        self.note_epoch(event)
        self._producers[event.transactional_id] = event.producer_id
        self._states[event.transactional_id] = event.state
        self._at[event.transactional_id] = event.node
        if event.state != ONGOING:
            self._open.end(key)
        if event.state not in DECIDED:
            self._decided.end(key)
        if event.state == ONGOING or event.state in DECIDED:
            partitions = tuple(map(TopicPartition.of, event.topics, event.partitions))
            self._partitions[event.transactional_id] = partitions
            (self._open if event.state == ONGOING else self._decided).begin(key, event.t_us)
        if event.state == ONGOING:
            self._look_how_long(event)
        else:
            self._begun_us.pop(event.transactional_id, None)

    def _look_how_long(self, event: TransactionStateChanged) -> None:
        """Look whether a transaction goes on after its time."""
        id = event.transactional_id
        begun_us = self._begun_us.setdefault(id, event.t_us)
        reached_us, timeout_us = self.now.reached_since_us(event.node), self._timeouts_us.get(id)
        if reached_us is None or timeout_us is None or self.now.clocks:
            return
        held_us = event.t_us - begun_us
        longest_us = timeout_us + self._interval_us + SETTLING_US
        if held_us > longest_us and event.t_us - max(begun_us + timeout_us, reached_us) > longest_us - timeout_us:
            self.violated(event, TransactionLasts(event.node, id, event.state, held_us), brokers=(event.node,))

    def on_znode(self, event: ZkWritten) -> None:
        topic = event.path.removeprefix(f"{TOPICS}/")
        if event.path != topic and "/" not in topic:
            self._gone_us.pop(topic, None)
            if event.op == "delete":
                self._gone_us[topic] = event.t_us

    def on_unloaded(self, event: TransactionsUnloaded) -> None:
        self._forget(event.node)

    def on_crashed(self, event: NodeCrashed) -> None:
        super().on_crashed(event)
        self._forget(event.node)

    def forget_written(self) -> None:
        super().forget_written()
        self._begun_us.clear()

    def _forget(self, node: int) -> None:
        for deadlines in (self._open, self._decided):
            deadlines.end_all(lambda key: key[0] == node)

    def look(self, moment: Moment) -> None:
        longest_us = self._longest_us + self._interval_us + SETTLING_US
        self._report_overdue(moment, self._open, longest_us, self._writes_since_us)
        self._report_overdue(moment, self._decided, MARKERS_US, self._since_us)

    def at_rest(self, moment: Moment) -> None:
        bound_us = self.now.bound_at_rest(moment.t_us, MARKERS_US)
        self._report_overdue(moment, self._decided, bound_us, self._since_us)

    def _report_overdue(
        self, moment: Moment, deadlines: Deadlines[Key], bound_us: int, since_us: Callable[[Key], int | None]
    ) -> None:
        if len(deadlines):
            for (node, id), lasted_us in deadlines.overdue(moment.t_us, bound_us, since_us):
                self.violated(moment, TransactionLasts(node, id, self._states[id], lasted_us), brokers=(node,))

    def _writes_since_us(self, key: Key) -> int | None:
        """Since when nothing excuses that a coordinator does not decide; None: something does now."""
        node, transactional_id = key
        home = self.history.coordinators.home(TRANSACTION_STATE_TOPIC, transactional_id)
        since_us, lost = self.now.reached_since_us(node), self.has_lost_epochs(self._producers[transactional_id])
        if since_us is None or home is None or lost or node in self.now.clocks or node in self.now.impaired:
            return None
        if len(self.cluster.isr(home)) < len(self.cluster.assignment(home)) or not self._takes_writes(home):
            return None
        return max(since_us, self._homes_us.get(home, 0))

    def _since_us(self, key: Key) -> int | None:
        """Since when nothing excuses that a transaction does not end; None: something does now."""
        node, transactional_id = key
        home = self.history.coordinators.home(self.topic, transactional_id)
        if self.has_lost_epochs(self._producers[transactional_id]) or (home and not self._takes_writes(home)):
            return None
        cluster, since_us = self.cluster, self.now.reached_since_us(node)
        for tp in self._awaited(node, transactional_id):
            if since_us is not None and (gone_us := self._gone_us.get(tp.topic)) is not None:
                if self._deletions.is_missed(node, tp.topic):
                    return None
                since_us = max(since_us, gone_us)
                continue
            all_in_sync = len(cluster.isr(tp)) >= len(cluster.assignment(tp))
            if since_us is None or not (all_in_sync and self._takes_writes(tp)):
                return None
            leader_us = self.now.reached_since_us(cluster.leader(tp)) if cluster.leader(tp) >= 0 else None
            since_us = None if leader_us is None else max(since_us, leader_us)
        return since_us

    def _takes_writes(self, tp: TopicPartition) -> bool:
        return len(self.cluster.isr(tp)) >= int(self._settings.value(tp.topic, MIN_ISR, 1))

    def _awaited(self, node: int, transactional_id: str) -> dict[TopicPartition, None]:
        """The partitions whose markers a transaction waits for: its own, and those of the others that its coordinator
        has decided. It has one request under way to each broker, which answers when it has written all markers in that
        (TransactionMarkerChannelManager, 0.11 to 3.9)."""
        decided = [id for id, at in self._at.items() if at == node and self._states[id] in DECIDED]
        return dict.fromkeys(tp for id in (transactional_id, *decided) for tp in self._partitions[id])
