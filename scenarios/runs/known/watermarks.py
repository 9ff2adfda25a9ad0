"""High watermarks that are learned, or answered with, too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.events import (
    BecameFollower,
    CopyStarted,
    HighWatermark,
    LogStartMoved,
    NodeCrashed,
)
from scenarios.observe.findings.log_facts import BoundsBroken
from scenarios.runs.known.reason import (
    Known,
    always,
    of_replica,
)

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_replica
def _learned_below_start(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A follower has learned a high watermark from before the start of its log."""
    found = violation.facts
    if not isinstance(found, BoundsBroken) or found.event != HighWatermark.__name__:
        return False
    return (
        0 <= found.high_watermark < found.log_start
        and type(past.last_role(tp, broker, violation.seq)) is BecameFollower
    )


@of_replica
def _copied_below_start(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A copy begins after the high watermark of the log which it has replaced: its broker had crashed meanwhile, and
    with that the log had lost where it began and what was committed until then, but not the copy."""
    moved = past.event(violation)
    if type(moved) is not LogStartMoved or moved.reason != "copy":
        return False
    begun = [copy.seq for copy in past.of(CopyStarted) if (copy.node, copy.topic, copy.partition) == (broker, *tp)]
    first = min(begun, default=violation.seq)
    return any(crash.node == broker and first < crash.seq < violation.seq for crash in past.of(NodeCrashed))


WATERMARKS: tuple[Known, ...] = (
    Known(
        "Log.updateHighWatermark (2.4)",
        "a follower takes over a high watermark from before the start of its own log",
        ("offset_bounds",),
        lambda policies: not policies.brokers.start_raises_learned_high_watermark,
        _learned_below_start,
    ),
    Known(
        "Log.updateHighWatermark (2.4)",
        "a copy in another log directory takes over a high watermark from before its start",
        ("offset_bounds",),
        lambda policies: not policies.brokers.start_raises_learned_high_watermark,
        _copied_below_start,
    ),
    Known(
        "KIP-207",
        "a new leader answers a consumer's request for the latest offset before it knows what is committed",
        ("applied_high_watermark",),
        lambda policies: not policies.brokers.latest_is_committed,
        always,
    ),
)
"""Where two explain a finding, the more particular one comes first."""
