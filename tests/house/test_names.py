"""A name is found at one place: file names inside a top folder, class names inside a floor."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = ("emulator", "fetchers", "brokers", "controller", "scenarios")
FAMILIES = (
    ("emulator/protocol", "emulator/protocol/clients"),
    ("brokers/coordinators", "brokers/groups", "brokers/transactions"),
    ("scenarios/wire/codec/messages", "scenarios/wire/apis"),
    ("scenarios/observe/measures", "scenarios/studies/spark/aggregations"),
    ("scenarios/chaos/kinds", "scenarios/faults/actions"),
)
"""Folders of which one mirrors the other: the same APIs of emulated and of real clients, the two kinds of coordinator,
an API's message and its meaning, a figure online and by Spark, what is drawn and the action that it becomes."""

NAMED_AFTER = ("scenarios/cli/commands", "scenarios/package/understudy", "scenarios/profiles/tickets")
"""Their files are named after what is elsewhere: a command, a public module, the part of Kafka that tickets concern."""


CLASS = re.compile(r"^\s*class\s+(\w+)", re.MULTILINE)
"""The name of what is a class, or looks like one in a text."""


def twice(paths: Iterable[str]) -> list[str]:
    """The files of one top folder that share their name and are not of one family."""
    places: dict[str, dict[object, str]] = defaultdict(dict)
    wrong: list[str] = []
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        if name.startswith("__") or folder in NAMED_AFTER:
            continue
        place: object = next((family for family in FAMILIES if folder in family), folder)
        places[name][place] = path
    for same in places.values():
        if len(same) > 1:
            wrong.append(" and ".join(same.values()))
    return wrong


def classes_twice(sources: dict[str, str]) -> list[str]:
    """The classes of one floor that share their name: public ones, and private ones of one folder."""
    places: dict[str, set[str]] = defaultdict(set)
    known = Counter(name for source in sources.values() for name in CLASS.findall(source))
    for path, source in sources.items():
        if all(known[name] == 1 for name in CLASS.findall(source)):
            continue  # and need not be parsed
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                room = path.rpartition("/")[0] if node.name.startswith("_") else ""
                places[f"{room}:{node.name}"].add(path)
    found = sorted((name.partition(":")[2], sorted(same)) for name, same in places.items() if len(same) > 1)
    return [f"{name}: {', '.join(same)}" for name, same in found]


def of(floor: str) -> list[str]:
    return [str(path.relative_to(ROOT)) for path in sorted((ROOT / floor).rglob("*.py"))]


@pytest.mark.parametrize("floor", FLOORS)
def test_a_file_name_stands_once_in_its_top_folder(floor: str) -> None:
    assert twice(of(floor)) == []


@pytest.mark.parametrize("floor", FLOORS)
def test_a_class_name_stands_once_in_its_floor(floor: str) -> None:
    assert classes_twice({path: (ROOT / path).read_text() for path in of(floor)}) == []


def test_the_rules_can_be_broken() -> None:
    assert twice(["brokers/log/config.py", "brokers/config.py"]) == ["brokers/config.py and brokers/log/config.py"]
    assert twice(["brokers/groups/config.py", "brokers/transactions/config.py"]) == []
    found = classes_twice({"a/x.py": "class Known: ...", "b/y.py": "class Known: ..."})
    assert found == ["Known: a/x.py, b/y.py"]
    assert classes_twice({"a/x.py": "class _P: ...", "b/y.py": "class _P: ..."}) == []
    assert classes_twice({"a/x.py": "class _P: ...", "a/y.py": "class _P: ..."}) == ["_P: a/x.py, a/y.py"]
