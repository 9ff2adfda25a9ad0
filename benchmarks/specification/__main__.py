"""``python -m benchmarks.specification [--fetch] [--only NAME] [--limit SECONDS] [--out FILE] [--write]``: does
TLC find in each configuration of docs/specification what is known to be there, and nothing where nothing should be?

``--museum`` asks another question: which cases of the museum does the oracle refuse with their bug, or without their
guard, and does it accept them otherwise? ``--only`` names cases then.

``--mutations`` takes guards out of the core, one at a time: does the oracle refuse each, in the action that has the
guard? ``--only`` names mutations then.

``--cost`` measures the oracle. ``--scenario`` prints the counterexample of one configuration as a scenario file, and
``--agree`` runs those of all in the emulator: does it do the same?

``--fetch`` first brings TLC from Maven Central. ``--out`` keeps what was found, and goes on from there after an
interruption, as long as modules and configuration are the same. ``--render`` writes the configurations, and the tables
of the page, and runs nothing.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.specification.agreement import HEADS as AGREEMENT_HEADS
from benchmarks.specification.agreement import agreement
from benchmarks.specification.checker import Checked, check, checker, run
from benchmarks.specification.configurations import Configuration
from benchmarks.specification.cost import cost
from benchmarks.specification.kept import Kept
from benchmarks.specification.museum import HEADS as MUSEUM_HEADS
from benchmarks.specification.museum import hold, problems_of
from benchmarks.specification.museum import rows as museum_rows
from benchmarks.specification.mutations import HEADS as MUTATION_HEADS
from benchmarks.specification.mutations import attempt, mutations
from benchmarks.specification.mutations import problems_of as problems_of_mutations
from benchmarks.specification.mutations import rows as mutation_rows
from benchmarks.specification.pages import render
from benchmarks.specification.questions import CONFIGURATIONS
from benchmarks.specification.scenario_file import moments, scenario
from benchmarks.tables import table
from scenarios.museum.exhibits import exhibit, names

LIMIT_S = 600
"""Seconds of CPU time that a configuration may take."""
HEADS = ("Configuration", "Asks", "States", "Generated", "Depth", "CPU s", "Found")


def row(configuration: Configuration, checked: Checked) -> tuple[str, ...]:
    """A configuration's line."""
    found = f"not {checked.violated}" if checked.violated else "nothing"
    if len(checked.steps) > 1:
        found += f", in {len(checked.steps) - 1} step{'s' if len(checked.steps) > 2 else ''}"
    if not checked.finished:
        found = "did not end"
    return (
        f"`{configuration.name}`", configuration.asks, f"{checked.states:,}", f"{checked.generated:,}",
        str(checked.depth or "-"), f"{checked.seconds:.0f}", found,
    )  # fmt: skip


def missed(configuration: Configuration, checked: Checked) -> Iterator[str]:
    """Results that are otherwise than known."""
    if not checked.finished:
        yield f"{configuration.name} did not end"
    elif checked.violated != configuration.finds:
        found, wanted = checked.violated or "nothing", configuration.finds or "nothing"
        yield f"{configuration.name} found {found} instead of {wanted}"


def show(wanted: Sequence[Configuration], class_path: str, limit: int, error: Callable[[str], NoReturn]) -> int:
    """Print the counterexample of a configuration as a scenario file. Returns the exit code."""
    [configuration, *others] = wanted
    if others:
        error("--scenario is about one configuration; name it with --only")
    course = moments(run(configuration.text, class_path, limit))
    if not course:
        error(f"{configuration.name} has no counterexample")
    try:
        print(scenario(configuration, course), end="")
    except LookupError as cannot:
        error(f"{configuration.name} cannot be written as a file: {cannot.args[0]}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = parser_of("specification", __doc__)
    parser.add_argument("--fetch", action="store_true", help="bring TLC from Maven Central first")
    parser.add_argument("--only", action="append", default=[], help="a configuration; may be repeated")
    parser.add_argument("--limit", type=int, default=LIMIT_S, help="CPU seconds of one configuration")
    parser.add_argument("--out", type=Path, help="a file that keeps what was found")
    parser.add_argument("--render", action="store_true", help="write the .cfg files and the page's tables, run nothing")
    parser.add_argument("--museum", action="store_true", help="hold the museum's cases against the oracle instead")
    parser.add_argument("--mutations", action="store_true", help="take guards out of the core instead")
    parser.add_argument("--cost", action="store_true", help="measure what the oracle costs instead")
    parser.add_argument("--agree", action="store_true", help="run the counterexamples in the emulator")
    parser.add_argument("--scenario", action="store_true", help="print the counterexample as a scenario file")
    asked = parser.parse_args(arguments)
    if asked.render:
        return render()
    if asked.cost:
        return conclude("specification-cost", cost(), write=asked.write)
    if asked.museum:
        held = list(map(hold, map(exhibit, asked.only or names())))
        lines = [machine("python -m benchmarks.specification --museum --write"), ""]
        lines += table(MUSEUM_HEADS, museum_rows(held))
        return conclude("specification-museum", lines, problems_of(held), write=asked.write)
    if asked.mutations:
        tried = [attempt(one) for one in mutations() if not asked.only or one.name in asked.only]
        lines = [machine("python -m benchmarks.specification --mutations --write"), ""]
        lines += table(MUTATION_HEADS, mutation_rows(tried))
        return conclude("specification-mutations", lines, problems_of_mutations(tried), write=asked.write)
    wanted = [one for one in CONFIGURATIONS if not asked.only or one.name in asked.only]
    if not wanted:
        parser.error(f"no such configuration; there are {', '.join(one.name for one in CONFIGURATIONS)}")
    try:
        class_path = checker(fetch=asked.fetch)
    except LookupError as missing:
        parser.error(f"{missing}; with --fetch it is brought from Maven Central")
    if asked.scenario:
        return show(wanted, class_path, asked.limit, parser.error)
    if asked.agree:
        agreed = [
            (f"`{one.name}`", one.finds, agreement(one, run(one.text, class_path, asked.limit)))
            for one in wanted
            if one.finds
        ]
        lines = [machine("python -m benchmarks.specification --agree --write"), "", *table(AGREEMENT_HEADS, agreed)]
        return conclude("specification-agreement", lines, write=asked.write)
    rows: list[tuple[str, ...]] = []
    problems: list[str] = []
    kept = Kept(asked.out)
    for configuration in wanted:
        checked = kept.found(configuration) or kept.keep(configuration, check(configuration, class_path, asked.limit))
        rows.append(row(configuration, checked))
        problems += missed(configuration, checked)
        print(" ".join(rows[-1][2:]), configuration.name, *checked.steps, file=sys.stderr, flush=True)
    command = "python -m benchmarks.specification " + ("--out FILE --write" if asked.out else "--write")
    lines = [machine(command), "", *table(HEADS, rows)]
    return conclude("specification", lines, problems, write=asked.write)


if __name__ == "__main__":
    raise SystemExit(main())
