"""Thousands of cells: their enumeration, and their runs and judgement, in chunks for worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, field, frozen

from scenarios.errors import BadInput, did_you_mean, nearest
from scenarios.language import Scenario
from scenarios.language.schema.kinds import at
from scenarios.language.strategies import parse_strategy
from scenarios.runs.batch import Chunk, FailedItem, attempt, chunks, refuse_bad_input
from scenarios.runs.dataset.identity import VERSION, code_digest
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.cell_rows import ReplayOptions, row_of
from scenarios.studies.atlas.cell_run import execute, execute_undisturbed
from scenarios.studies.atlas.cells import ACTORS, FAULTS, Cell, cells
from scenarios.studies.atlas.known_harms import explained
from scenarios.studies.atlas.outcome import judge, own_harms
from scenarios.studies.atlas.plans import SEED, AtlasPlan, undisturbed
from scenarios.studies.atlas.run_summary import RunSummary

CHUNK = 40
"""The cells of a chunk: some seconds of work, which an interruption can cost."""

PARTS = ("protocol", "plan", "gate", "actor", "fault")
"""The parts of a cell's name."""


@frozen(kw_only=True)
class Atlas:
    """The request: which cells of which moves.

    Attributes:
        actors, faults: only cells with these.
        like, file: the scenario whose cluster, profile and load are used, if any, and its name.
    """

    protocols: tuple[str, ...]
    plans: tuple[AtlasPlan, ...]
    actors: tuple[str, ...] = tuple(ACTORS)
    faults: tuple[str, ...] = tuple(FAULTS)
    seed: int = SEED
    like: Scenario | None = None
    file: str = ""

    @property
    def replay(self) -> ReplayOptions:
        return ReplayOptions(self.seed, self.file)

    def identity(self) -> dict[str, object]:
        """The properties that all cells in one folder share; those of other code do not belong there."""
        like = None if self.like is None else self.like.digest()
        return {"seed": self.seed, "like": like, "version": VERSION, "code": code_digest()}

    def baselines(self) -> Iterator[Baseline]:
        """A baseline for each protocol and plan. Raises: BadInput where an undisturbed run fails."""
        for protocol in self.protocols:
            for plan in self.plans:
                baseline = take_baseline(undisturbed(plan, protocol, self.seed, self.like), plan)
                yield evolve(baseline, cells=tuple(cell for cell in baseline.cells if self._wants(cell)))

    def _wants(self, cell: Cell) -> bool:
        return cell.actor in self.actors and cell.fault in self.faults


@frozen(kw_only=True)
class Baseline:
    """One protocol on one plan: the undisturbed move, with which the cells are compared, and the cells.

    Attributes:
        summary: the end of the undisturbed move.
        own_harms: the harms that the undisturbed move does.
    """

    undisturbed: Scenario
    plan: AtlasPlan
    summary: RunSummary
    own_harms: dict[str, str]
    cells: tuple[Cell, ...] = field(repr=False)

    @property
    def protocol(self) -> str:
        return self.undisturbed.strategy.name


CellChunk = Chunk[tuple[Baseline, ReplayOptions], Cell]


@frozen
class DoneCells:
    """The results of a chunk. ``skipped``: the number of cells whose fault could not be done; ``failures``: the cells
    whose run raised."""

    rows: tuple[CellRow, ...]
    skipped: int
    failures: tuple[FailedItem[Cell], ...] = ()


class AtlasFailed(Exception):
    """The run of a cell has raised. The other cells are done."""

    exit_code = 4


def take_baseline(scenario: Scenario, plan: AtlasPlan) -> Baseline:
    """Run the undisturbed move and list its cells, from the gates that it visits."""
    summary = execute_undisturbed(scenario).summary
    found = tuple(cells(scenario.strategy.name, plan, summary.visits))
    return Baseline(undisturbed=scenario, plan=plan, summary=summary, own_harms=own_harms(summary, plan), cells=found)


def cell_chunks(baselines: Iterable[Baseline], replay: ReplayOptions, done: Iterable[str] = ()) -> Iterator[CellChunk]:
    """All cells except those named in ``done``. The baseline that travels with a chunk has no cells."""
    known = frozenset(done)
    for baseline in baselines:
        yield from chunks((_bare(baseline), replay), baseline.cells, CHUNK, lambda cell: cell.id, known)


def _bare(baseline: Baseline) -> Baseline:
    return evolve(baseline, cells=(), summary=evolve(baseline.summary, visits=()))


def work(chunk: CellChunk) -> DoneCells:
    """Run the cells of a chunk, in any process. An exception in one does not concern the others."""
    baseline, replay = chunk.common

    def run(cells: Iterator[Cell]) -> CellRow | None:
        return run_cell(baseline, next(cells), replay)

    found = [attempt(run, (cell,)) for cell in chunk.items]
    rows = tuple(one for one in found if isinstance(one, CellRow))
    failures = tuple(one for one in found if isinstance(one, FailedItem))
    return DoneCells(rows, len(found) - len(rows) - len(failures), failures)


def check_failures(failures: Sequence[FailedItem[Cell]]) -> None:
    """Check that no cell has failed. Raises: BadInput where a cell cannot be run as requested, AtlasFailed where one
    has failed."""
    refuse_bad_input(failures)
    if failures:
        first = failures[0]
        raise AtlasFailed(
            f"the cell {first.item.id} failed: {first.what} ({len(failures)} cells failed, the others are done)\n"
            f"{first.trace}"
        )


def run_cell(baseline: Baseline, cell: Cell, replay: ReplayOptions) -> CellRow | None:
    """Run one cell and judge it; None where the fault could not be done."""
    executed = execute(cell.scenario(baseline.undisturbed))
    if executed.summary.not_done:
        return None
    finding = judge(executed.summary, baseline.plan, baseline.summary)
    known = explained(cell, finding)
    return row_of(cell, baseline.undisturbed.profile, executed, finding, known, replay)


def find(name: str, atlas: Atlas) -> tuple[Baseline, Cell]:
    """The cell of that name and its baseline. Raises: BadInput, with the nearest name where there is one."""
    parts = name.split("/")
    if len(parts) != len(PARTS):
        raise BadInput(
            f"{name!r} names no cell; write {'/'.join(PARTS)}, as in wiki/0,1,2-1,3,4/7.after/leader/crash",
            where="--cell",
        )
    strategy = at("--cell", parse_strategy, parts[0]).name
    plan = next((plan for plan in atlas.plans if plan.id == parts[1]), None)
    if plan is None:
        hint = did_you_mean(parts[1], [plan.id for plan in atlas.plans])
        raise BadInput(f"unknown plan {parts[1]!r}; {hint}", where="--cell")
    baseline = take_baseline(undisturbed(plan, strategy, atlas.seed, atlas.like), plan)
    cell = next((cell for cell in baseline.cells if cell.id == name), None)
    if cell is None:
        near = nearest(name, [cell.id for cell in baseline.cells]) or baseline.cells[0].id
        raise BadInput(f"that move has no cell {name!r}; did you mean {near!r}?", where="--cell")
    return baseline, cell
