"""High watermarks that are learned, or answered with, too early, or that are not looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.events import NodeCrashed
from scenarios.observe.findings.compaction_facts import Compacts
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.runs.known.ledger import at_once, in_role, witnesses
from scenarios.runs.known.reason import Reason, of_replica, of_violation

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_violation
def _beyond_what_is_committed(_past: KeptEvents, violation: Violation) -> bool:
    """Whether a record went for one of its key that is not committed."""
    return violation.part is Compacts.COMMITTED


@of_replica
def _keeps_it_until_a_start(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The high watermark that a log would have otherwise, once it is loaded again, is one from before the log's start,
    taken over since the broker was started: a start takes the log's start for it (KAFKA-3978, 1.1)."""
    facts = violation.facts
    if not isinstance(facts, BrokerRemembers) or (facts.memory, facts.of) != ("logs", "high watermark"):
        return False
    ended = (e.seq for e in past.of(NodeCrashed) if e.node == broker and e.seq < violation.seq)
    return int(facts.kept) < int(facts.wanted) and bool(
        witnesses(past, "Log.updateHighWatermark", tp, broker, max(ended, default=0), violation.seq)
    )


WATERMARKS: tuple[Reason, ...] = (
    Reason("Log.updateHighWatermark (2.4)", of_replica(in_role("Log.updateHighWatermark"))),
    Reason("Log.updateHighWatermark (2.4)", _keeps_it_until_a_start, effect=1),
    Reason("KAFKA-13194", _beyond_what_is_committed),
    Reason("KAFKA-2334", at_once("KAFKA-2334")),
)
