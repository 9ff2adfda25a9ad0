"""The OpenAPI 3.1 description of what a served cluster takes over HTTP, made from the declarations of the operations.

``python -m scenarios.wire.control_openapi docs/reference/control-api.json`` writes it; a test compares the two.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from scenarios.language.actions import all_actions
from scenarios.language.entries import METHOD_ENTRY
from scenarios.language.scenario import named_schemas
from scenarios.language.schema.kinds import Schema
from scenarios.language.schema.table_reader import Block
from scenarios.runs.dataset.identity import VERSION
from scenarios.wire.control_routes import ROUTES, Route
from scenarios.wire.operations.performing import ANY_ACTION, operations

_TEXT: Schema = {"type": "string"}
_TIME: Schema = {"type": "integer", "description": "virtual time, in microseconds"}
_DONE: Schema = {
    "type": "object",
    "properties": {
        "ok": {"const": True},
        "at_us": _TIME,
        "done": {
            "type": "array",
            "description": "what was done: the action, the brokers or clients, and its keys",
            "items": {"type": "object", "properties": dict.fromkeys(("action", "target", "detail"), _TEXT)},
        },
        "armed": {"const": True, "description": "it waits for its trigger"},
        "waited_us": _TIME,
    },
    "required": ["ok"],
}
_ERROR: Schema = {
    "type": "object",
    "properties": {"error": {**_TEXT, "description": "what is wrong; what would be right, in one line"}},
    "required": ["error"],
}
_STATUSES = {
    "401": "the token is missing or wrong",
    "404": "there is none of that name",
    "500": "Understudy itself failed",
    "504": "it did not come in time",
}


@cache
def description() -> dict[str, Any]:
    """The description as JSON has it. Actions that a plug-in has added are in it."""
    paths: dict[str, Any] = {}
    for path, method, about in _operations():
        paths.setdefault(path, {})[method.lower()] = about
    found: dict[str, Any] = _with_components(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Understudy: control of a served cluster",
                "version": VERSION,
                "description": "understudy serve --control-port N; docs/use/serve.md",
            },
            "security": [{"token": []}],
            "paths": paths,
            "components": {
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
                "schemas": {**named_schemas(), "done": _DONE, "error": _ERROR},
            },
        }
    )
    return found


def _operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each path with a method, and what stands under it."""
    for route in ROUTES:
        if route.action != ANY_ACTION:
            yield route.path, route.method, _of_route(route)
            continue
        for name, action in all_actions().items():
            schema = METHOD_ENTRY.operation_schema(action)
            body = {"required": bool(schema["required"]), "content": _json(schema)}
            about = _about(route, action.help, f"action {name}")
            yield route.path.replace("{action}", name), route.method, {**about, "requestBody": body}


def _of_route(route: Route) -> dict[str, Any]:
    known = operations().get(route.action)
    if known is None:
        action = all_actions()[route.action]
        schema, help = METHOD_ENTRY.operation_schema(action), action.help
    else:
        assert known.keys is not None
        schema, help = Block(known.keys).schema(), known.help
    about = _about(route, help, f"{route.method.lower()} {route.path.strip('/').replace('/', ' ')}")
    in_path = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": schema["properties"][name]} for name in in_path
    ]
    if route.in_body:
        return {**about, "requestBody": {"required": bool(schema["properties"]), "content": _json(schema)}}
    if not in_path and known is not None:
        parameters += [{"name": name, "in": "query", "schema": one} for name, one in schema["properties"].items()]
    return {**about, "parameters": parameters}


def _about(route: Route, help: str, name: str) -> dict[str, Any]:
    responses = {"200": {"description": "done", "content": _json({"$ref": "#/$defs/done"})}}
    late = ("504",) if route.action == "wait" else ()
    for status in (str(route.wrong), "401", "500", *late):
        what = _STATUSES.get(status, "what was asked for cannot be done")
        responses[status] = {"description": what, "content": _json({"$ref": "#/$defs/error"})}
    operation_id = re.sub(r"[{}]", "", name).replace(" ", "-")
    return {"summary": help, "operationId": operation_id, "responses": responses}


def _json(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _with_components(value: Any) -> Any:
    """A copy in which references go to OpenAPI's place for schemas."""
    if isinstance(value, dict):
        return {
            name: item.replace("#/$defs/", "#/components/schemas/") if name == "$ref" else _with_components(item)
            for name, item in value.items()
        }
    return [_with_components(item) for item in value] if isinstance(value, list | tuple) else value


def rendered() -> str:
    """The description as its page has it: a line for each path and for each schema."""
    return re.sub(r"\n {4,}|\n {3}(?=[}\]])", " ", json.dumps(description(), indent=1, ensure_ascii=False)) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(rendered(), encoding="utf-8")
