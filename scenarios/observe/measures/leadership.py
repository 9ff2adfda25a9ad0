"""Changes of ISRs that leaders make, and elections of leaders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from emulator.protocol.events import IsrChanged, IsrUpdateFailed, LeaderElected
from scenarios.observe.mbeans import ISR_EXPANDS, ISR_SHRINKS, LEADER_ELECTIONS
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit
from scenarios.observe.measures.fold import Fold, RunParts, Table

NEW = "new"
"""The selector of a new partition's first leader, which the figure does not count as an election."""

_COUNTED = {"shrink": "isr_shrinks", "expand": "isr_expands"}


class IsrChangeRow(NamedTuple):
    """A leader's change of its ISR: ``IsrChanged``, or ``IsrUpdateFailed`` with the ``kind`` failed (another write had
    given the znode a newer version)."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    kind: str
    isr: tuple[int, ...] | None
    zk_version: int | None


class Leadership(Fold):
    """The fold over one run."""

    FIGURES = (
        Figure(
            name="isr_shrinks",
            text="times a leader removed replicas from its ISR; removals by the controller do not count",
            unit="events",
            better=Better.LOWER,
            limit=Limit.AT_ANY_TIME,
            jmx=ISR_SHRINKS,
        ),
        Figure(
            name="isr_expands",
            text="times a leader added replicas to its ISR",
            unit="events",
            limit=Limit.AT_ANY_TIME,
            jmx=ISR_EXPANDS,
        ),
        Figure(
            name="isr_update_failures",
            text="times an ISR write failed because the znode had a newer version",
            unit="events",
            better=Better.LOWER,
            compared=Compared.NO,
        ),
        Figure(
            name="leader_elections",
            text="leaders elected after the start",
            unit="elections",
            better=Better.LOWER,
            limit=Limit.AT_ANY_TIME,
            jmx=LEADER_ELECTIONS,
        ),
        Figure(
            name="unclean_elections",
            text="leaders elected from outside the ISR",
            unit="elections",
            better=Better.LOWER,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"isr_changes": Table(IsrChangeRow), "elections": Table(LeaderElected)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {figure.name: 0 for figure in self.FIGURES}
        self._keep_rows = source.measured.keep_rows
        self._isr_changes: list[IsrChangeRow] = []
        self._elections: list[LeaderElected] = []

    def tables(self) -> Mapping[str, list[Any]]:
        return {"isr_changes": self._isr_changes, "elections": self._elections}

    def on_isr_changed(self, event: IsrChanged) -> None:
        self.counts[_COUNTED[event.kind]] += 1
        if self._keep_rows:
            self._isr_changes.append(IsrChangeRow(*event))

    def on_isr_update_failed(self, event: IsrUpdateFailed) -> None:
        self.counts["isr_update_failures"] += 1
        if self._keep_rows:
            self._isr_changes.append(IsrChangeRow(*event, "failed", None, None))

    def on_elected(self, event: LeaderElected) -> None:
        self.counts["leader_elections"] += event.selector != NEW
        self.counts["unclean_elections"] += event.unclean
        if self._keep_rows:
            self._elections.append(event)
