"""``demo``: the main job end to end, in under two minutes: a run and its timeline, a sweep, the comparison."""

from __future__ import annotations

import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say, show
from scenarios.cli.parser import Program

if TYPE_CHECKING:
    from scenarios.language import Scenario

SCENARIO = "controller-dies-mid-move"
PARTITION = "orders-0"
STRATEGIES = ("wiki", "kafka-6794")
SEEDS = range(20)
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
    """Looks for Java first: where it is missing, the error should come at once and not after the first half."""
    from scenarios.studies.java import ensure_java

    ensure_java()
    began = time.monotonic()
    scenario = _validated()
    code = _one_run(scenario)
    with _folder(arguments.out) as folder:
        _sweep_and_compare(scenario, folder, arguments)
    say(f"the demo took {time.monotonic() - began:.0f} s; what to try next:")
    for command in NEXT:
        say(f"  ./understudy {command}")
    return code


def _validated() -> Scenario:
    from scenarios.language.files import load

    _part(f"1. validate: {SCENARIO}.toml is read and checked, as: understudy validate {SCENARIO}")
    scenario = load(SCENARIO)
    for strategy in STRATEGIES:
        scenario.for_run(strategy=strategy)
    say(scenario.title)
    return scenario


def _one_run(scenario: Scenario) -> int:
    from scenarios.cli.report import report
    from scenarios.runs import run_scenario

    _part(f"2. run: one run in virtual time, as: understudy run {SCENARIO}; the timeline of {PARTITION}:")
    finished = run_scenario(scenario)
    for line in finished.timeline(PARTITION, finished.first_fault_us):
        say(line)
    say()
    for line in report(finished):
        say(line)
    return exits.PASSED if finished.passed else exits.FAILED


def _sweep_and_compare(scenario: Scenario, folder: Path, arguments: Namespace) -> None:
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
    say(compare_folders(folder).text)


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
