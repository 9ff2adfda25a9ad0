"""A cell's row of the data set, made from its run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from attrs import frozen

from scenarios.runs.dataset.identity import command_line
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.cell_run import CellRun
from scenarios.studies.atlas.cells import Cell
from scenarios.studies.atlas.outcome import CellFinding
from scenarios.studies.atlas.plans import SEED

HEAD, TAIL = 260, 40
"""The numbers of lines that are kept from the beginning and the end of a longer timeline."""
GIVEN_UP = " gives batch "


@frozen
class ReplayOptions:
    """The options of the atlas that the command for one cell has to repeat."""

    seed: int = SEED
    file: str = ""

    def command(self, cell: str) -> str:
        words = [*([self.file] if self.file else []), "--cell", cell]
        words += ["--seed", str(self.seed)] if self.seed != SEED else []
        return command_line("atlas", *words)


def row_of(
    cell: Cell, profile: str, executed: CellRun, finding: CellFinding, known: str, replay: ReplayOptions
) -> CellRow:
    harms = tuple(finding.harms)
    return CellRow(
        cell=cell.id,
        protocol=cell.protocol,
        profile=profile,
        plan=cell.plan.id,
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
        healed_us=executed.summary.healed_us,
        virtual_us=executed.summary.end_us,
        command=replay.command(cell.id),
        digest=executed.digest,
        timeline=shortened(executed.timeline),
    )


def shortened(lines: Sequence[str]) -> tuple[str, ...]:
    """A timeline without repeated lines for failed batches. If it is still too long, its beginning and its end."""
    lines = list(_once(lines))
    left_out = len(lines) - HEAD - TAIL
    if left_out <= 1:
        return tuple(lines)
    return (*lines[:HEAD], f"  … {left_out} lines are left out here; run --trace shows them", *lines[-TAIL:])


def _once(lines: Sequence[str]) -> Iterator[str]:
    """The lines. Where failed batches follow one another, the first is kept, and a line counts the others."""
    for given_up, group in groupby(lines, key=lambda line: GIVEN_UP in line):
        first, *others = group
        yield first
        if not given_up:
            yield from others
        elif others:
            yield f"  … and {len(others)} more batches"
