"""Imports by name hide an arrow from the tests of floors and circles: each has a reason, and a new one needs one."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.house.test_floors import FORBIDDEN, ROOT, files

ONE_FILE = "a new file in its folder is all that a new one takes"
START = "imported when it is asked for, so that a run starts soon"
ABOVE = "what stands above: imported only where a scenario asks for it"
SENT = "a function that is sent to another process by its name"
ALLOWED = {
    "emulator/protocol/api.py": (2, f"{ONE_FILE}; {START}"),
    "scenarios/chaos/kinds/__init__.py": (1, ONE_FILE),
    "scenarios/cli/commands/__init__.py": (1, START),
    "scenarios/cli/recording.py": (1, SENT),
    "scenarios/cluster/clients/behaviours/__init__.py": (1, ONE_FILE),
    "scenarios/faults/actions/__init__.py": (2, f"{ONE_FILE}; {START}"),
    "scenarios/language/actions.py": (1, ABOVE),
    "scenarios/language/chaos.py": (1, ABOVE),
    "scenarios/language/clients.py": (1, ABOVE),
    "scenarios/language/scenario.py": (1, "Scenario.run, the face of Python: reading files depends on no run"),
    "scenarios/language/strategies/parts/__init__.py": (1, ONE_FILE),
    "scenarios/museum/guards/__init__.py": (1, ONE_FILE),
    "scenarios/observe/branch_visits.py": (
        1,
        "all modules of the floors, so that no run is a process's first",
    ),
    "scenarios/observe/invariants.py": (1, f"{ONE_FILE}; {START}"),
    "scenarios/package/understudy/__init__.py": (1, START),
    "scenarios/package/understudy/testing.py": (1, "needs Hypothesis, or what real clients need"),
    "scenarios/plugins.py": (1, "the user's own modules"),
    "scenarios/profiles/tickets/__init__.py": (1, ONE_FILE),
    "scenarios/profiles/profile_registry.py": (1, ONE_FILE),
    "scenarios/runs/runner.py": (1, f"{ABOVE}, and needs the extra wire"),
    "scenarios/studies/spark/chunk.py": (1, SENT),
    "scenarios/wire/apis/base.py": (1, START),
    "scenarios/wire/operations/performing.py": (1, ONE_FILE),
}
"""File to its number of imports by name, and why."""


BY_NAME = ("import_module", "__import__")


def by_name(path: Path) -> Iterator[ast.Call]:
    """The calls that import a module by its name."""
    source = path.read_text(encoding="utf-8")
    if not any(name in source for name in BY_NAME):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in BY_NAME:
                yield node


def test_each_import_by_name_has_a_reason() -> None:
    found = Counter(str(path.relative_to(ROOT)) for floor in FORBIDDEN for path in files(floor) for _ in by_name(path))
    assert found == {path: count for path, (count, _why) in ALLOWED.items()}


def test_no_module_is_named_in_a_string() -> None:
    """In a wheel the floors have other names (setup.py), which only import statements follow."""
    first = {
        f"{path.relative_to(ROOT)}:{call.lineno}": call.args[0]
        for floor in FORBIDDEN
        for path in files(floor)
        for call in by_name(path)
    }
    wrong = [
        place
        for place, name in first.items()
        if isinstance(name, ast.Constant) and str(name.value).partition(".")[0] in FORBIDDEN
    ]
    assert wrong == []


def test_an_import_by_name_is_found(tmp_path: Path) -> None:
    file = tmp_path / "new.py"
    file.write_text('import importlib\nimportlib.import_module("json")\n__import__("ast")\nimport os\n')
    assert [call.lineno for call in by_name(file)] == [2, 3]
