"""The scenario of a forecast with another plan, throttle or strategy in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenarios.errors import BadInput
from scenarios.language.plan import PLAN
from scenarios.language.schema.kinds import at
from scenarios.reading import parse_json, read_text

if TYPE_CHECKING:
    from scenarios.language import Plan, Scenario

REQUEST = "reassign.execute"
BEGINS = "30s"
"""When a plan is requested that the file does not request: long after the cluster is up."""


def read_plan(path: str) -> Plan:
    """The plan in a file of kafka-reassign-partitions.sh. Raises: BadInput."""
    text = read_text(Path(path), "a reassignment of Kafka's tools")
    try:
        return at("", PLAN.read, parse_json(text))
    except json.JSONDecodeError as error:
        raise BadInput(f"broken JSON: {error.msg}; correct it", source=path, line=error.lineno) from None
    except BadInput as error:
        raise error.in_file(path) from None


def with_plan(scenario: Scenario, plan: Plan, source: str) -> Scenario:
    """The scenario with this plan alone, requested where the file requests its first one. Raises: BadInput, where the
    plan does not fit the topics and brokers."""
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
        return scenario.from_table(table, source=scenario.source)
    except BadInput as error:
        inside = error.where == "plan" or error.where.startswith("plan.")
        raise error.in_file(source if inside else scenario.source) from None
