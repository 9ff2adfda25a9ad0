"""The scenario of a forecast with another plan, throttle or strategy in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scenarios.errors import BadInput
from scenarios.language.plan import PLAN, in_plan_file
from scenarios.language.schema.kinds import at
from scenarios.reading import parse_json, read_text
from scenarios.units import parse_duration

if TYPE_CHECKING:
    from scenarios.language import Plan, Scenario

FIDELITY = "fidelity"
REQUEST, CRASH = "reassign.execute", "broker.crash"
BEGINS = "30s"
"""When a plan is requested that the file does not request: long after the cluster is up."""
ENOUGH_S = 600
"""The time that a run has beyond twice the estimate."""
DEAD_S = 60
"""How long a broker that dies is down, in virtual seconds."""


@frozen
class Death:
    """A broker that dies once. ``at_us``: when, in virtual time; None: in the middle of the estimate."""

    broker: int
    at_us: int | None = None


def read_plan(path: str) -> Plan:
    """The plan in a file of kafka-reassign-partitions.sh. Raises: BadInput."""
    text = read_text(Path(path), "a reassignment of Kafka's tools")
    try:
        return at("", PLAN.read, parse_json(text))
    except json.JSONDecodeError as error:
        hint = "name the JSON of kafka-reassign-partitions.sh"
        raise BadInput(f"broken JSON: {error.msg}; {hint}", source=path, line=error.lineno) from None
    except BadInput as error:
        raise error.in_file(path) from None


def with_plan(scenario: Scenario, plan: Plan, source: str = "") -> Scenario:
    """The scenario with this plan alone, requested where the file requests its first one. ``source``: the plan's own
    file. Raises: BadInput, where the plan does not fit the topics and brokers."""
    table = scenario.to_table()
    table["plan"] = PLAN.dump(plan)
    method: list[dict[str, Any]] = []
    for entry in table.get("method", []):
        if not str(entry["action"]).startswith("reassign."):
            method.append(entry)
        elif entry["action"] == REQUEST and all(one["action"] != REQUEST for one in method):
            method.append({key: value for key, value in entry.items() if key != "plan"})
    if all(entry["action"] != REQUEST for entry in method):
        method.insert(0, {"at": BEGINS, "action": REQUEST})
    table["method"] = method
    try:
        with in_plan_file(source):
            return scenario.from_table(table, source=scenario.source)
    except BadInput as error:
        raise error.in_file(scenario.source) from None


def variant(scenario: Scenario, plan: Plan, strategy: str, lasts_s: float, death: Death | None) -> Scenario:
    """The scenario with this plan alone, under a strategy and the throttle in its name, with time enough for moves that
    take about ``lasts_s``, and with the death of a broker for ``DEAD_S``."""
    table = with_plan(scenario, plan).to_table()
    begins_s = 0.0
    for entry in table["method"]:
        if entry["action"] == REQUEST:
            entry.pop("throttle", None)
            latest = str(entry.get("at", "0s")).rpartition("..")[2]  # the seed draws from a range
            begins_s = parse_duration(latest) / 1e6
    table["strategy"] = {"name": strategy}
    for left_out in ("expect", "steady_state", "study"):
        table.pop(left_out, None)
    if death is not None:
        at_us = round(1e6 * (begins_s + lasts_s / 2)) if death.at_us is None else death.at_us
        table["method"].append({"at": f"{at_us}us", "action": CRASH, "target": death.broker, "duration": f"{DEAD_S}s"})
    table["horizon"] = f"{round(begins_s + 2 * lasts_s) + ENOUGH_S}s"
    return _sampled(scenario, table) or scenario.from_table(table, source=scenario.source)


def _sampled(scenario: Scenario, table: dict[str, Any]) -> Scenario | None:
    """The variant as a sampled run; None where the scenario needs every message."""
    try:
        return scenario.from_table({**table, FIDELITY: "sampled"}, source=scenario.source)
    except BadInput as error:
        if error.where == FIDELITY:
            return None
        raise
