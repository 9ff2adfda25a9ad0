"""Batches that are neither acknowledged nor given up: a run waits for those that can still be, and shows the others.

A leader of 2.3.1 that gets StopReplica does not answer the produce requests with acks=all that wait there, until they
time out after 30 s, and its producer sends no more on that connection (KAFKA-9198; 2.4.1 answers at once). In two runs
of real 2.3.1 a producer wrote nothing for the 16 s and more after such a move.
"""

from __future__ import annotations

from functools import cache

import pytest

from emulator.protocol.events import Produced, Unfinished
from scenarios.cli.report import report
from tests.scenarios.runs.building import EXECUTE, Played, Table, play, scenario

LOAD: Table = {"topic": "orders", "producerRate": 500, "linger": "30ms"}
LATENCY: Table = {"network": {"latency": "4ms"}}
"""An acknowledgement takes 16 ms of the 30 ms between two requests: one is in flight when the leader moves away."""


def moved(profile: str, horizon: str = "5m", expect: tuple[Table, ...] = ()) -> Played:
    return play(
        scenario(
            plan={0: [3, 4, 5]}, method=[EXECUTE], rate=0, workloads=[LOAD], profile=profile, horizon=horizon,
            expect=expect, cluster=LATENCY,
        )
    )  # fmt: skip


def value(played: Played, metric: str) -> float:
    found = played.run.metrics[metric]
    assert found is not None
    return found


def test_the_run_waits_for_the_answer_that_comes_after_30_s() -> None:
    played = moved("kafka-2.3")
    assert played.run.passed
    assert 30_000 < value(played, "produce_max_ms") < 30_200, "not 16 ms"
    assert value(played, "unfinished_batches") == 0, "what had gathered meanwhile is acknowledged, too"
    assert value(played, "acked_batches") == max(event.id for event in played.of(Produced))


def test_where_it_comes_at_once_the_run_ends_early() -> None:
    played = moved("kafka-2.4")
    assert played.run.virtual_s < 9
    assert value(played, "produce_max_ms") < 1_000
    assert played.of(Unfinished) == []


@cache
def cut_short() -> Played:
    return moved("kafka-2.3", horizon="20s", expect=({"metric": "unfinished_batches", "tolerance": [0, 100]},))


def test_batches_that_wait_at_the_horizon_are_shown() -> None:
    played = cut_short()
    waiting = played.of(Unfinished)
    assert value(played, "unfinished_batches") == len(waiting) > 500
    assert value(played, "unfinished_wait_s") == pytest.approx(18, abs=0.1)
    assert {event.attempts for event in waiting} == {0, 1}, "some requests are in flight, the rest was never sent"
    [line] = [line for line in report(played.run) if "unfinished batches" in line]
    assert line == (
        f"  unfinished batches      {len(waiting):,}, neither acknowledged nor given up; the oldest has waited for "
        f"{value(played, 'unfinished_wait_s'):.3f} s"
    )


def test_their_wait_so_far_is_in_the_latency() -> None:
    """Without it the longest latency was that of the batches before the move."""
    assert value(cut_short(), "produce_max_ms") == pytest.approx(value(cut_short(), "unfinished_wait_s") * 1000)
    assert value(cut_short(), "produce_p99_ms") > 17_000


def test_an_expectation_about_them_can_fail() -> None:
    run = cut_short().run
    assert (run.verdict, run.reason) == ("failed", "expectation")
    assert "unfinished_batches" in run.explanation


def test_a_partition_that_takes_no_batch_does_not_keep_its_run() -> None:
    """The batches are refused and sent again all the time: the report shows them."""
    alone: Table = {"at": "2s", "action": "broker.crash", "target": {"brokers": [1, 2]}}
    played = play(scenario(method=[alone], topic_config={"min.insync.replicas": 2}, rate=100))
    assert played.run.virtual_s < 30
    assert value(played, "unfinished_wait_s") > 2
    assert value(played, "produce_max_ms") >= value(played, "unfinished_wait_s") * 1000
