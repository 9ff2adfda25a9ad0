"""The paths at which a served cluster takes operations over HTTP, and the operation that each request means.

An operation is what ``understudy ctl`` sends (``scenarios.wire.operations``): here its action stands in the path, its
keys in the query or in a JSON body.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import field, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.wire.operations.performing import ACTION, ANY_ACTION, parsed

OPENAPI = "/openapi.json"
"""The path of the description, for which no token is needed."""
BAD, UNKNOWN, NOT_ALLOWED = 400, 404, 405
BROKEN = "the body is no JSON ({}); write an object"
_GIVEN = {"GET": "query", "DELETE": "query", "POST": "body"}


@frozen
class Route:
    """One method at one path.

    Attributes:
        path: with the names of its parameters in braces.
        action: the operation; ``ANY_ACTION``: the action that the path names.
        wrong: the status of an answer that is an error of the operator's.
    """

    method: str
    path: str
    action: str
    wrong: int = BAD

    @property
    def in_body(self) -> bool:
        """Whether the operation's keys come in a JSON body, and not in the query."""
        return _GIVEN[self.method] == "body"

    def parameters(self, path: str) -> dict[str, str] | None:
        """The parameters in a path; None: it is another one."""
        own, given = self.path.split("/"), path.split("/")
        if len(own) != len(given):
            return None
        found = {}
        for name, part in zip(own, given, strict=True):
            if name.startswith("{"):
                found[name[1:-1]] = unquote(part)
            elif name != part:
                return None
        return found


ROUTES = (
    Route("GET", "/state", "state"),
    Route("GET", "/requests", "requests"),
    Route("GET", "/requests/{fault}", "requests", UNKNOWN),
    Route("DELETE", "/requests/{fault}", "request.clear", UNKNOWN),
    Route("POST", "/wait", "wait"),
    Route("POST", "/stop", "stop"),
    Route("POST", "/actions/{action}", ANY_ACTION),
)


class RefusedRequest(Exception):
    """A request that means no operation.

    Attributes:
        allow: the methods that its path has, where the method is wrong.
    """

    def __init__(self, status: int, what: str, allow: str = "") -> None:
        super().__init__(what)
        self.status = status
        self.allow = allow


@frozen
class AskedOverHttp:
    """An operation that came over HTTP.

    Attributes:
        operation: a JSON object in one line.
        wrong: the status of an answer that is an error of the operator's.
    """

    operation: str
    wrong: int = field(default=BAD)


def asked_for(method: str, target: str, body: bytes) -> AskedOverHttp:
    """The operation that a request means. Raises: RefusedRequest."""
    split = urlsplit(target) if target.startswith("/") and not target.startswith("//") else None
    if split is None:
        raise RefusedRequest(BAD, f"{target!r} is no path; write one that begins with /")
    found = [(route, keys) for route in ROUTES if (keys := route.parameters(split.path)) is not None]
    if not found:
        known = dict.fromkeys(route.path for route in ROUTES)
        raise RefusedRequest(
            UNKNOWN, f"there is nothing at {split.path!r}; {did_you_mean(split.path, [*known, OPENAPI])}"
        )
    for route, keys in found:
        if route.method == method:
            return AskedOverHttp(_operation(route, keys, split.query, body), route.wrong)
    allow = ", ".join(route.method for route, _ in found)
    raise RefusedRequest(NOT_ALLOWED, f"{split.path} takes no {method}; write {allow}", allow)


def _operation(route: Route, in_path: Mapping[str, str], query: str, body: bytes) -> str:
    """Raises: RefusedRequest."""
    where, other = ("body", query) if route.in_body else ("query", body)
    if other:
        raise RefusedRequest(BAD, f"the keys of {route.method} {route.path} stand in its {where}; write them there")
    given = _object(body) if route.in_body else _query(query)
    named = {ACTION: route.action, **in_path} if route.action else dict(in_path)
    for name in named:
        if name in given:
            raise RefusedRequest(BAD, f"{name}: the path says it already; leave it out")
    return json.dumps({**named, **given})


def _object(body: bytes) -> dict[str, Any]:
    """The object in a body; an empty body has none. Raises: RefusedRequest."""
    try:
        found = parsed(body.decode(), BROKEN) if body.strip() else {}
    except BadInput as error:
        raise RefusedRequest(BAD, str(error)) from None
    except UnicodeDecodeError as error:
        raise RefusedRequest(BAD, BROKEN.format(error)) from None
    if not isinstance(found, dict):
        raise RefusedRequest(BAD, 'the body is no JSON object; write one such as {"target": 1}')
    return found


def _query(query: str) -> dict[str, str]:
    """The keys of a query. Raises: RefusedRequest."""
    try:
        pairs = parse_qsl(
            query, keep_blank_values=True, strict_parsing=bool(query), max_num_fields=100, errors="strict"
        )
    except ValueError as error:
        raise RefusedRequest(BAD, f"the query cannot be read ({error}); write ?partition=orders-0") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise RefusedRequest(BAD, f"{name} stands in the query twice; keep one")
        found[name] = value
    return found
