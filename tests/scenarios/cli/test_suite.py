"""``test``: all parts run whatever fails, pytest last with what follows; a clear line where there are no tests."""

from __future__ import annotations

import subprocess
from argparse import Namespace
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
    seen: list[list[str]] = []

    def passes(name: str, command: list[str], root: Path) -> bool:
        seen.append(command)
        return name != "ruff"

    monkeypatch.setattr(suite, "_passes", passes)
    called = call("test", "-k", "name", "--seed", "--", "x")
    assert [command[0] for command in seen] == ["ruff", "ruff", "mypy", "pytest"]
    assert [command[1] for command in seen[:2]] == ["check", "format"]
    assert seen[-1] == ["pytest", "-k", "name", "--seed", "--", "x"]
    assert called.code == 1
    assert called.line == "understudy: failed: ruff"


def test_the_whole_suite_is_run_by_a_few_workers(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def passes(name: str, command: list[str], root: Path) -> bool:
        seen.append(command)
        return True

    monkeypatch.setattr(suite, "_passes", passes)
    assert call("test").code == 0
    assert seen[-1] == ["pytest", "-n", "auto", "--maxprocesses", "4"]


def test_the_processes_that_tests_start_find_the_program_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    seen: list[str] = []

    def start(command: list[str], *, env: dict[str, str], **_: object) -> subprocess.CompletedProcess[str]:
        seen.extend(env)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", start)
    assert suite.run(Namespace(extra=["-k", "name"])) == 0
    assert "PATH" in seen
    assert "PYTHONDONTWRITEBYTECODE" not in seen


@pytest.mark.parametrize(("module", "code"), [("this", 0), ("no_such_module", 1)])
def test_a_part_is_a_module_of_this_python(module: str, code: int, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "_parts", lambda extra: [(module, [module])])
    assert call("test").code == code
