"""The leaps of a sampled run (docs/understand/sampled.md).

Between the two ends of a leap no message of clients and fetchers is simulated; at its end one transition brings what
would have come. So times, integrals and counts of the control plane are as ever, and what is read from single messages
comes from the rest of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from emulator.protocol.events import Leapt
from scenarios.observe.measures.fold import Fold, RunParts, Table


class LeapRow(NamedTuple):
    """One leap, which began at ``t_us``.

    Attributes:
        batches: how many batches producers would have closed in it, about. ``produce`` has no rows of them.
        reason: why it ended, as in ``Leapt``.
    """

    t_us: int
    w_us: int
    batches: int
    reason: str


class Leaps(Fold):
    """The fold over one run."""

    TABLES: ClassVar[Mapping[str, Table]] = {"leaps": Table(LeapRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._rows: list[LeapRow] = []
        source.trace.fold(Leapt, self._leapt)

    def tables(self) -> Mapping[str, list[Any]]:
        return {"leaps": self._rows}

    def _leapt(self, event: Leapt) -> None:
        self._rows.append(LeapRow(event.since_us, event.t_us - event.since_us, event.batches, event.reason))
