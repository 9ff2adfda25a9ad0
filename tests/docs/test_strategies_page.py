"""docs/strategies.md: the names on it exist, and the parts of its tutorial work as printed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from emulator.protocol.events import MoveFinished, MoveStarted
from scenarios.cli import commands
from scenarios.cli.parser import Program
from scenarios.language.strategies import PARTS, parse_strategy
from tests.docs.pages import fenced, text_of
from tests.scenarios.runs.building import EXECUTE, Played, play, scenario

PAGE = "strategies.md"


@pytest.fixture(autouse=True)
def taught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each of the page's blocks as a file of its own, found as the folder of parts finds its files."""
    before = dict(PARTS)
    for number, block in enumerate(fenced(PAGE, "python")):
        name = f"taught_part_{number}"
        path = tmp_path / f"{name}.py"
        path.write_text(block.text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
    yield
    PARTS.clear()
    PARTS.update(before)


def carry_out(strategy: str) -> Played:
    """Six partitions move; the fifth only changes its order, and needs no copy."""
    plan = {p: [0, 1, 3] for p in range(6)} | {4: [2, 1, 0]}
    wanted = scenario(
        brokers=5, controller=4, assignment=[[0, 1, 2]] * 6, plan=plan, method=[EXECUTE], rate=0, strategy=strategy,
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    assert played.run.metrics["moves_finished"] == 6
    return played


def test_slow_start_grows_with_each_move_that_has_ended() -> None:
    """ZooKeeper takes one batch at a time: so 1, then 2, then 3 of the 4 that it would allow."""
    batches: dict[int, int] = {}
    for event in carry_out("wiki+slow-start-4").of(MoveStarted):
        batches[event.t_us] = batches.get(event.t_us, 0) + 1
    assert list(batches.values()) == [1, 2, 3]


def test_fewest_added_first() -> None:
    started = [event.partition for event in carry_out("wiki+serial+fewest-added-first").of(MoveStarted)]
    assert started == [4, 0, 1, 2, 3, 5]


def test_they_compose() -> None:
    played = carry_out("kafka-6794+slow-start-2+fewest-added-first+poll-500ms")
    times = [event.t_us for event in played.of(MoveStarted)]
    assert all(later == earlier or later - earlier > 490_000 for earlier, later in pairwise(times))
    assert played.of(MoveFinished)[0].partition == 4


def test_the_names_on_the_page_are_names() -> None:
    names = [line.split("  ")[0] for line in fenced(PAGE, "text")[0].text.splitlines() if line.startswith(("w", "k"))]
    assert len(names) == 6
    for name in names:
        assert parse_strategy(name).name == name


def test_a_new_file_in_the_folder_is_all_it_takes() -> None:
    """The files that are there were found in the same way."""
    from scenarios.language.strategies import parts

    files = {path.stem for path in Path(parts.__path__[0]).glob("*.py")} - {"__init__"}
    assert {part.rule.__module__.rpartition(".")[2] for part in PARTS.values()} >= files


def test_the_commands_of_the_page_are_commands() -> None:
    for line in fenced(PAGE, "sh")[0].text.splitlines():
        words = line.replace("FILE", "quick-move").split()
        assert words[0] == "./understudy"
        program = Program(commands.version)
        commands.add_all(program)
        assert callable(program.read(words[1:]).run)


def test_the_page_says_what_a_planned_move_has() -> None:
    from scenarios.language.strategies import PlannedMove, Progress

    page = text_of(PAGE)
    names = [name for name in dir(PlannedMove) if not name.startswith("_")]
    names += [name for name in dir(Progress) if not name.startswith("_")]
    assert [name for name in names if f"`{name}`" not in page] == []
