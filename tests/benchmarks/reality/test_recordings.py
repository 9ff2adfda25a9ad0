"""Recordings of real moves: what they hold, and that the emulator's durations are near them. Needs no Java."""

import re
from pathlib import Path

import pytest
from attrs import evolve

from benchmarks.reality.__main__ import PAGE
from benchmarks.reality.beside import ANSWERS, CLOSE, MOST, TARGET, Beside, beside, lines, problems
from benchmarks.reality.folder import CONFIGS, LOG_DIRS, PLAN, RATES, TOPICS, read, recorded, write
from benchmarks.reality.imported import scenario_of
from benchmarks.reality.moves import MOVES
from scenarios.forecasting.trials import Mean

LARGEST_BYTES = 200_000
LIGHT = {"one-partition.1", "skewed.1"}
"""Recordings of moves whose emulation takes a second: nothing is written meanwhile."""
FOLDERS = pytest.mark.parametrize("folder", recorded(), ids=lambda folder: folder.name)


def test_every_move_is_recorded() -> None:
    assert {folder.stem for folder in recorded()} == set(MOVES)


@FOLDERS
def test_a_recording_is_of_the_move_as_it_is_described(folder: Path) -> None:
    reality, move = read(folder), MOVES[folder.stem]
    scenario = scenario_of(reality, folder)
    assert (reality.name, reality.release, reality.title) == (move.name, move.release, move.title)
    assert reality.throttle == move.throttle_mb * 1_000_000
    assert scenario.cluster.brokers == move.brokers
    assert scenario.plan is not None
    targets = scenario.plan.targets()
    specs = {each.name: each for each in scenario.topics}
    for topic in move.topics:
        spec = specs[topic.name]
        assert spec.replica_lists(range(move.brokers)) == topic.before
        sizes = spec.sizes or [spec.size_bytes] * spec.partitions
        assert sum(sizes) == pytest.approx(topic.size_mb * 1e6, rel=0.07)  # and what was written before
        assert [targets[f"{topic.name}-{number}"] for number in range(len(topic.after))] == [*topic.after]


@FOLDERS
def test_the_imported_rates_are_those_that_were_written(folder: Path) -> None:
    reality = read(folder)
    loads = scenario_of(reality, folder).workloads
    written = sum(load.producer_rate * load.message_size for load in loads)
    assert written == pytest.approx(sum(reality.writes.values()), rel=0.05)


@FOLDERS
def test_a_recording_is_small_and_names_no_machine(folder: Path) -> None:
    reality = read(folder)
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert set(texts) - {RATES} == {TOPICS, LOG_DIRS, CONFIGS, PLAN, "measured.json"}
    assert (RATES in texts) == bool(reality.writes)
    assert sum(map(len, texts.values())) < LARGEST_BYTES
    assert not re.search(r"/tmp/(?!kafka-logs)|127\.0\.0\.1|localhost", "".join(texts.values()))


@FOLDERS
def test_a_recording_that_is_read_and_written_is_the_same(folder: Path, tmp_path: Path) -> None:
    write(read(folder), {}, tmp_path)
    assert (tmp_path / "measured.json").read_bytes() == (folder / "measured.json").read_bytes()


@pytest.fixture(scope="module")
def emulated() -> list[Beside]:
    return [beside(folder, seeds=[1]) for folder in recorded() if folder.name in LIGHT]


def too_far(found: list[Beside]) -> list[str]:
    return [each.recording for _, error in ANSWERS for each in found if abs(error(each)) > TARGET]


def test_the_emulators_durations_of_moves_with_few_events_are_near_the_measured_ones(emulated: list[Beside]) -> None:
    assert len(emulated) == len(LIGHT)
    assert too_far(emulated) == []


@pytest.mark.slow
def test_all_durations_are_near_the_measured_ones() -> None:
    emulated = [beside(folder, seeds=[1]) for folder in recorded() if folder.suffix == ".1"]
    assert too_far(emulated) == []
    for _, error in ANSWERS:
        assert sum(abs(error(each)) <= CLOSE for each in emulated) >= MOST


def test_the_page_has_every_recording_with_its_duration() -> None:
    measured = {folder.name: pytest.approx(read(folder).duration_s, abs=0.051) for folder in recorded()}
    emulated, _, foretold = PAGE.read_text(encoding="utf-8").partition("| forecast of")
    for text, column in ((emulated, 4), (foretold, 1)):
        rows = [line for line in text.splitlines() if line.startswith("| `")]
        assert {row.split("`")[1]: float(row.split(" | ")[column]) for row in rows} == measured


def test_a_duration_that_is_too_far_off_is_a_problem(emulated: list[Beside]) -> None:
    far = evolve(emulated[0], emulated_s=tuple(1.2 * took_s for took_s in emulated[0].emulated_s))
    assert f"{far.recording}: exact runs off by " in "\n".join(problems([*emulated, far]))
    assert f"{far.recording}: " not in "\n".join(problems(emulated))
    assert "exact runs within 10%: 2 of 3" in "\n".join(lines([*emulated, far]))


def test_a_forecast_that_is_too_far_off_is_a_problem(emulated: list[Beside]) -> None:
    first = emulated[0]
    late = evolve(first.foretold, run_s=Mean(1.2 * first.foretold.run_s.value, None, None))
    far = evolve(first, foretold=late)
    off = [problem.partition(" off")[0] for problem in problems([*emulated, far]) if " off by " in problem]
    assert off == [f"{far.recording}: runs of the forecast"]


def test_too_few_moves_that_are_close_are_a_problem(emulated: list[Beside]) -> None:
    assert "exact runs: 1 moves within 3%, wanted 4" in problems(emulated[1:2])
