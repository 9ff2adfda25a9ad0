"""T2: ReassigningPartitions counts the partitions being reassigned that a broker leads, as it knows them."""

from __future__ import annotations

from scenarios.observe.checkers.under_replicated_true import CountTrue
from scenarios.observe.mbeans import REASSIGNING
from scenarios.observe.past.knowledge import LedPartition


class ReassigningTrue(CountTrue):
    """ReassigningPartitions counts the partitions that the broker leads with replicas being added or removed, as far
    as it knows.

    Verified: at each change, and from scratch when the cluster is at rest; on one seed of twenty also ten times a
        second.

    Not verified: that what the broker knows is up to date.
    """

    ids = ("T2",)
    statement = (
        "R(b) = |{p led by b : AR ∪ RR ≠ ∅}|: "
        "ReassigningPartitions counts the partitions being reassigned that the broker leads, as it knows them"
    )
    catches = ("KAFKA-8834",)
    fails_when = "a broker counts none"
    gauge = REASSIGNING

    def counts(self, led: LedPartition, node: int) -> bool:
        return led.reassigning
