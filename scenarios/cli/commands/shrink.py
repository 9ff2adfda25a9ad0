"""``shrink RUN|FILE``: the smallest scenario that still has the finding of a failing run."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios.cli import exits, options, output
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.units import counted

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.studies.shrink import Shrunk

STATE_SUFFIX = ".shrinking"


def add(program: Program) -> None:
    parser = program.command("shrink", run, "find the smallest scenario that still fails in the same way")
    options.add_failing_run(parser, "to keep")
    parser.add_argument(
        "--out", metavar="FILE", help="write the scenario there (default: beside FILE, as NAME.shrunk.toml)"
    )
    parser.add_argument(
        "--for",
        dest="for_s",
        metavar="TIME",
        type=options.real_time("--for"),
        help="stop after that real time; the same command goes on from there",
    )
    parser.add_argument("--runs", metavar="N", type=options.whole("--runs", 1), help="stop after so many runs")
    options.add_jobs(parser, "try")
    options.add_profile(parser)
    options.add_bugs(parser)
    options.add_changes(parser)
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    """Shrink. A run that does not fail is refused before anything is written."""
    from scenarios.chaos.draw import concrete
    from scenarios.cli.failing import chosen_finding, failing_scenario
    from scenarios.progress import Progress
    from scenarios.resuming import resumable
    from scenarios.runs.dataset.identity import code_digest
    from scenarios.studies.shrink import Limits, Shrinker
    from scenarios.studies.shrink.shrinking_state import State, digest
    from scenarios.whole_files import check_target, save

    asked = failing_scenario(arguments, "shrink")
    scenario = concrete(asked, asked.seed)
    out = Path(arguments.out) if arguments.out else _beside(scenario, arguments.file)
    check_target(out, "smallest.toml")
    found = chosen_finding(scenario, arguments.finding, "shrink")
    identity = digest(
        {"scenario": scenario.digest(), "finding": [found.checker, found.statement], "code": code_digest()}
    )
    progress = Progress("shrink", output.progress, 1, about="")
    state = State.at(out.with_name(out.name + STATE_SUFFIX), identity)

    def kept() -> str:
        state.close(finished=False)
        return counted(state.runs, "runs")

    with resumable(kept, state.path):
        shrunk = Shrinker(
            scenario,
            found,
            Limits(seconds=arguments.for_s, runs=arguments.runs, jobs=arguments.jobs),
            state,
            lambda line: progress.report_seldom(0, lambda passed: f"{line} after {passed:.0f} s"),
        ).shrink()
    save(out, _file(shrunk, scenario))
    if arguments.format == "json":
        say(json.dumps(_json(shrunk, out)))
    else:
        for line in _told(shrunk, out):
            say(line)
    return exits.PASSED


def _beside(scenario: Scenario, name: str) -> Path:
    """The path of the result: beside the file; for a scenario of the library, and for a run, in the current folder."""
    path = Path(name)
    if not path.is_file():
        return Path(f"{Path(scenario.source).stem or path.name}.shrunk.toml")
    return path.with_name(f"{path.stem}.shrunk.toml")


def _file(shrunk: Shrunk, original: Scenario) -> str:
    """The scenario's text, below a comment with its finding and its origin."""
    from scenarios.studies.shrink.measure import removed

    origin = f" {original.source}, seed {original.seed}" if original.source else f" seed {original.seed}"
    less = ", ".join(removed(shrunk.before, shrunk.after)) or "nothing removed"
    head = [f"Shrunk from{origin}: {less}.", f"Shows {shrunk.finding.checker}: {shrunk.finding.statement}."]
    return "".join(f"# {line}\n" for line in head) + "\n" + shrunk.scenario.to_toml()


def _told(shrunk: Shrunk, out: Path) -> list[str]:
    from scenarios.runs.dataset.identity import command_line
    from scenarios.studies.shrink.measure import removed

    end = "nothing smaller was found" if shrunk.finished else "stopped early; the same command goes on"
    lines = [f"finding  {shrunk.finding.checker}: {shrunk.finding.statement}"]
    lines += [f"removed  {line}" for line in removed(shrunk.before, shrunk.after)]
    lines += [f"tried    {counted(shrunk.runs, 'runs')}; {end}", "", shrunk.scenario.to_toml().rstrip("\n"), ""]
    return [*lines, f"written to {out}; next: {command_line('run', str(out))}"]


def _json(shrunk: Shrunk, out: Path) -> dict[str, object]:
    return {
        "file": str(out),
        "finding": {"checker": shrunk.finding.checker, "statement": shrunk.finding.statement},
        "before": shrunk.before._asdict(),
        "after": shrunk.after._asdict(),
        "runs": shrunk.runs,
        "finished": shrunk.finished,
    }
