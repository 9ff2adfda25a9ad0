"""``test``: all parts run whatever fails, pytest with what follows; a clear line where there are no tests."""

from __future__ import annotations

import subprocess
from argparse import Namespace
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest

from scenarios.cli.commands import suite
from scenarios.runs.dataset import identity
from tests.scenarios.cli.conftest import Call


def test_outside_a_checkout(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "IMPORT_ROOT", tmp_path)
    monkeypatch.setattr(suite, "_parts", lambda extra: pytest.fail("it would run the tests of this checkout"))
    called = call("test")
    assert (called.code, called.out) == (2, "")
    assert called.line == ("understudy: test: there are no tests in an installation; run ./understudy test in a clone")


def test_what_follows_goes_to_pytest_which_is_the_last(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = parts(monkeypatch, failing={"ruff"})
    called = call("test", "-k", "name", "--seed", "--", "x")
    assert seen["ruff"] == ["ruff", "check", "."]
    assert seen["format"][:2] == ["ruff", "format"]
    assert seen["mypy"] == ["mypy"]
    assert seen["pytest"] == ["pytest", "-rfEs", "-k", "name", "--seed", "--", "x"]
    assert [name for name in seen if name != "mypy"] == ["ruff", "format", "pytest"]
    assert called.code == 1
    assert called.line == "understudy: failed: ruff"


@pytest.mark.parametrize(("processors", "workers"), [(1, "2"), (2, "3"), (3, "4"), (64, "4")])
def test_the_whole_suite_is_run_by_a_few_workers(
    processors: int, workers: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: processors)
    seen = parts(monkeypatch)
    assert call("test").code == 0
    assert seen["pytest"] == ["pytest", "-rfEs", "-n", workers]


def test_what_the_type_checker_finds_fails_the_whole(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    parts(monkeypatch, failing={"mypy"})
    called = call("test")
    assert (called.code, called.line) == (1, "understudy: failed: mypy")


def parts(monkeypatch: pytest.MonkeyPatch, failing: AbstractSet[str] = frozenset()) -> dict[str, list[str]]:
    """The command of each part that is run from now on, of which none is."""
    seen: dict[str, list[str]] = {}

    def passes(name: str, command: list[str], root: Path) -> bool:
        seen[name] = command
        return name not in failing

    monkeypatch.setattr(suite, "_passes", passes)
    monkeypatch.setattr(suite, "_passes_beside", passes)
    return seen


def test_the_processes_that_tests_start_find_the_program_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    seen: list[str] = []

    def start(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        seen.extend(env)
        return subprocess.CompletedProcess(command, 0, stdout="")

    monkeypatch.setattr(subprocess, "run", start)
    assert suite.run(Namespace(extra=["-k", "name"])) == 0
    assert "PATH" in seen
    assert "PYTHONDONTWRITEBYTECODE" not in seen


@pytest.mark.parametrize(
    ("first", "beside", "code"), [("this", "this", 0), ("no_such", "this", 1), ("this", "no_such", 1)]
)
def test_a_part_is_a_module_of_this_python(
    first: str, beside: str, code: int, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite, "_parts", lambda extra: [(first, [first])])
    monkeypatch.setattr(suite, "TYPES", (beside, [beside]))
    called = call("test")
    assert called.code == code
    assert "No module named no_such" in called.out if beside == "no_such" else "by Tim Peters" in called.out
