"""The model of whole runs of the library: what it says agrees with what the run said of itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from scenarios.studies.report.run import model as module
from scenarios.studies.report.run.model import model
from scenarios.studies.report.run.recorded import RecordedRun

Recorded = Callable[[str], RecordedRun]


def plain(run: RecordedRun) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(model(run), allow_nan=False))
    return found


def test_a_controller_that_dies_mid_move(recorded: Recorded) -> None:
    found = plain(recorded("controller-dies-mid-move"))
    assert (found["run"]["verdict"], found["run"]["strategy"]) == ("passed", "wiki")
    assert found["said"]["headlines"][0] == ["acknowledged data lost", "acks=all: none", []]
    assert found["said"]["replay"].endswith("--seed 42")
    assert [epoch for _, _, epoch in found["controllers"]] == [1, 2]
    [partition] = found["partitions"]
    assert partition["name"] == "orders-0"
    assert partition["rows"]["3"][-1][2] == "L"
    [move] = partition["moves"]
    assert (move[2], move[3], move[4]) == ([0, 1, 2], [3, 4, 5], True)
    assert [span[2] for span in found["brokers"]["6"]] == ["o", "C", "x", "o"]
    assert {"wiki.3", "wiki.4"} <= {step["step"] for step in partition["steps"]}
    assert found["left_out"] == []


def test_the_states_tile_the_life_of_a_partition_and_the_logs_end_alike(recorded: Recorded) -> None:
    found = plain(recorded("controller-dies-mid-move"))
    [partition] = found["partitions"]
    states = partition["states"]
    assert all(one[0] + one[1] == other[0] for one, other in pairwise(states))
    assert states[-1][0] + states[-1][1] == found["run"]["virtual_us"]
    ends = {broker: log["leo"][1][-1] for broker, log in partition["logs"].items()}
    assert ends["3"] == ends["4"] == ends["5"]
    assert ends["0"] == ends["1"] == ends["2"] == -1


def test_a_run_that_loses_records(recorded: Recorded) -> None:
    found = plain(recorded("unclean-election"))
    [bad] = found["said"]["headlines"][0][2]
    assert bad == "acks=all: 3,000 records in 300 batches"
    assert "failure" in {event["kind"] for event in found["events"]}
    crash = next(one for one in found["recoveries"] if one["t_us"] == 40_000_000)
    assert [harm["kind"] for harm in crash["harms"]] == ["offline", "under_replicated_final"]
    assert found["cuts"]["1"][0][2].startswith("broker 0 <-> broker 1")


@pytest.mark.parametrize(("name", "limit"), [("MOST_STEPS", 3), ("MOST_PARTITIONS", 1)])
def test_what_is_left_out_is_said(recorded: Recorded, monkeypatch: pytest.MonkeyPatch, name: str, limit: int) -> None:
    monkeypatch.setattr(module, name, limit)
    run = recorded("kip-461-one-of-twenty" if name == "MOST_PARTITIONS" else "controller-dies-mid-move")
    found = plain(run)
    [said] = found["left_out"]
    if name == "MOST_PARTITIONS":
        assert len(found["partitions"]) == 1
        assert said == "19 partitions in which less happened: understudy timeline TRACE PARTITION"
        assert any(span[2] == "F" for spans in found["partitions"][0]["rows"].values() for span in spans)
    else:
        assert found["partitions"][0]["steps"] == []
        assert "steps of the moves" in said


def test_a_run_without_data_events_says_what_is_missing(recorded: Recorded) -> None:
    run = recorded("controller-dies-mid-move")
    assert "still to copy" in plain(evolve(run, has_data=False))["left_out"][0]
