"""``atlas [FILE]``: a move with every fault at every step, and the outcomes as a table, a data set and a page."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput
from scenarios.progress import Progress
from scenarios.resuming import resumable
from scenarios.whole_files import save

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.runs.batch import FailedItem
    from scenarios.runs.dataset.table_rows import CellRow
    from scenarios.studies.atlas.atlas import Atlas, Baseline, DoneCells
    from scenarios.studies.atlas.cells import Cell
    from scenarios.studies.atlas.summary import UndisturbedMove


def add(program: Program) -> None:
    parser = program.command("atlas", run, "inject every fault at every step of a move, and map the outcomes")
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="a scenario whose cluster, settings, profile, load and moves are used (default: seven brokers)",
    )
    parser.add_argument(
        "--protocol",
        dest="protocols",
        metavar="P",
        type=options.strategy_of("--protocol"),
        nargs="+",
        action="extend",
        help="only these strategies (list strategies; default: the protocol of every document)",
    )
    for option, help in (("--actor", "only these brokers"), ("--fault", "only these faults")):
        parser.add_argument(option, dest=f"{option[2:]}s", metavar="A", nargs="+", action="extend", help=help)
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="write the cells as Parquet there as they are done, and the page atlas.html; an atlas "
        "that is there goes on",
    )
    parser.add_argument(
        "--all-plans", action="store_true", help="all seven built-in moves, instead of [0,1,2] to [1,3,4] alone"
    )
    parser.add_argument("--cell", metavar="ID", help="run this one cell and show its timeline")
    parser.add_argument(
        "--write-scenario", metavar="FILE", help="with --cell: write the cell as a scenario file, without running it"
    )
    parser.add_argument("--seed", metavar="N", type=options.whole("--seed", 0), help="the seed of all random draws")
    options.add_jobs(parser, "share the cells", every_processor=True)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    """Run the atlas. Wrong options are refused before anything runs or is written."""
    if arguments.write_scenario and not arguments.cell:
        raise BadInput("writes one cell; name it with --cell", where="--write-scenario")
    for option in ("out", "all_plans", "protocols"):
        if arguments.cell and getattr(arguments, option):
            name = {"all_plans": "--all-plans", "protocols": "--protocol"}.get(option, f"--{option}")
            raise BadInput("does not go with --cell, whose name says all; leave it out", where=name)
    atlas = _asked(arguments)
    return _one_cell(atlas, arguments) if arguments.cell else _all_cells(atlas, arguments)


def _asked(arguments: Namespace) -> Atlas:
    from scenarios.studies.atlas.atlas import Atlas
    from scenarios.studies.atlas.cells import ACTORS, FAULTS
    from scenarios.studies.atlas.plans import DEFAULT, PLANS, SEED, own_plans, protocols

    like = _like(arguments.file)
    actors = _only("--actor", arguments.actors, ACTORS)
    faults = _only("--fault", arguments.faults, FAULTS)
    own = () if like is None else own_plans(like)
    if own and arguments.all_plans:
        raise BadInput("the file has a plan of its own; leave one of them out", where="--all-plans")
    everything = arguments.all_plans or arguments.cell
    return Atlas(
        protocols=tuple(dict.fromkeys(arguments.protocols or protocols())),
        actors=actors,
        faults=faults,
        plans=own or (PLANS if everything else (DEFAULT,)),
        seed=SEED if arguments.seed is None else arguments.seed,
        like=like,
        file=arguments.file or "",
    )


def _only(option: str, names: list[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The chosen names, or all, in the order of the atlas."""
    read = options.one_of(option, tuple(known))
    asked = [read(name) for name in names or known]
    return tuple(name for name in known if name in asked)


def _like(file: str | None) -> Scenario | None:
    if file is None:
        return None
    from scenarios.language.files import load

    return load(file)


# -- one cell ---------------------------------------------------------------------------------------------------------


def _one_cell(atlas: Atlas, arguments: Namespace) -> int:
    from scenarios.studies.atlas.atlas import find, run_cell

    baseline, cell = find(arguments.cell, atlas)
    if arguments.write_scenario:
        _write_scenario(cell.scenario(baseline.undisturbed), Path(arguments.write_scenario))
        return exits.PASSED
    row = run_cell(baseline, cell, atlas.replay)
    if row is None:
        raise BadInput("its fault cannot be done there, so it is no cell; choose another", where="--cell")
    if arguments.format == "json":
        say(json.dumps({**row.to_json(), "timeline": row.timeline}))
    else:
        for line in _cell_lines(row):
            say(line)
    return exits.FAILED if row.outcome == "unsafe" else exits.PASSED


def _cell_lines(row: CellRow) -> Iterator[str]:
    yield f"{row.cell} (profile {row.profile}, seed {row.seed})"
    yield f"{row.outcome}{': ' + ', '.join(row.harms) if row.harms else ''}"
    if row.why:
        yield f"  {row.why}"
    if row.known:
        yield f"  known: {row.known}"
    yield ""
    yield from row.timeline
    yield ""
    yield f"digest {row.digest}; as a scenario file: {row.command} --write-scenario FILE"


def _write_scenario(scenario: Scenario, path: Path) -> None:
    from scenarios.runs.dataset.identity import command_line

    save(path, scenario.to_toml())
    say(f"written to {path}; next: {command_line('run', str(path))}")


# -- all of them ------------------------------------------------------------------------------------------------------


@define(eq=False)
class _Progress:
    """Collects rows as they come; with ``root`` they are written there."""

    total: int
    root: Path | None
    rows: list[CellRow]
    progress: Progress = field(init=False)
    skipped: int = 0
    failures: list[FailedItem[Cell]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.progress = Progress("atlas", output.progress, self.total, len(self.rows))

    def kept(self) -> str:
        return f"{len(self.rows)} of {self.total} cells"

    def take(self, done: DoneCells) -> None:
        if self.root is not None and done.rows:
            from scenarios.runs.dataset.cell_files import write_cells

            write_cells(self.root, done.rows)
        self.rows += done.rows
        self.skipped += done.skipped
        self.failures += done.failures
        unsafe = sum(row.outcome == "unsafe" for row in self.rows)
        failed = f", {len(self.failures)} failed" if self.failures else ""
        over = len(self.rows) + self.skipped + len(self.failures)
        self.progress.report(over, f"{over} of {self.total} cells, {unsafe} unsafe{failed}")


def _all_cells(atlas: Atlas, arguments: Namespace) -> int:
    from scenarios.cli import log_output
    from scenarios.runs.batch import local_workers
    from scenarios.runs.dataset.cell_files import CELLS
    from scenarios.studies.atlas.atlas import cell_chunks, check_failures, work

    began = time.monotonic()
    root = Path(arguments.out) if arguments.out else None
    # Cells of before are read first: a folder that cannot be gone on with is refused before any move is played.
    rows = _there(root, atlas) if root is not None and (root / CELLS).is_dir() else []
    baselines = list(atlas.baselines())
    progress = _Progress(sum(len(baseline.cells) for baseline in baselines), root, rows or _there(root, atlas))
    there = [row.cell for row in progress.rows]
    tasks = list(cell_chunks(baselines, atlas.replay, there))
    if there:
        output.told(f"atlas: {len(there)} cells are there already")
    workers = local_workers(min(arguments.jobs, len(tasks)), partial(log_output.configure, arguments.log))
    with resumable(progress.kept, root), closing(workers.in_order(work, tasks)) as results:
        for done in results:
            progress.take(done)
    places = {cell.id: index for index, cell in enumerate(cell for baseline in baselines for cell in baseline.cells)}
    rows = sorted((row for row in progress.rows if row.cell in places), key=lambda row: places[row.cell])
    _tell(rows, baselines, progress.skipped, time.monotonic() - began, arguments)
    check_failures(progress.failures)
    return exits.FAILED if any(row.outcome == "unsafe" for row in rows) else exits.PASSED


def _there(root: Path | None, atlas: Atlas) -> list[CellRow]:
    """The cells that the folder has already. The manifest is written before anything runs."""
    if root is None:
        return []
    from scenarios.runs.dataset.cell_files import begin, read_cells

    begin(root, atlas.identity())
    return read_cells(root)


def _tell(rows: list[CellRow], baselines: list[Baseline], skipped: int, wall_s: float, arguments: Namespace) -> None:
    from scenarios.studies.atlas.summary import UndisturbedMove, counts, summary

    undisturbed = [UndisturbedMove.of(baseline) for baseline in baselines]
    page = _write_page(Path(arguments.out), rows, undisturbed) if arguments.out else None
    if arguments.format == "json":
        head = {"cells": len(rows), **counts(rows), "wall_s": round(wall_s, 3), "skipped": skipped}
        own = [{"protocol": u.protocol, "profile": u.profile, "plan": u.plan, "harms": u.harms} for u in undisturbed]
        say(json.dumps({**head, "undisturbed": own, "cells_list": [row.to_json() for row in rows]}))
        return
    for line in summary(rows, undisturbed):
        say(line)
    found = ", ".join(f"{number} {outcome}" for outcome, number in counts(rows).items())
    say(f"{len(rows)} cells: {found} ({wall_s:.0f} s)")
    if page is not None:
        say(f"written to {arguments.out}; the map is {page}")


def _write_page(root: Path, rows: list[CellRow], undisturbed: list[UndisturbedMove]) -> Path:
    from scenarios.runs.dataset.writer import empty_staging, put_text
    from scenarios.studies.atlas.atlas_page import NAME, page

    written = put_text(root, root / NAME, page(rows, undisturbed))
    empty_staging(root)
    return written
