"""G1: a coordinator remembers what its log says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol.shown import Remembered
from emulator.protocol.shown_coordination import CoordinatorWrote
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike

WAITS = "being written"
"""The words of a memory for a write that has no outcome."""
OPEN = " in a transaction of "
"""The words of a memory for an offset of a transaction that has not ended."""
ENDS = {"PrepareCommit": "CompleteCommit", "PrepareAbort": "CompleteAbort"}
"""The end that a decided transaction has in the log while that is being written: its memory has no words for it."""
WRITES_US = 15_000_000
"""How long a write may take: more than offsets.commit.timeout.ms. The timeout of a transaction's is its own."""


class CoordinatorsRemember(BrokerMemory):
    """A coordinator of groups or of transactions works with what the next one will find in the log: committed offsets,
    the generation and the members of a stable group, and of each transactional id its producer, its state and the
    partitions of an open transaction. No write waits for ever.

    Verified: when the cluster is at rest, on each broker that the controller has reached for long enough, for all that
        it coordinates, against its logs of __consumer_offsets and __transaction_state, read to their ends.

    A write that has failed as far as its coordinator knows may be in the log all the same, and counts for the next one
    (GroupMetadataManager.storeOffsets, TransactionStateManager.appendTransactionToLog, 2.3): it is not compared until
    the coordinator writes that again.

    The generation of a group without members need not be in the log (GroupCoordinator.onCompleteJoin, 2.3), nor the
    last producer epoch of a fenced producer. Before KAFKA-10284 (2.7) a static member that came back had a member id
    that was not in the log: there members are not compared.

    The offsets of a transaction count for its coordinator once all in-sync replicas have the marker, which is in the log
    before (KafkaApis.handleWriteTxnMarkersRequest, 0.11 to 3.9).

    Not verified: groups that rebalance; the times of commits, from which they expire.
    """

    ids = ("G1",)
    statement = (
        "at rest memory = read(__consumer_offsets, __transaction_state): a coordinator remembers what its log says"
    )
    catches = ("KAFKA-5351", "KAFKA-10284")
    fails_when = "a commit counts that is not written"

    def begin(self) -> None:
        super().begin()
        self._failed: dict[str, None] = {}
        """The records that may be in the log after a write that has failed, and no later one."""
        self._waiting: dict[tuple[str, int, str], int] = {}
        """The writes without an outcome, each with the time at which it was first seen."""

    def on_wrote(self, event: CoordinatorWrote) -> None:
        for of in event.of:
            if event.failed:
                self._failed[of] = None
            else:
                self._failed.pop(of, None)
        for waiting in [waiting for waiting in self._waiting if waiting[0] in event.of]:
            del self._waiting[waiting]

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for kept, loaded in memories["coordinated"].values():
            for of in dict.fromkeys((*kept, *loaded)):
                has, should = kept.get(of, "nothing"), loaded.get(of, "nothing")
                if has == should:
                    continue
                if WAITS in has or _ends(has) == should or (OPEN in has and should in _ended(has)):
                    since_us = self._waiting.setdefault((of, event.node, has), event.t_us)
                    is_wrong = event.t_us - since_us > WRITES_US
                else:
                    is_wrong = of not in self._failed
                if is_wrong:
                    yield Unlike("coordinated", of, has, should)


def _ends(has: str) -> str:
    """A decided transaction once it has ended."""
    return next((has.replace(decided, end) for decided, end in ENDS.items() if decided in has), "")


def _ended(has: str) -> list[str]:
    """The offset that is committed, and those of open transactions, of which the marker of one may be in the log."""
    return [each.split(OPEN)[0] for each in has.split(", and ")]
