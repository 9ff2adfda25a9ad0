"""High watermarks that are learned, or answered with, too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.runs.known.ledger import at_once, in_role
from scenarios.runs.known.reason import (
    Known,
    of_replica,
)

if TYPE_CHECKING:
    pass


WATERMARKS: tuple[Known, ...] = (
    Known(
        "Log.updateHighWatermark (2.4)",
        "a follower, or a copy in another log directory, takes over a high watermark from before its start",
        ("offset_bounds",),
        lambda policies: not policies.brokers.start_raises_learned_high_watermark,
        of_replica(in_role("Log.updateHighWatermark")),
    ),
    Known(
        "KAFKA-2334",
        "a new leader answers a consumer's request for the latest offset before it knows what is committed",
        ("applied_high_watermark",),
        lambda policies: not policies.brokers.latest_is_committed,
        at_once("KAFKA-2334"),
    ),
)
