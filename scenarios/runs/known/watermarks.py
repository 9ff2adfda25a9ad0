"""High watermarks that are learned, or answered with, too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.runs.known.ledger import at_once, in_role
from scenarios.runs.known.reason import (
    Reason,
    of_replica,
)

if TYPE_CHECKING:
    pass


WATERMARKS: tuple[Reason, ...] = (
    Reason("Log.updateHighWatermark (2.4)", of_replica(in_role("Log.updateHighWatermark"))),
    Reason("KAFKA-2334", at_once("KAFKA-2334")),
)
