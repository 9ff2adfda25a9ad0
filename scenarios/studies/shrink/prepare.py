"""The expanded form of a scenario, from which parts can be removed one by one: replica lists, moves and each turn of
an entry are written out.

Each step returns a scenario with the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import evolve

from scenarios.language import After, At, MethodEntry, Scenario
from scenarios.language.entries import METHOD_ENTRY
from scenarios.language.plan import GeneratedPlan, Plan
from scenarios.studies.shrink.references import Table

Step = Callable[[Scenario], Table]


def placed(scenario: Scenario) -> Table:
    """The table with the replica lists of topics, instead of the numbers from which they are computed."""
    table = scenario.to_table()
    for written, topic in zip(table.get("topics", ()), scenario.topics, strict=True):
        lists = topic.replica_lists(scenario.cluster.ids)
        for name in ("partitions", "replication_factor", "brokers"):
            written.pop(name, None)
        written["assignment"] = [list(replicas) for replicas in lists]
    return table


def planned(scenario: Scenario) -> Table:
    """The table with the moves of a plan that was generated (``{ decommission = 0 }``)."""
    table = scenario.to_table()
    if isinstance(scenario.plan, GeneratedPlan):
        plain = Plan(partitions=scenario.plan.partitions)
        table["plan"] = evolve(scenario, plan=plain).to_table()["plan"]
    return table


def unrolled(scenario: Scenario) -> Table:
    """The table with one entry for each turn. A turn whose time can be computed from the entries before it gets that
    time in place of a delay."""
    table = scenario.to_table()
    entries: list[MethodEntry] = []
    before_us: int | None = 0
    for entry in scenario.method:
        for turn in entry.turns(scenario.cluster.ids):
            trigger = turn.trigger
            if isinstance(trigger, After) and isinstance(trigger.delay_us, int) and before_us is not None:
                trigger = At(before_us + trigger.delay_us)
                turn = evolve(turn, trigger=trigger)
            before_us = trigger.time_us if isinstance(trigger, At) and isinstance(trigger.time_us, int) else None
            entries.append(turn)
    if entries:
        table["method"] = [METHOD_ENTRY.dump(entry) for entry in entries]
    return table


STEPS: tuple[Step, ...] = (placed, planned, unrolled)


def relative(entry: dict[str, Any]) -> bool:
    """Whether an entry counts from the one before it."""
    return "after" in entry or "until" in entry
