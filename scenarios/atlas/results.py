"""From what was seen of a cell to its row."""

from __future__ import annotations

import shlex

from attrs import frozen

from scenarios.atlas.cells import Cell
from scenarios.atlas.courses import SEED
from scenarios.atlas.outcome import Finding
from scenarios.atlas.performance import Performance
from scenarios.atlas.rows import CellRow

HEAD, TAIL = 260, 40
"""Lines kept of a timeline that is longer than both: its beginning and its end."""


@frozen
class Replay:
    """How a cell is asked for again: what the atlas was made of, beside its name."""

    seed: int = SEED
    file: str = ""

    def command(self, cell: str) -> str:
        words = ["./understudy", "atlas", *([self.file] if self.file else []), "--cell", cell]
        words += ["--seed", str(self.seed)] if self.seed != SEED else []
        return shlex.join(words)


def row_of(cell: Cell, profile: str, performed: Performance, finding: Finding, known: str, replay: Replay) -> CellRow:
    harms = tuple(finding.harms)
    return CellRow(
        cell=cell.id,
        protocol=cell.protocol,
        profile=profile,
        plan=cell.course.id,
        step=cell.step,
        edge=cell.edge,
        hop=cell.hop,
        occurrence=cell.occurrence,
        actor=cell.actor,
        broker=cell.broker,
        fault=cell.fault,
        outcome=finding.outcome,
        harm=harms[0] if harms else "",
        harms=harms,
        why=finding.why,
        known=known,
        seed=replay.seed,
        healed_us=performed.sight.healed_us,
        virtual_us=performed.sight.end_us,
        command=replay.command(cell.id),
        digest=performed.digest,
        timeline=shortened(performed.timeline),
    )


def shortened(lines: tuple[str, ...]) -> tuple[str, ...]:
    """A timeline's beginning and end, where it is too long for a page."""
    left_out = len(lines) - HEAD - TAIL
    if left_out <= 1:
        return lines
    return (*lines[:HEAD], f"  … {left_out} lines are left out here; the command shows them", *lines[-TAIL:])
