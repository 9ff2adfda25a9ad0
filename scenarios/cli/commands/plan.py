"""``plan FILE``: the reassignment plan of a scenario as Kafka's JSON, what it moves, and the way back."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scenarios import whole_files
from scenarios.cli import exits, options
from scenarios.cli.output import say, table
from scenarios.cli.parser import Program
from scenarios.errors import BadInput

if TYPE_CHECKING:
    from scenarios.language import Plan, Scenario


def add(program: Program) -> None:
    parser = program.command(
        "plan",
        run,
        "print a scenario's reassignment plan as kafka-reassign-partitions.sh --generate does, and what it moves",
        epilog="The JSON is what kafka-reassign-partitions.sh --execute reads, and plan = { file = ... } here.",
    )
    options.add_file(parser)
    options.add_changes(parser)
    parser.add_argument("--out", metavar="FILE", help="write the plan's JSON there")
    parser.add_argument("--rollback-out", metavar="FILE", help="write the JSON of the current assignment there")
    options.add_format(parser)


def run(arguments: Namespace) -> int:
    from scenarios.language.files import load

    scenario = load(arguments.file, arguments.changes)
    plan = first_plan(scenario)
    rollback = current(scenario, plan)
    save(arguments.out, plan, "--out")
    save(arguments.rollback_out, rollback, "--rollback-out")
    if arguments.format == "json":
        say(json.dumps({"current": json.loads(rollback.as_json()), "proposed": json.loads(plan.as_json())}))
        return exits.PASSED
    for line in _report(scenario, plan):
        say(line)
    for line in _documents(arguments, plan, rollback):
        say(line)
    return exits.PASSED


def first_plan(scenario: Scenario) -> Plan:
    """``[plan]``, else the plan of the first entry with one. Raises: BadInput where there is none."""
    if not scenario.plans:
        raise BadInput("it has no plan; add plan = { to = [3, 4, 5] }, for example", source=scenario.source)
    return scenario.plans[0]


def current(scenario: Scenario, plan: Plan) -> Plan:
    """The replicas that the plan's partitions have at the start: the plan for the way back."""
    from attrs import evolve

    from scenarios.language import Plan

    now = scenario.assignments()
    moves = [evolve(move, replicas=now[move.name], log_dirs=()) for move in plan.partitions if move.name in now]
    return Plan(partitions=moves)


def save(name: str | None, plan: Plan, option: str) -> None:
    """Write a plan's JSON into the file ``name``, if there is one. Raises: BadInput."""
    if name is None:
        return
    try:
        whole_files.save(Path(name), plan.as_json() + "\n")
    except BadInput as error:
        raise error.under(option) from None


def _report(scenario: Scenario, plan: Plan) -> Iterator[str]:
    from scenarios.language import GeneratedPlan

    yield scenario.title
    yield f"plan: {plan.words}" if isinstance(plan, GeneratedPlan) else "plan: as stated"
    yield summary(scenario, plan)
    for entry in scenario.method:
        if entry.name == "reassign.execute" and (entry.action.own_plan() or scenario.plan) is plan:
            yield from (f"warning: {line}" for line in entry.action.hints(scenario, entry))
    yield ""
    yield from table(_brokers(scenario, plan))
    yield ""


def _documents(arguments: Namespace, plan: Plan, rollback: Plan) -> Iterator[str]:
    """Both assignments as JSON. If one was written into a file, the file's name instead."""
    if arguments.rollback_out:
        yield f"current assignment written to {arguments.rollback_out}"
    elif arguments.out:
        yield "current assignment: --rollback-out FILE writes it, for the way back"
    else:
        yield "Current partition replica assignment (keep it for the way back):"
        yield rollback.as_json()
        yield ""
    if arguments.out:
        yield f"plan written to {arguments.out}"
    else:
        yield "Proposed partition reassignment configuration:"
        yield plan.as_json()


def summary(scenario: Scenario, plan: Plan) -> str:
    """The size of the plan's moves, in one line."""
    from scenarios.forecasting import amounts
    from scenarios.units import counted

    now = scenario.assignments()
    sizes = scenario.sizes()
    copies = {move: len([b for b in move.replicas if b not in now.get(move.name, ())]) for move in plan.partitions}
    data = sum(sizes.get(move.name, 0) * count for move, count in copies.items())
    leaders = sum(move.replicas[0] != now.get(move.name, move.replicas)[0] for move in plan.partitions)
    changed = sum(move.replicas != now.get(move.name) for move in plan.partitions)
    replicas = counted(sum(copies.values()), "replicas")
    return (
        f"{changed} of {len(now)} partitions change: {replicas} to copy ({amounts.size(data)} at the start), "
        f"other preferred leaders for {leaders}"
    )


def _brokers(scenario: Scenario, plan: Plan) -> list[tuple[str, ...]]:
    """The numbers of replicas and preferred leaders of each broker, now and afterwards."""
    now = scenario.assignments()
    later = {**now, **plan.targets()}
    rows: list[tuple[str, ...]] = [("broker", "replicas", "preferred leaders")]
    for broker in scenario.cluster.ids:
        has = [sum(broker in replicas for replicas in lists.values()) for lists in (now, later)]
        leads = [sum(broker == replicas[0] for replicas in lists.values()) for lists in (now, later)]
        rows.append((str(broker), f"{has[0]} -> {has[1]}", f"{leads[0]} -> {leads[1]}"))
    return rows
