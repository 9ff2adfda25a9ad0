"""Recorders for ``run --check`` with an injected fault: what they write depends on how this process hashes texts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs import record_events

FIRST = "1"
"""The PYTHONHASHSEED of the recording that keeps to the rules."""


def set_order(scenario: Scenario, path: Path, **asked: Any) -> str:
    """From the hundredth event on, every seventh names brokers in the order of a set of texts."""
    digest = record_events(scenario, path, **asked)
    lines = path.read_text().splitlines()
    order = "".join({f"broker-{number}" for number in range(12)})
    for index in range(99, len(lines), 7):
        event = json.loads(lines[index])
        event["fields"] = json.dumps({**json.loads(event["fields"]), "order": order})
        lines[index] = json.dumps(event)
    path.write_text("\n".join(lines) + "\n")
    return digest + order[-4:]


def cut_short(scenario: Scenario, path: Path, **asked: Any) -> str:
    digest = record_events(scenario, path, **asked)
    if os.environ["PYTHONHASHSEED"] != FIRST:
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:50]))
    return digest


def digest_only(scenario: Scenario, path: Path, **asked: Any) -> str:
    return record_events(scenario, path, **asked) + os.environ["PYTHONHASHSEED"]


def breaks_in_one(scenario: Scenario, path: Path, **asked: Any) -> str:
    if os.environ["PYTHONHASHSEED"] != FIRST:
        raise ZeroDivisionError("injected")
    return record_events(scenario, path, **asked)


def breaks_in_both(scenario: Scenario, path: Path, **asked: Any) -> str:
    raise ZeroDivisionError("injected")


def refuses(scenario: Scenario, path: Path, **asked: Any) -> str:
    raise BadInput("is not to be had", where="injected")
