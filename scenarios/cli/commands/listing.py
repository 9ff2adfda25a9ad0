"""``list KIND``: the names that scenario files and the command line may use."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

from scenarios.cli import exits
from scenarios.cli.options import add_format, one_of
from scenarios.cli.output import say, table
from scenarios.cli.parser import Program

Entry = dict[str, Any]
"""One name: ``name``, ``help``, and more facts of its kind. ``available`` is false for a name that is known and
refused."""


def add(program: Program) -> None:
    names = tuple(KINDS)
    parser = program.command("list", run, "list the names that scenarios and options may use")
    parser.add_argument("kind", metavar="KIND", type=one_of("KIND", names), help=", ".join(names))
    add_format(parser)


def run(arguments: Namespace) -> int:
    entries = KINDS[arguments.kind]()
    if arguments.format == "json":
        say(json.dumps(entries, indent=1, ensure_ascii=False))
        return exits.PASSED
    for line in table([(entry["name"], _told(entry)) for entry in entries], indent=""):
        say(line)
    return exits.PASSED


def _told(entry: Entry) -> str:
    words = [entry["help"]]
    if entry.get("unit"):
        words.append(f"[{entry['form']}, {entry['unit']}]")
    if entry.get("strategy"):
        words.append(f"[strategy {entry['strategy']}]")
    if "default" in entry:
        others = (f"{profile}: {value}" for profile, value in entry["elsewhere"].items())
        words.append(f"[{'; '.join((entry['default'], *others))}]")
    if entry.get("parameters"):
        words.append(f"[{', '.join(entry['parameters'])}]")
    return " ".join(words)


def _steps() -> list[Entry]:
    """The steps, phases first: these are the names that every strategy understands."""
    from scenarios.language import ALIASES, PHASES, STEPS

    phases = [{"name": name, "help": help, "protocol": "phase"} for name, help in PHASES.items()]
    steps = [
        {"name": name, "help": protocol.steps[name], "protocol": protocol.name} for name, protocol in STEPS.items()
    ]
    aliases = [{"name": name, "help": f"the same as {step}", "protocol": "alias"} for name, step in ALIASES.items()]
    return [*phases, *steps, *aliases]


def _actions() -> list[Entry]:
    from scenarios.language import all_actions
    from scenarios.language.schema.table_reader import keys_of

    return [
        {
            "name": action.name,
            "help": action.help,
            "parameters": [
                *(["target"] if action.takes_target else []),
                *(key.name for key in keys_of(action)),
            ],
            "undo": action.undo and action.undo.name,
        }
        for action in all_actions().values()
    ]


def _strategies() -> list[Entry]:
    """The shapes, then the parts that follow a shape after a plus."""
    from scenarios.language.strategies import SHAPES, parts_by_axis

    shapes: list[Entry] = [
        {"name": shape.name, "help": shape.help, "axis": "shape", "protocol": shape.protocol}
        for shape in SHAPES.values()
    ]
    return shapes + [{"name": f"+{name}", "help": help, "axis": axis} for name, axis, help in parts_by_axis()]


def _chaos() -> list[Entry]:
    from scenarios.language.chaos import all_kinds
    from scenarios.language.schema.table_reader import keys_of

    return [
        {"name": name, "help": kind.help, "parameters": [key.name for key in keys_of(kind)]}
        for name, kind in all_kinds().items()
    ]


def _profiles() -> list[Entry]:
    from scenarios.language import PROFILES

    return [
        {"name": p.name, "help": p.help, "strategy": p.strategy, "leaves_out": list(p.leaves_out)}
        for p in PROFILES.values()
    ]


def _bugs() -> list[Entry]:
    from scenarios.profiles.tickets import BUGS

    return [{"name": b.key, "help": b.title, "affected": b.releases, "checker": b.checker} for b in BUGS.values()]


def _policies() -> list[Entry]:
    """The policies by their places, as a profile or a bug of a plug-in names them."""
    from scenarios.profiles.policy_places import places

    return [
        {"name": place.name, "help": place.help, "default": place.default, "elsewhere": place.elsewhere}
        for place in places()
    ]


def _schedules() -> list[Entry]:
    from scenarios.language.schedules import SCHEDULES

    return [{"name": name, "help": help} for name, help in SCHEDULES.items()]


def _plugins() -> list[Entry]:
    from scenarios.plugins import loaded

    return [{"name": p.file or p.module, "help": p.help or "no docstring says what it adds"} for p in loaded()]


def _behaviours() -> list[Entry]:
    from scenarios.language.clients import all_behaviours

    return [{"name": name, "help": one.help} for name, one in all_behaviours().items()]


def _metrics() -> list[Entry]:
    from scenarios.language import METRICS

    return [{"name": m.name, "help": m.help, "form": m.form, "unit": m.unit, "jmx": m.jmx} for m in METRICS.values()]


def _invariants() -> list[Entry]:
    from scenarios.language import INVARIANTS

    return [{"name": name, "help": help} for name, help in INVARIANTS.items()]


def _messages() -> list[Entry]:
    """Kafka's APIs, then the requests to ZooKeeper."""
    from emulator.protocol.api import apis
    from scenarios.language.messages import SESSION_EVENTS, WRITES

    zookeeper = [
        *({"name": name, "help": "a write to ZooKeeper (zk = ...)"} for name in WRITES),
        *({"name": name, "help": "a turn of a ZooKeeper session (zk = ...)"} for name in SESSION_EVENTS),
    ]
    return [*({"name": message.name, "help": message.help} for message in apis().values()), *zookeeper]


def _scenarios() -> list[Entry]:
    from scenarios.language.files import library, load

    return [{"name": name, "help": load(name).title} for name in library()]


def _studies() -> list[Entry]:
    from scenarios.language.files import load, studies

    return [{"name": name, "help": load(name).title} for name in studies()]


KINDS: Mapping[str, Callable[[], list[Entry]]] = {
    "steps": _steps,
    "actions": _actions,
    "strategies": _strategies,
    "profiles": _profiles,
    "bugs": _bugs,
    "policies": _policies,
    "schedules": _schedules,
    "chaos": _chaos,
    "metrics": _metrics,
    "invariants": _invariants,
    "messages": _messages,
    "behaviours": _behaviours,
    "plugins": _plugins,
    "scenarios": _scenarios,
    "studies": _studies,
}
