"""From what was seen of a cell to its row."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby

from attrs import frozen

from scenarios.runs.dataset.rows import CellRow
from scenarios.studies.atlas.cells import Cell
from scenarios.studies.atlas.courses import SEED
from scenarios.studies.atlas.outcome import Finding
from scenarios.studies.atlas.performance import Performance

HEAD, TAIL = 260, 40
"""Lines kept of a timeline that is longer than both: its beginning and its end."""
GIVEN_UP = " gives batch "


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


def shortened(lines: Sequence[str]) -> tuple[str, ...]:
    """A timeline without the repetition of given-up batches; its beginning and end, where it is still too long."""
    lines = list(_told_once(lines))
    left_out = len(lines) - HEAD - TAIL
    if left_out <= 1:
        return tuple(lines)
    return (*lines[:HEAD], f"  … {left_out} lines are left out here; run --trace shows them", *lines[-TAIL:])


def _told_once(lines: Sequence[str]) -> Iterator[str]:
    """Of many batches in a row that a producer gives up, the first."""
    for given_up, group in groupby(lines, key=lambda line: GIVEN_UP in line):
        first, *others = group
        yield first
        if not given_up:
            yield from others
        elif others:
            yield f"  … and {len(others)} more batches"
