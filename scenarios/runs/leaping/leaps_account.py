"""Leaping: the account of a run's leaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from scenarios.units import MICROSECONDS

SECOND_US = MICROSECONDS["s"]


@frozen(kw_only=True)
class Leaping:
    """The account of a run's leaps, for its result.

    Attributes:
        leaps: their number. leapt_us: the time in them. run_us: the time of the run.
        pieces: how many pieces were simulated within leaps, each after the end of a copy.
        windows: how many stretches were measured.
        failed: how often no leap was possible for a while, by the reason.
        refused: why this run has no leaps at all; empty: it could have some.
        error: how far the last stretch was from what was expected of it, as a share; None: nothing was expected.
    """

    leaps: int
    leapt_us: int
    run_us: int
    windows: int
    failed: Mapping[str, int]
    refused: str
    error: float | None
    pieces: int = 0

    def to_json(self) -> dict[str, Any]:
        """The object in the result."""
        return {
            "leaps": self.leaps, "leapt_s": self.leapt_us / SECOND_US, "pieces": self.pieces,
            "windows": self.windows, "failed": dict(self.failed), "refused": self.refused, "share_error": self.error,
        }  # fmt: skip

    def __str__(self) -> str:
        if self.refused:
            return f"sampled, without leaps: {self.refused}"
        share = self.leapt_us / self.run_us if self.run_us else 0.0
        pieces = f" with {self.pieces} simulated pieces" if self.pieces else ""
        said = f"sampled: {self.leaps} leaps{pieces} over {share:.0%} of the time, {self.windows} measured stretches"
        why = "; ".join(f"{reason} ({count})" for reason, count in self.failed.items())
        return f"{said}; no leap where {why}" if why else said
