"""``validate FILE...``: checks scenario files and lists the strategies under which each can run."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenarios.cli import exits
from scenarios.cli.options import add_changes
from scenarios.cli.output import say
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.language import Scenario
    from scenarios.studies.design import Design

_MOST_NAMED = 8
_MOST_ESTIMATED = 8
"""The arms of a study whose cost is estimated, each in some tenths of a second."""


def add(program: Program) -> None:
    parser = program.command("validate", run, "check scenario files without running them")
    parser.add_argument("files", metavar="FILE", nargs="+", help="scenario files, or names of the library's")
    add_changes(parser)


def run(arguments: Namespace) -> int:
    """Check every file, even after one with an error."""
    code = exits.PASSED
    for name in arguments.files:
        try:
            lines = list(_verdict(name, arguments.changes))
            for line in [] if arguments.quiet else lines:
                say(line)
        except BadInput as error:
            code = exits.explain(error)
    return code


def _verdict(name: str, changes: list[tuple[str, str]]) -> Iterator[str]:
    from scenarios.language.files import load
    from scenarios.language.strategies.strategy import one_of_each_shape

    scenario = load(name, changes)
    fitting = []
    for strategy in one_of_each_shape():
        try:
            scenario.for_run(strategy=strategy)
        except BadInput:
            continue  # its triggers name steps that this strategy lacks, which is no fault of the file
        fitting.append(strategy)
    yield f"{name}: ok: {scenario.title} (runs under {', '.join(fitting)})"
    if scenario.study is not None:
        from scenarios.studies.design import Design

        design = Design.of(scenario, seeds=scenario.study.seeds or (scenario.seed,))
        names = [arm.name for arm in design.arms()]
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield f"  study: {len(names)} arms, {len(design.seeds)} seeds: {'; '.join(names[:_MOST_NAMED])}{more}"
        yield from _study_cost(design)
    yield from hints(scenario)
    yield from _cost(scenario)


def _study_cost(design: Design) -> Iterator[str]:
    """The cost of a study, where that of a run is much: of all arms, or of some, which then stand for the others."""
    from scenarios.forecasting.cpu_cost import cost_of
    from scenarios.progress import words

    arms = design.arms()
    some = arms[:: -(-len(arms) // _MOST_ESTIMATED)]
    costs = [cost_of(design.scenario_of(arm)) for arm in some]
    known = [cost.cpu_s for cost in costs if cost is not None and cost.worth_saying]
    if len(known) == len(some):
        cpu_s = sum(known) / len(some) * len(arms) * len(design.seeds)
        yield f"  its {len(arms) * len(design.seeds)} runs take about {words(cpu_s)} of CPU together"


def _cost(scenario: Scenario) -> Iterator[str]:
    """The cost of a run, where that is much, and what makes it cheaper."""
    from scenarios.forecasting.cpu_cost import cheaper, cost_of, in_words

    cost = cost_of(scenario)
    if cost is not None and cost.worth_saying:
        yield f"  a run takes {in_words(cost)}"
        yield from (f"    {line}" for line in cheaper(cost))


def hints(scenario: Scenario) -> Iterator[str]:
    """Consequences of the topics and the method that their words do not say."""
    from scenarios.language.sizes import hints as of_sizes

    yield from (f"  {line}" for line in scenario.topic_hints())
    yield from (f"  {line}" for line in of_sizes(scenario))
    for index, entry in enumerate(scenario.method):
        first, *more = [*entry.action.hints(scenario, entry), ""]
        if first:
            yield f"  method[{index}] {entry.name}: {first}"
        yield from (f"    {line}" for line in more if line)
