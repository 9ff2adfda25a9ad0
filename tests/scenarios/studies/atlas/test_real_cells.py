"""Cells, run: they show what is known of the protocols, turn unsafe without a guard, and are the same everywhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve

from controller.state_machines.leader_elections import LeaderElections
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.studies.atlas.atlas import Atlas, find, run_cell
from scenarios.studies.atlas.plans import PLANS
from tests.scenarios.cli.tool import call

ATLAS = Atlas(protocols=(), plans=PLANS)


def cell(name: str) -> CellRow:
    baseline, found = find(name, ATLAS)
    row = run_cell(baseline, found, ATLAS.replay)
    assert row is not None
    return row


def test_a_controller_s_death_before_the_move_is_taken_up_costs_nothing() -> None:
    row = cell("wiki/0,1,2-1,3,4/1.before/controller/crash")
    assert (row.outcome, row.why) == ("finished", "")
    assert row.healed_us < row.virtual_us


def test_acks_1_is_lost_between_the_election_and_stop_replica() -> None:
    """kafka-behaviour §12: the old leader gets no request until StopReplica, and goes on acknowledging."""
    row = cell("wiki/0,1,2-1,3,4/9.before/controller/crash")
    assert (row.outcome, row.harm) == ("harmed", "acks-1-loss")
    assert "steps-rerun" in row.harms


def test_a_removed_replica_that_is_down_is_left_behind() -> None:
    row = cell("wiki/0,1,2-1,3,4/5.before/removing/crash")
    assert row.harms == ("stray",)
    assert row.why == "stray replica on broker 2"


def test_kafka_6794_leaves_the_leader_outside_where_its_controller_dies_in_the_last_hop() -> None:
    """readings §2: step 5 writes the assignment before the leader moves, and the resumed move looks done."""
    row = cell("kafka-6794/0,1,2-1,3,4/hop3.5.after/controller/crash")
    assert row.outcome == "harmed"
    assert row.harms == ("leader-outside-assignment", "isr-outside-assignment", "stray")
    assert row.virtual_us - row.healed_us >= 600_000_000, "it had ten minutes to recover"


@pytest.mark.parametrize("step", ["6.after", "9.before"])
def test_kafka_6794_leaves_a_leader_that_no_replica_can_follow(step: str) -> None:
    """Step 6 has raised the epoch; the next controller sends it to the assigned replicas, and the leader is not one of
    them."""
    row = cell(f"kafka-6794/0,1,2-1,3,4/hop3.{step}/controller/crash")
    assert row.outcome == "stuck"
    assert "does not follow leader 0" in row.why
    assert "KAFKA-6794" in row.known


def test_a_cut_link_is_healed_and_the_move_ends() -> None:
    assert cell("wiki/0,1,2-1,3,4/4.before/adding/cut").outcome == "finished"


def test_an_election_that_forgets_to_raise_the_epoch_makes_cells_unsafe(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = LeaderElections.successor

    def same_epoch(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        return evolve(raised(self, state, **changes), leader_epoch=state.leader_epoch)

    baseline, found = find("wiki/0,1,2-1,3,4/1.before/leader/crash", ATLAS)
    honest = run_cell(baseline, found, ATLAS.replay)
    monkeypatch.setattr(LeaderElections, "successor", same_epoch)
    broken = run_cell(baseline, found, ATLAS.replay)
    assert honest is not None
    assert broken is not None
    assert honest.outcome != "unsafe"
    assert broken.outcome == "unsafe"
    assert "one_leader_per_epoch" in broken.why


def test_a_cell_is_one_run_in_every_process() -> None:
    name = "kafka-6794/0,1,2-1,3,4/hop2.10.before/leader/pause"
    here = cell(name)
    for hash_seed in ("1", "4242"):
        done = call("atlas", "--cell", name, "--format", "json", env={"PYTHONHASHSEED": hash_seed})
        assert done.returncode == 0, done.stderr
        there = json.loads(done.stdout)
        assert there["digest"] == here.digest
        assert tuple(there["timeline"]) == here.timeline
