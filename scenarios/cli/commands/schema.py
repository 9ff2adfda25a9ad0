"""``schema``: the JSON Schema of the scenario file, for editors that complete and check as one types."""

from __future__ import annotations

import json
from argparse import Namespace

from scenarios.cli import exits
from scenarios.cli.output import say
from scenarios.cli.parser import Program


def add(program: Program) -> None:
    program.command("schema", run, "print the JSON Schema of the scenario file, for editors")


def run(_: Namespace) -> int:
    from scenarios.language import scenario_json_schema

    say(json.dumps(scenario_json_schema(), indent=2, ensure_ascii=False))
    return exits.PASSED
