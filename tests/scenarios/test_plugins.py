"""Which plug-ins are imported, when, and what is said of those that cannot be."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios import plugins
from scenarios.errors import BadInput
from scenarios.runs.dataset.identity import code_digest, command_line


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    before = dict(plugins._LOADED)
    yield
    plugins._LOADED.clear()
    plugins._LOADED.update(before)


def plugin(folder: Path, text: str, name: str = "mine.py") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_a_file_is_imported_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = plugin(tmp_path, '"""Says when it is imported."""\nprint("imported")')
    plugins.load([file])
    plugins.load([file])
    assert capsys.readouterr().out == "imported\n"
    assert [(one.file, one.help) for one in plugins.loaded()] == [(file, "Says when it is imported.")]


def test_files_of_the_variable_are_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [plugin(tmp_path, "", "one.py"), plugin(tmp_path, "", "two.py")]
    monkeypatch.setenv(plugins.VARIABLE, os.pathsep.join(files))
    plugins.load()
    assert [one.file for one in plugins.loaded()] == files


def test_the_identity_of_runs_covers_their_text(tmp_path: Path) -> None:
    before = code_digest()
    plugins.load([plugin(tmp_path, "x = 1")])
    first = code_digest()
    plugin(tmp_path, "x = 2")
    assert len({before, first, code_digest()}) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n1 / 0", r"--plugin: plug-in .*mine\.py: ZeroDivisionError: division by zero, line 2 of mine\.py"),
        ("x = (", r"plug-in .*mine\.py: SyntaxError"),
        ("from understudy.plugins import nothing", r"cannot import name 'nothing'"),
    ],
)
def test_one_that_cannot_be_imported_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plugins.load([plugin(tmp_path, text)])
    assert not plugins.loaded()


NAMES = """from __future__ import annotations
from attrs import frozen
from understudy.events import LeaderElected
from understudy.plugins import *
"""
ACTION = """
@action("x.y", "acts")
@frozen(kw_only=True)
class Mine(PerformedAction):
    async def perform(self, context): ...
"""
ORDER = """
@order("x-first", "orders")
async def x_first(moves, _): ...
"""
BEHAVIOUR = """
@behaviour("x", "runs")
@frozen(kw_only=True)
class Mine(Behaviour):
    def run(self, client): ...
"""
CHECKER = """
@checker
class Mine(Checker):
    name, ids, statement = "mine", ("I9",), "says"
    async def on_election(self, event: LeaderElected): ...
"""
BUG = """
texts = dict(title="t", affected="a", happened="h", here="h", source="s")
register_ticket(Ticket(key="X-1", checker="isr_complet", policies={"brokers.checks_epochs": False}, **texts))
"""
POLICY = """
difference = Difference(title="t", here="h", source="s", policies={"controller.retry_pause": 1})
PROFILES["kafka-2.4"].with_differences(difference, name="mine", help="mine")
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ACTION, "Mine.perform may not be async: it acts at one instant"),
        (ORDER, "order 'x-first' may not be async: it acts at one instant"),
        (BEHAVIOUR, "Mine.run has to be async def"),
        (CHECKER, "Mine.on_election may not be async: it acts at one instant"),
        (CHECKER.replace("async def", "def").replace("LeaderElected", "Elected"), "name 'Elected' is not defined"),
        (CHECKER.replace("name, ids", "nam, ids"), "the checker Mine has no name"),
        (ACTION.replace("async def", "def").replace("x.y", "heal"), "there is an action 'heal' already: scenarios.*"),
        (
            ORDER.replace("async def", "def").replace("x-first", "x first"),
            "order 'x first' is no name; write letters, .*",
        ),
        (ORDER.replace("async def", "def").replace("x-first", "random"), "there is a part of strategies 'random' .*"),
        (BUG, r"ticket 'X-1' names the unknown checker 'isr_complet'; did you mean 'isr_complete'\?"),
        (BUG.replace("X-1", "X 1").replace("complet", "complete"), "ticket 'X 1' is no name; .*"),
        (POLICY, r"ControllerPolicies has no 'retry_pause'; did you mean 'retry_pause_us'\?"),
    ],
)
def test_what_could_not_work_is_refused_with_the_line_that_registers_it(
    tmp_path: Path, text: str, message: str
) -> None:
    """Without that it would be called and do nothing, or fail in the middle of a run."""
    line = "[67]"
    with pytest.raises(BadInput, match=rf"plug-in .*: \w+Error: {message}, line {line} of mine\.py$"):
        plugins.load([plugin(tmp_path, NAMES + text)])


def test_a_wrong_line_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        plugins.load([plugin(tmp_path, "def f(:")])
    assert str(refused.value).endswith("mine.py: SyntaxError: invalid syntax (mine.py, line 1)")


def test_commands_that_repeat_something_name_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = plugin(tmp_path, "")
    plugins.load([file])
    assert command_line("run", "a file.toml") == f"./understudy run 'a file.toml' --plugin {file}"
    monkeypatch.chdir(tmp_path)
    assert command_line("run", "x.toml") == "./understudy run x.toml --plugin mine.py"


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--plugin: '.*' is no Python file; write the path of one"):
        plugins.load([str(tmp_path / "gone.py")])


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    plugins.load([plugin(tmp_path, "")])
    with pytest.raises(BadInput, match="have the same name; rename one"):
        plugins.load([plugin(tmp_path / "other", "")])
