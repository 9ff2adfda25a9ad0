"""X3: no transaction stays open in a log when it is over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import TransactionStateChanged
from emulator.protocol.shown import Remembered
from emulator.protocol.shown_coordination import MarkerAppends, TransactionLoaded
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog

OPEN = ("Ongoing", "PrepareCommit", "PrepareAbort")


class TransactionsClose(BrokerMemory, CoordinatorsLog):
    """A transaction that is over has a marker behind its last record in each partition, so that the last stable offset
    moves on and readers of committed records go on (KIP-98).

    Verified: when the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), each transaction that is open
        in the log of a partition's leader: its coordinator has it as open, or as decided. The leader is the broker that
        ZooKeeper has as such: one that goes on leading though its replica was moved away (``LeftReplicas``) gets no
        markers.

    A transaction that was open when its coordinator's log lost something, or that this has opened again, may stay open
    for good: the coordinator that comes after knows fewer of its partitions. So may one whose marker was committed and
    is not any more, after an unclean election of the partition or a crash of the machines of its whole ISR.

    Not verified: that the last stable offset passes a marker only once it is committed (``reads_decided`` sees it with
        real clients); a transaction of a producer that no coordinator has ever had one of: a client has written it
        without asking for it, which brokers before KIP-890 let hang (3.6, for offsets 3.7); nor one of a producer that
        no coordinator knows since something was lost: it may go on, though it was fenced before.
    """

    topic = TRANSACTION_STATE_TOPIC
    ids = ("X3",)
    looks_meanwhile = True
    statement = "at rest open(t, log) ⇒ open(t, coordinator): no transaction stays open in a log when it is over"
    catches = ("KAFKA-5130",)
    fails_when = "a leader takes a marker and does not end the transaction"

    def begin(self) -> None:
        super().begin()
        self._states: dict[int, str] = {}
        self._may_hang: set[int] = set()
        """The producers whose transaction was open when something was lost, or is open again since."""
        self._markers: dict[tuple[TopicPartition, int], tuple[int, int]] = {}
        """The last marker in a partition, by the producer: its offset, and the id of its batch."""
        self._commits = self.history.commits
        self._forgotten: set[int] = set()
        """The producers that no coordinator has loaded or changed since something was lost."""

    def forget_written(self) -> None:
        self._forgotten.update(self._states)
        self._may_hang.update(producer_id for producer_id, state in self._states.items() if state in OPEN)

    def on_state(self, event: TransactionStateChanged) -> None:
        self._states[event.producer_id] = event.state
        self._forgotten.discard(event.producer_id)

    def on_loaded(self, event: TransactionLoaded) -> None:
        """Take the state from which a coordinator goes on: the last change may be lost."""
        before, self._states[event.producer_id] = self._states.get(event.producer_id), event.state
        self._forgotten.discard(event.producer_id)
        if event.state in OPEN and before is not None and before not in OPEN:
            self._may_hang.add(event.producer_id)

    def on_marker(self, event: MarkerAppends) -> None:
        self._markers[event.tp, event.producer_id] = event.offset, event.id

    def _has_lost_marker(self, tp: TopicPartition, producer_id: int) -> bool:
        marker = self._markers.get((tp, producer_id))
        return marker is not None and self._commits.get(*tp).lacks(*marker)

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for tp, producers in memories["open_transactions"].items():
            state_there = self.cluster.state(tp)
            if state_there is not None and state_there.leader != event.node:
                continue
            for producer_id in producers:
                state = self._states.get(producer_id)
                excused = producer_id in self._may_hang or producer_id in self._forgotten
                if state is not None and state not in OPEN and not (excused or self._has_lost_marker(tp, producer_id)):
                    yield Unlike("open_transactions", f"producer {producer_id}", "it is open", state, tp)
