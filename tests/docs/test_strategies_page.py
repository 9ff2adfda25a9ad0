"""docs/use/strategies.md: the names on it exist, and the parts of its tutorial work as printed."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from emulator.protocol.events import MoveFinished, MoveStarted
from emulator.protocol.znodes import decode_config
from emulator.trace.events import ZkWritten
from scenarios.cli import commands
from scenarios.cli.parser import Program
from scenarios.errors import BadInput
from scenarios.language.strategies import PARTS, parse_strategy
from tests.docs.pages import fenced, text_of
from tests.scenarios.runs.building import EXECUTE, Played, Table, play, scenario

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


def copied(strategy: str, *faults: Table) -> Played:
    """A partition of 100 MB gets a new replica, over cards of 12 MB/s and beside a load."""
    network = {"egress": "12MB/s", "ingress": "12MB/s"}
    wanted = scenario(
        brokers=5, controller=4, assignment=[[0, 1, 2]] * 2, plan={0: [0, 1, 3]}, method=[EXECUTE, *faults], rate=400,
        size="100MB", strategy=strategy, cluster={"network": network}, horizon="5m",
        config={"replica.lag.time.max.ms": 2_000},
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed, played.run.explanation
    return played


def rates(played: Played) -> list[int]:
    """The rates of broker 0, one after the other."""
    written = (decode_config(e.data) for e in played.of(ZkWritten, lambda e: e.path == "/config/brokers/0"))
    return [int(config["leader.replication.throttled.rate"]) for config in written if config]


def seconds(played: Played) -> float:
    """How long the move took."""
    return float(played.run.metrics["time_to_complete_s"] or 0)


def test_aimd_is_an_arm_beside_a_fixed_throttle() -> None:
    """It starts as low, and is done earlier: a megabyte per second more at each look."""
    fixed, adapted = copied("wiki+throttle-2MB"), copied("wiki+aimd-2")
    assert rates(fixed) == [2_000_000]
    found = rates(adapted)
    assert found == [2_000_000 + step * 1_000_000 for step in range(len(found))]
    assert seconds(adapted) == pytest.approx(11.2, abs=0.5)
    assert seconds(fixed) == pytest.approx(70.1, abs=0.5)
    assert adapted.run.strategy == "wiki+aimd-2"
    assert copied("wiki+aimd-2").run.digest == adapted.run.digest


def test_aimd_gives_way_where_an_isr_has_shrunk() -> None:
    found = rates(copied("wiki+aimd-2", {"at": "4s", "action": "broker.pause", "target": 2, "duration": "4s"}))
    lowered = [(before, after) for before, after in pairwise(found) if after < before]
    assert lowered
    assert all(after == before // 2 for before, after in lowered)


@pytest.mark.parametrize("strategy", ["wiki+serial+aimd-2", "kip-455+waves-1+aimd-2+poll-500ms", "kip-455+aimd-2"])
def test_a_rate_goes_with_the_other_parts(strategy: str) -> None:
    found = rates(copied(strategy))
    assert found[:3] == [2_000_000, 3_000_000, 4_000_000]


def test_a_rate_is_a_throttle() -> None:
    with pytest.raises(BadInput, match="two parts set the throttle"):
        parse_strategy("wiki+aimd-2+throttle-2MB")
    with pytest.raises(BadInput, match="waits for the end of the plan"):
        scenario(strategy="kafka-42+aimd-2", plan={0: [0, 1, 3]}, method=[EXECUTE])


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
    from scenarios.language.strategies import Look, PlannedMove, PlanProgress

    page = text_of(PAGE)
    names = [name for kind in (PlannedMove, PlanProgress, Look) for name in dir(kind) if not name.startswith("_")]
    assert [name for name in names if f"`{name}`" not in page and f"`{name}(" not in page] == []
