"""The OpenAPI description has every operation, and stands in docs as the program makes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from scenarios.language.actions import all_actions
from scenarios.wire.control_openapi import description, rendered
from scenarios.wire.operations.performing import operations

PAGE = Path(__file__).parents[3] / "docs/reference/control-api.json"


def test_the_page_is_the_description() -> None:
    assert PAGE.read_text(encoding="utf-8") == rendered(), "run: python -m scenarios.wire.control_openapi PAGE"
    assert json.loads(rendered()) == description()


def test_all_that_ctl_does_has_a_path() -> None:
    paths = description()["paths"]
    assert {f"/actions/{name}" for name in all_actions()} <= paths.keys()
    assert {f"/{name}" for name in operations() if name} <= paths.keys()


def within(value: Any, name: str) -> Iterator[Any]:
    """All values of a key, at any depth."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == name:
                yield item
            yield from within(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from within(item, name)


def test_its_schemas_are_schemas_and_its_references_lead_somewhere() -> None:
    found = description()
    for schema in (*within(found["paths"], "schema"), *found["components"]["schemas"].values()):
        Draft202012Validator.check_schema(schema)
    known = {f"#/components/schemas/{name}" for name in found["components"]["schemas"]}
    assert {each for each in within(found, "$ref") if isinstance(each, str)} <= known
    ids = list(within(found["paths"], "operationId"))
    assert len(ids) == len(set(ids))


def test_its_schema_takes_what_the_cluster_takes() -> None:
    found = description()
    body = found["paths"]["/actions/broker.crash"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    validator = Draft202012Validator({**body, "components": found["components"]})
    assert validator.is_valid({"target": 1})
    assert validator.is_valid({"target": "leader(orders-0)", "when": {"fault": "third"}})
    assert not validator.is_valid({})
    assert not validator.is_valid({"target": 1, "durations": "1s"})
