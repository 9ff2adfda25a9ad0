"""High watermarks that are learned, or answered with, too early, or that are not looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.observe.findings.compaction_facts import Compacts
from scenarios.runs.known.ledger import at_once, in_role
from scenarios.runs.known.reason import Reason, of_replica, of_violation

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_violation
def _beyond_what_is_committed(_past: KeptEvents, violation: Violation) -> bool:
    """Whether a record went for one of its key that is not committed."""
    return violation.part is Compacts.COMMITTED


WATERMARKS: tuple[Reason, ...] = (
    Reason("Log.updateHighWatermark (2.4)", of_replica(in_role("Log.updateHighWatermark"))),
    Reason("KAFKA-13194", _beyond_what_is_committed),
    Reason("KAFKA-2334", at_once("KAFKA-2334")),
)
