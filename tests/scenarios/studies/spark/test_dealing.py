"""Runs are handed out in chunks by the time that they take, and each once."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from scenarios.errors import BadInput
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import RunSpec
from scenarios.studies.spark import claims
from scenarios.studies.spark.dealing import CHUNK_S, MOST_RUNS, Dealing, without
from tests.scenarios.runs.dataset.runs import spec

A, B = Arm("wiki", "kafka-2.3"), Arm("kafka-6794", "kafka-2.3")


def specs(arm: Arm, count: int) -> tuple[RunSpec, ...]:
    return tuple(evolve(spec(seed, arm.strategy), run_id=f"{arm.strategy}-{seed}") for seed in range(count))


def dealt(dealing: Dealing, cores: int = 2) -> list[tuple[str, int]]:
    """The chunks from now on: the strategy and the size of each."""
    found = []
    while chunk := dealing.deal(cores):
        found.append((chunk[0].arm.strategy, len(chunk)))
    return found


def test_an_arm_without_a_known_time_gets_one_run_and_the_arms_take_turns() -> None:
    dealing = Dealing({A: specs(A, 2), B: specs(B, 2)})
    assert dealt(dealing) == [("wiki", 1), ("kafka-6794", 1), ("wiki", 1), ("kafka-6794", 1)]


def test_chunks_take_about_the_same_time_and_become_smaller_towards_the_end() -> None:
    dealing = Dealing({A: specs(A, 60)})
    dealing.took(A, runs=1, seconds=CHUNK_S / 10)
    assert [size for _, size in dealt(dealing)] == [10, 10, 10, 8, 6, 4, 3, 3, 2, 1, 1, 1, 1]


@pytest.mark.parametrize(("seconds", "size"), [(0.0, MOST_RUNS), (CHUNK_S * 3, 1)])
def test_a_chunk_is_neither_empty_nor_endless(seconds: float, size: int) -> None:
    dealing = Dealing({A: specs(A, 1000)})
    dealing.took(A, runs=1, seconds=seconds)
    assert len(dealing.deal(2)) == size


def test_every_run_is_handed_out_once_and_a_lost_one_again_by_itself() -> None:
    dealing = Dealing(without({A: specs(A, 9), B: specs(B, 4)}, {"wiki-3", "kafka-6794-0"}))
    assert len(dealing) == 11
    dealing.took(A, runs=1, seconds=CHUNK_S / 4)
    lost = dealing.deal(1)
    assert [run.seed for run in lost] == [0, 1, 2, 4]
    dealing.again(lost)
    runs = []
    while chunk := dealing.deal(1):
        runs.append([run.run_id for run in chunk])
    assert runs[:4] == [["wiki-0"], ["wiki-1"], ["wiki-2"], ["wiki-4"]]
    flat = [run for chunk in runs for run in chunk]
    assert len(flat) == len(set(flat)) == 11


def test_a_claim_is_used_once(tmp_path: Path) -> None:
    claim = claims.claim(claims.begin(tmp_path))
    claims.use(claim, lambda: False)
    with pytest.raises(claims.Revoked):
        claims.use(claim, lambda: False)
    claims.use(claim, lambda: True)
    assert claims.revoke(claim, lambda: True), "its worker was faster"


def test_a_revoked_claim_cannot_be_used(tmp_path: Path) -> None:
    claim = claims.claim(claims.begin(tmp_path))
    assert not claims.revoke(claim, lambda: False)
    with pytest.raises(claims.Revoked):
        claims.use(claim, lambda: False)


def test_a_sweep_takes_the_folder_over_from_another(tmp_path: Path) -> None:
    earlier = claims.begin(tmp_path)
    left = claims.claim(earlier)
    later = claims.begin(tmp_path)
    with pytest.raises(claims.Revoked):
        claims.use(left, lambda: False)
    with pytest.raises(BadInput, match="another sweep writes here now"):
        claims.claim(earlier)
    claims.use(claims.claim(later), lambda: False)
    claims.end(earlier)
    assert list(later.parent.iterdir()) == [later], "not the claims of the other"
    claims.end(later)
    assert list(tmp_path.iterdir()) == []
