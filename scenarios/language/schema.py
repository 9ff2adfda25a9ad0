"""The JSON Schema of the scenario file, for editors: made from the same declarations that the reader uses."""

from __future__ import annotations

from typing import Any

from scenarios.language.kinds import Named
from scenarios.language.scenario import SCENARIO
from scenarios.language.targets import TARGET
from scenarios.language.triggers import WHEN
from scenarios.language.when import STEP_NAMES, STEP_WHEN
from scenarios.language.wire import MESSAGE_WHEN, ZK_WHEN

_NAMED: tuple[Named[Any], ...] = (STEP_NAMES, TARGET, WHEN, STEP_WHEN, MESSAGE_WHEN, ZK_WHEN)


def scenario_json_schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) of the whole file, a new object each time."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Understudy scenario",
        **SCENARIO.schema(),
        "$defs": {named.name: named.kind.schema() for named in _NAMED},
    }
