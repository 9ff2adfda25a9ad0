"""The leaps of a sampled run (docs/understand/sampled.md).

Between the two ends of a leap no message of clients and fetchers is simulated; at its end one transition brings what
would have come. So times, integrals and counts of the control plane are as ever, and what is read from single messages
comes from the rest of the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from emulator.protocol.events import LeapBegan, Leapt
from scenarios.observe.measures.figure import Compared, Figure, Value
from scenarios.observe.measures.fold import Fold, RunParts, Table


class LeapRow(NamedTuple):
    """One leap, which began at ``t_us``.

    Attributes:
        batches: how many batches producers would have closed in it, about. ``produce`` has no rows of them.
        reason: why it ended, as in ``Leapt``.
        stretch_us, stretch_until_us: begin and end of the stretch that stands for it.
    """

    t_us: int
    w_us: int
    batches: int
    reason: str
    stretch_us: int
    stretch_until_us: int


class Leaps(Fold):
    """The fold over one run."""

    FIGURES = (
        Figure(
            name="leapt_us",
            text="time in leaps, in which no message is simulated",
            unit="s",
            compared=Compared.NO,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"leaps": Table(LeapRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._rows: list[LeapRow] = []
        self._leapt_us = 0
        self._stretch = 0, 0

    def figures(self) -> Mapping[str, Value]:
        return {"leapt_us": self._leapt_us}

    def tables(self) -> Mapping[str, list[Any]]:
        return {"leaps": self._rows}

    def on_leapt(self, event: Leapt) -> None:
        length_us = event.t_us - event.since_us
        self._leapt_us += length_us
        self._rows.append(LeapRow(event.since_us, length_us, event.batches, event.reason, *self._stretch))

    def on_began(self, event: LeapBegan) -> None:
        self._stretch = event.window_us, event.until_us
