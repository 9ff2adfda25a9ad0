"""Thousands of cells: which there are, in chunks that worker processes take, each worth keeping when it is done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve, field, frozen

from scenarios.errors import BadInput, did_you_mean, nearest
from scenarios.language import Scenario
from scenarios.language.schema.kinds import at
from scenarios.language.strategies import parse_strategy
from scenarios.runs.batch import Chunk, chunks
from scenarios.runs.dataset.identity import code_digest, program_version
from scenarios.runs.dataset.rows import CellRow
from scenarios.studies.atlas.cells import ACTORS, FAULTS, Cell, cells
from scenarios.studies.atlas.courses import SEED, Course, undisturbed
from scenarios.studies.atlas.known import explained
from scenarios.studies.atlas.outcome import judge, own_harms
from scenarios.studies.atlas.performance import perform, perform_undisturbed
from scenarios.studies.atlas.results import Replay, row_of
from scenarios.studies.atlas.sight import Sight

CHUNK = 40
"""Cells in one piece of work: some seconds of it, and what an interruption can cost."""

PARTS = ("protocol", "plan", "gate", "actor", "fault")
"""Of a cell's name."""


@frozen(kw_only=True)
class Atlas:
    """What is asked for.

    Attributes:
        actors, faults: only these.
        like: the scenario whose cluster, profile and load are taken, None without; ``file``: its name.
    """

    protocols: tuple[str, ...]
    courses: tuple[Course, ...]
    actors: tuple[str, ...] = tuple(ACTORS)
    faults: tuple[str, ...] = tuple(FAULTS)
    seed: int = SEED
    like: Scenario | None = None
    file: str = ""

    @property
    def replay(self) -> Replay:
        return Replay(self.seed, self.file)

    def identity(self) -> dict[str, object]:
        """What all cells of one folder have in common: cells of another program say nothing about this one's."""
        like = None if self.like is None else self.like.digest()
        return {"seed": self.seed, "like": like, "version": program_version(), "code": code_digest()}

    def sheets(self) -> Iterator[Sheet]:
        """The undisturbed runs, protocol by protocol. Raises: BadInput where one of them fails."""
        for protocol in self.protocols:
            for course in self.courses:
                sheet = survey(undisturbed(course, protocol, self.seed, self.like), course)
                yield evolve(sheet, cells=tuple(cell for cell in sheet.cells if self._wants(cell)))

    def _wants(self, cell: Cell) -> bool:
        return cell.actor in self.actors and cell.fault in self.faults


@frozen(kw_only=True)
class Sheet:
    """One protocol on one course: the undisturbed move, and all cells.

    Attributes:
        sight: how the undisturbed move ended, without its visits.
        own_harms: the harms that it does itself.
    """

    undisturbed: Scenario
    course: Course
    sight: Sight
    own_harms: dict[str, str]
    cells: tuple[Cell, ...] = field(repr=False)

    @property
    def protocol(self) -> str:
        return self.undisturbed.strategy.name


CellChunk = Chunk[tuple[Sheet, Replay], Cell]


@frozen
class Done:
    """What came of a chunk. ``skipped``: cells whose fault could not be done; they are none."""

    rows: tuple[CellRow, ...]
    skipped: int


def survey(scenario: Scenario, course: Course) -> Sheet:
    """Run the undisturbed move and list its cells, from the gates that it visits."""
    sight = perform_undisturbed(scenario).sight
    found = tuple(cells(scenario.strategy.name, course, sight.visits))
    return Sheet(undisturbed=scenario, course=course, sight=sight, own_harms=own_harms(sight, course), cells=found)


def plan(sheets: Iterable[Sheet], replay: Replay, done: Iterable[str] = ()) -> Iterator[CellChunk]:
    """All cells but those named in ``done``. A chunk's own copy of its sheet carries no other cells."""
    known = frozenset(done)
    for sheet in sheets:
        yield from chunks((_bare(sheet), replay), sheet.cells, CHUNK, lambda cell: cell.id, known)


def _bare(sheet: Sheet) -> Sheet:
    return evolve(sheet, cells=(), sight=evolve(sheet.sight, visits=()))


def work(chunk: CellChunk) -> Done:
    """Do a chunk, in any process."""
    sheet, replay = chunk.common
    found = [do(sheet, cell, replay) for cell in chunk.items]
    rows = tuple(row for row in found if row is not None)
    return Done(rows, len(found) - len(rows))


def do(sheet: Sheet, cell: Cell, replay: Replay) -> CellRow | None:
    """Run one cell and judge it; None where the fault could not be done."""
    performed = perform(cell.scenario(sheet.undisturbed))
    if performed.sight.not_done:
        return None
    finding = judge(performed.sight, sheet.course, sheet.sight)
    known = explained(cell, finding)
    return row_of(cell, sheet.undisturbed.profile, performed, finding, known, replay)


def find(name: str, atlas: Atlas) -> tuple[Sheet, Cell]:
    """The cell of that name and its sheet. Raises: BadInput, with the nearest name where there is one."""
    parts = name.split("/")
    if len(parts) != len(PARTS):
        raise BadInput(
            f"{name!r} names no cell; write {'/'.join(PARTS)}, as in wiki/0,1,2-1,3,4/7.after/leader/crash",
            where="--cell",
        )
    strategy = at("--cell", parse_strategy, parts[0]).name
    course = next((course for course in atlas.courses if course.id == parts[1]), None)
    if course is None:
        hint = did_you_mean(parts[1], [course.id for course in atlas.courses])
        raise BadInput(f"unknown plan {parts[1]!r}; {hint}", where="--cell")
    sheet = survey(undisturbed(course, strategy, atlas.seed, atlas.like), course)
    cell = next((cell for cell in sheet.cells if cell.id == name), None)
    if cell is None:
        near = nearest(name, [cell.id for cell in sheet.cells]) or sheet.cells[0].id
        raise BadInput(f"that move has no cell {name!r}; did you mean {near!r}?", where="--cell")
    return sheet, cell
