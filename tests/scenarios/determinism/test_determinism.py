"""A run is a function of its scenario, its strategy, its profile and its seed, and of nothing else."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from emulator.kernel import Backend
from scenarios.cli.check import check
from scenarios.cli.exits import NOT_DETERMINISTIC
from scenarios.language import Scenario
from scenarios.runs.runner import Stage, prepare
from tests.scenarios.determinism.digests import LIBRARY
from tests.scenarios.runs.building import EXECUTE, at_step, scenario

PROJECT = Path(__file__).parents[3]
HASH_SEEDS = 2
RUNS = (
    "controller-dies-mid-move:wiki",
    "controller-dies-mid-move:kafka-6794",
    "leader-dies-mid-move:wiki",
    "reassign-override:kip-455",
)
SCENARIOS = {path.stem: Scenario.load(path) for path in sorted(LIBRARY.glob("*.toml"))}
LONGEST = "throttled-move-stands-still"
"""The scenario that takes as long as twenty others, and is left to slow tests."""
FEWER_EVENTS = {"workloads[0].linger": "500ms"}
"""For every scenario that has a load and does not state a linger itself, except in slow tests."""


def digests(hash_seed: int) -> dict[str, str]:
    """The digests of RUNS, from another process whose Python hashes strings in its own way."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.scenarios.determinism.digests", *RUNS],
        cwd=PROJECT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["unwanted"] == []
    found: dict[str, str] = answer["digests"]
    return found


def test_processes_that_hash_in_their_own_way_have_one_digest() -> None:
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(digests, range(HASH_SEEDS)))
    assert len(found[0]) == len(set(found[0].values())) == len(RUNS), "different runs differ"
    assert found == found[:1] * HASH_SEEDS


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name != LONGEST])
def test_both_backends_have_one_digest_and_no_sent_message_is_changed(name: str) -> None:
    """Under the file's own strategy; every third file under one of the others in turn instead."""
    wanted = SCENARIOS[name]
    if "linger" not in wanted.to_table().get("workloads", [{"linger": None}])[0]:
        wanted = wanted.with_overrides(FEWER_EVENTS)
    own, *others = strategies(wanted)
    again, turn = divmod(list(SCENARIOS).index(name), 3)
    same_on_both_backends(wanted, [others[again % len(others)] if others and turn == 0 else own])


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_it_is_so_with_all_events_and_under_every_strategy(name: str) -> None:
    same_on_both_backends(SCENARIOS[name], strategies(SCENARIOS[name]))


def same_on_both_backends(wanted: Scenario, under: list[str]) -> None:
    """Tasks that leave Trio's scheduler while they wait, and tasks that stay in it, make the same run; the latter with
    every message hashed at both ends, under the first strategy. Strategies that make the same events, as without a
    plan, are one run, which is played once on the second backend."""
    of_digest: dict[str, str] = {}
    for strategy in under:
        of_digest.setdefault(digest(wanted, strategy, "detached"), strategy)
    found = {digest(wanted, each, "attached", paranoid=each == under[0]): each for each in of_digest.values()}
    assert found == of_digest


def strategies(found: Scenario) -> list[str]:
    """The file's own is the first."""
    own = found.strategy.stated or found.strategy.native
    return list(dict.fromkeys([own] if "kip-455" in found.tags else [own, "wiki", "kafka-6794", "kip-455"]))


def digest(wanted: Scenario, strategy: str, backend: Backend, *, paranoid: bool = False) -> str:
    stage = Stage(prepare(wanted, strategy=strategy), figures=False, backend=backend)
    stage.cluster.network.paranoid = paranoid
    stage.play()
    return stage.cluster.trace.digest()


@pytest.mark.parametrize("change", [{"seed": "43"}, {"workloads[0].producerRate": "999"}])
def test_another_scenario_has_another_digest(change: dict[str, str]) -> None:
    original = Scenario.load(LIBRARY / "controller-dies-mid-move.toml")
    assert original.with_overrides(change).run().digest != original.run().digest


# -- the test can fail ------------------------------------------------------------------------------------------


def five_partitions() -> Scenario:
    """A short move; every tick of the producer has a batch for each of five partitions."""
    crash = at_step("move.start", "after", "controller.crash")
    return scenario(
        assignment=[[0, 1], [1, 2], [2, 0], [0, 2], [1, 0]], plan={0: [3, 4]}, method=[EXECUTE, crash], horizon="1m"
    )


def test_an_injected_fault_is_noticed_and_the_first_event_named(capsys: pytest.CaptureFixture[str]) -> None:
    """The order of a set of strings reaches the trace with the producer's first batches."""
    recorder = "tests.scenarios.determinism.hash_dependent:record"
    assert check(five_partitions(), as_json=True, recorder=recorder) == NOT_DETERMINISTIC
    answer = json.loads(capsys.readouterr().out)
    assert answer["deterministic"] is False
    assert len(set(answer["digests"])) == 2
    difference = answer["first_difference"]
    first, second = difference["first"], difference["second"]
    assert (first["kind"], second["kind"]) == ("Appended", "Appended")
    assert (first["seq"], first["t_us"] < 500_000) == (second["seq"], True)
    assert first != second
