"""``demo``: the main job end to end, in under two minutes: a run and its timeline, a sweep, the comparison, and what to
take away from them."""

from __future__ import annotations

import tempfile
import textwrap
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say, show
from scenarios.cli.parser import Program

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.runs import Run
    from scenarios.studies.statistics.result import Comparison

SCENARIO = "controller-dies-mid-move"
PARTITION = "orders-0"
STRATEGIES = ("wiki", "kafka-6794")
SEEDS = range(20)
HEAD, TIMELINE = 2, 20
"""The numbers of lines of a timeline: its head, and those around the fault."""
LOST = "lost_acks_all_records"
WIDTH = 80
NEXT = (
    f"run {SCENARIO} --seed 7 --trace traces/demo",
    f"timeline traces/demo {PARTITION} --from 5s",
    f"run {SCENARIO} --seeds 0:20 --jobs 2",
    "list scenarios",
)
"""Commands that can be pasted after the demo."""


def add(program: Program) -> None:
    parser = program.command("demo", run, "show a controller crash in the middle of a move, and compare two strategies")
    parser.add_argument("--out", metavar="DIR", help="keep the sweep's data set there (default: it is deleted)")
    parser.add_argument(
        "--seeds", metavar="A:B", type=options.seeds, default=SEEDS, help="the sweep's seeds (default: 0:20)"
    )
    options.add_master(parser)


def run(arguments: Namespace) -> int:
    """Run the demo. Java and the folder are checked first: an error should come at once and not after the first
    half."""
    from scenarios.extras import need_study
    from scenarios.studies.java import ensure_java

    need_study("demo")
    ensure_java()
    if arguments.out is not None:
        from scenarios.runs.dataset.writer import check_writable

        check_writable(Path(arguments.out))
    began = time.monotonic()
    scenario = _validated()
    finished = _one_run(scenario)
    with _folder(arguments.out) as folder:
        compared = _sweep_and_compare(scenario, folder, arguments)
    _part("5. what to take away")
    for sentence in takeaway(finished, compared):
        for line in textwrap.wrap(sentence, WIDTH, subsequent_indent="  ", break_on_hyphens=False):
            say(line)
    say()
    say(f"the demo took {time.monotonic() - began:.0f} s; what to try next:")
    for command in NEXT:
        say(f"  ./understudy {command}")
    return exits.PASSED if finished.passed else exits.FAILED


def _validated() -> Scenario:
    from scenarios.language.files import load

    _part(f"1. validate: {SCENARIO}.toml is read and checked, as: understudy validate {SCENARIO}")
    scenario = load(SCENARIO)
    for strategy in STRATEGIES:
        scenario.for_run(strategy=strategy)
    say(scenario.title)
    return scenario


def takeaway(finished: Run, compared: Comparison) -> tuple[str, str, str]:
    """The conclusions from the run and from the comparison, and how far both carry: a sentence each."""
    from scenarios.runs.headlines import headlines
    from scenarios.studies.statistics.sentences import foremost

    answers = {line.label: line.text for line in headlines(finished)}
    lost = sum(bool(run.metrics.get(LOST)) for run in compared.runs)
    unfinished = sum(level.moved - level.finished for level in compared.levels)
    run = (
        f"In one run the controller died in the middle of a move: acknowledged data lost, "
        f"{answers['acknowledged data lost']}; moves, {answers['moves']}; converged, {answers['converged']}."
    )
    answer = foremost(compared, compared.levels[1].name) or compared.headlines[0]
    reach = (
        f"Of all {len(compared.runs)} runs {lost} lost acknowledged records (acks=all) and {unfinished} did not finish "
        "their moves; the seeds drew the rest alike for both strategies, and other loads need a sweep of their own."
    )
    return run, answer, reach


def around(lines: Sequence[str], at: int) -> list[str]:
    """The head of a timeline and its lines around one of them, with a line for those that are left out."""
    head, rest = lines[:HEAD], lines[HEAD:]
    first = max(0, min(at - HEAD - TIMELINE // 4, len(rest) - TIMELINE))
    shown, after = rest[first : first + TIMELINE], max(0, len(rest) - first - TIMELINE)
    left = f"{first} lines before and {after} after these: understudy timeline, below"
    return [*head, *shown, *([left] if first or after else [])]


def _one_run(scenario: Scenario) -> Run:
    from scenarios.cli.report import report
    from scenarios.runs import run_scenario

    _part(f"2. run: one run in virtual time, as: understudy run {SCENARIO}; the timeline of {PARTITION} at the crash:")
    finished = run_scenario(scenario)
    whole = finished.timeline(PARTITION)
    for line in around(whole, len(whole) - len(finished.timeline(PARTITION, _crash_us(finished))) + HEAD):
        say(line)
    say()
    for line in report(finished):
        say(line)
    return finished


def _crash_us(finished: Run) -> int:
    """The time of the method's first fault; the operator's reassignment is none."""
    from emulator.protocol.events import Fault

    faults = (event for event in finished.control_plane if type(event) is Fault)
    return next(event.t_us for event in faults if not event.action.startswith("reassign."))


def _sweep_and_compare(scenario: Scenario, folder: Path, arguments: Namespace) -> Comparison:
    seeds, names = arguments.seeds, " and ".join(STRATEGIES)
    _part(f"3. sweep: {len(seeds)} seeds under {names} as tasks of Spark on {arguments.master}, into {folder}")
    output.told("demo: Spark starts")

    from scenarios.studies.design import Design
    from scenarios.studies.spark.sweep import sweep
    from scenarios.studies.statistics.of_data_set import compare_folders

    sweep(
        Design.of(scenario, seeds=seeds, strategies=STRATEGIES),
        folder,
        master=arguments.master,
        experiment="demo",
        progress=output.progress,
    )
    place = arguments.out or "DIR"
    _part(f"4. compare: which strategy did less harm, paired by seed, as: understudy compare {place}")
    compared = compare_folders(folder)
    say(compared.text)
    return compared


@contextmanager
def _folder(out: str | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
        return
    with tempfile.TemporaryDirectory(prefix="understudy-demo-") as folder:
        yield Path(folder)


def _part(title: str) -> None:
    say()
    say(f"== {title}")
    show()
