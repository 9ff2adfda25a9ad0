"""``run --seeds A:B [--jobs N]``: one run per seed, in one process or several, reported in the order of the seeds.

Text: a line per run, then the first failure explained. JSON: one object per line and run, nothing else.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from scenarios.cli import exits, log_output, output
from scenarios.cli.output import red, say, show
from scenarios.language import Scenario
from scenarios.observe.measures.figure import Value
from scenarios.progress import Progress
from scenarios.runs.batch import local_workers
from scenarios.runs.dataset.identity import command_line
from scenarios.units import counted, number

_LOST = ("lost_acks_all_records", "lost_acks_1_records")
_COLUMNS = (*_LOST, "under_replicated_any_s", "time_to_complete_s", "leader_elections")
_SHORT = dict(zip(_LOST, ("lost acks=all", "lost acks=1"), strict=True))
_HEADER = tuple(_SHORT.get(name, name) for name in _COLUMNS)
"""The figures' own names, which ``compare`` and the data set have too; the first line says that records are lost."""
_WIDTHS = tuple(max(13, len(name)) for name in (*_HEADER, "digest"))


@frozen(kw_only=True)
class Task:
    """A run to be done. ``document``: the scenario as plain tables, since it may travel to another process."""

    document: dict[str, Any]
    source: str
    seed: int
    strategy: str | None
    profile: str | None
    changes: Sequence[tuple[str, str]]
    trace: str | None


@frozen(kw_only=True)
class CommandResult:
    """The result of a run: the object of ``--format json``, and the texts for a failed run."""

    result: dict[str, Any]
    explanation: str
    replay: str

    @property
    def passed(self) -> bool:
        return bool(self.result["verdict"] == "passed")


def run_seeds(scenario: Scenario, arguments: Namespace) -> int:
    """Run all seeds. The exit code is 1 when a run failed."""
    tasks = [
        Task(
            document=scenario.to_table(),
            source=scenario.source,
            seed=seed,
            strategy=arguments.strategy,
            profile=arguments.profile,
            changes=arguments.changes,
            trace=_folder(arguments.trace, seed),
        )
        for seed in arguments.seeds
    ]
    _check_traces(tasks, scenario.source)
    as_json = arguments.format == "json"
    if not as_json and not arguments.quiet:
        say(scenario.title)
        asked = scenario.for_run(strategy=arguments.strategy, profile=arguments.profile)
        say(f"strategy {asked.strategy.name}, profile {asked.profile}, {counted(len(tasks), 'seeds')}; lost: records")
        say(_line("seed", "verdict", *_HEADER, "digest"))
    failed: list[CommandResult] = []
    workers = local_workers(min(arguments.jobs, len(tasks)), partial(log_output.configure, arguments.log))
    progress = Progress("run", output.progress, len(tasks))
    with closing(workers.in_order(run_task, tasks)) as outcomes:
        for done, outcome in enumerate(outcomes, start=1):
            if as_json or not arguments.quiet:
                say(json.dumps(outcome.result) if as_json else _row(outcome.result))
                show()
            if not outcome.passed:
                failed.append(outcome)
            progress.report(done, f"{done} of {len(tasks)}, {len(failed)} failed")
    if not as_json:
        _conclude(failed, len(tasks), quiet=arguments.quiet)
        if arguments.trace and not arguments.quiet:
            first = command_line("timeline", str(tasks[0].trace))
            say(f"traces written to {arguments.trace}, a folder per seed; next: {first}")
    return exits.FAILED if failed else exits.PASSED


def _check_traces(tasks: Sequence[Task], file: str) -> None:
    """Refuse a folder that cannot take its trace before anything runs. Raises: BadInput."""
    if tasks[0].trace is not None:
        from scenarios.runs.dataset.manifest import check_overwritable

        for task in tasks:
            check_overwritable(Path(str(task.trace)), file)


def run_task(task: Task) -> CommandResult:
    """Do one run, in any process."""
    from scenarios.runs import run_scenario

    scenario = Scenario.from_table(task.document, source=task.source)
    run = run_scenario(
        scenario,
        seed=task.seed,
        strategy=task.strategy,
        profile=task.profile,
        trace_dir=Path(task.trace) if task.trace else None,
        overwrite=True,
        changes=task.changes,
    )
    return CommandResult(result=run.to_json(), explanation=run.explanation, replay=run.replay)


def _folder(trace: str | None, seed: int) -> str | None:
    return None if trace is None else str(Path(trace) / f"seed-{seed}")


def _row(result: dict[str, Any]) -> str:
    verdict = "passed" if result["verdict"] == "passed" else f"FAILED {result['reason']}"
    metrics = result["metrics"]
    figures = (_figure(name, metrics.get(name)) for name in _COLUMNS)
    return _line(str(result["seed"]), verdict, *figures, result["digest"][:12])


def _figure(name: str, value: Value) -> str:
    text = f"{number(value):>{_WIDTHS[_COLUMNS.index(name)]}}"
    return red(text) if name in _LOST and value else text


def _line(*cells: str) -> str:
    seed, verdict, *rest = cells
    return f"{seed:>8}  {verdict:<22}" + "".join(
        f"  {cell:>{width}}" for cell, width in zip(rest, _WIDTHS, strict=True)
    )


def _conclude(failed: Sequence[CommandResult], runs: int, *, quiet: bool) -> None:
    say(f"{runs - len(failed)} of {runs} passed")
    if quiet:
        for outcome in failed:
            say(f"failed: {outcome.replay}")
    elif failed:
        say()
        say(failed[0].explanation)
        for outcome in failed[1:]:
            say(f"also failed: {outcome.replay}")
