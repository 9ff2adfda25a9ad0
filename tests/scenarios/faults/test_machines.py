"""Clocks that are wrong, and brokers that get little CPU time, as a cluster feels them."""

from statistics import mean
from typing import Any

import pytest

from emulator.protocol.events import IsrChanged, Produced
from scenarios.errors import BadInput
from tests.scenarios.runs.building import TP, Played, Table, play, scenario

CUT: Table = {"at": "20s", "action": "link.cut", "target": 2, "peer": "brokers", "duration": "60s"}


def run(*method: Table, **more: Any) -> Played:
    standard: Table = {"brokers": 4, "controller": 3, "rate": 100, "size": "0B", "horizon": "3m"}
    return play(scenario(**{**standard, **more}, method=method))


def shrunk_after_s(played: Played) -> float:
    """How long after the cut broker 2 left the ISR."""
    shrinks = [event for event in played.of(IsrChanged) if 2 not in event.isr]
    return (shrinks[0].t_us - 20_000_000) / 1e6


def latencies_ms(played: Played) -> list[float]:
    """The latencies of the batches that were acknowledged between the 3rd and the 20th second."""
    found = played.of(Produced, lambda event: 3_000_000 < event.t_us < 20_000_000)
    return [event.latency_us / 1000 for event in found]


def clock(**keys: object) -> Table:
    return {"at": "20500ms", "action": "broker.clock", "target": 0, **keys}


def test_a_clock_that_steps_back_keeps_a_dead_follower_in_the_isr_for_so_much_longer() -> None:
    """The leader compares times of day (ReplicaManager.maybeShrinkIsr, Time.milliseconds, 2.3): acks=all waits."""
    right, back, ahead = run(CUT), run(CUT, clock(step="-20s")), run(CUT, clock(step="5s"))
    assert 10 <= shrunk_after_s(right) <= 16  # replica.lag.time.max.ms and half of it
    assert shrunk_after_s(back) - shrunk_after_s(right) == pytest.approx(20, abs=5.1)
    assert shrunk_after_s(right) - shrunk_after_s(ahead) == pytest.approx(5, abs=5.1)
    for played in (right, back, ahead):
        assert not played.run.violations


def test_a_clock_that_drifts_is_wrong_by_its_rate_until_it_is_set_right() -> None:
    played = play(
        scenario(
            brokers=3, controller=2, rate=20, size="0B",
            method=[
                {"at": "10s", "action": "broker.clock", "target": 0, "offset": "-1s", "drift": 0.01},
                {"at": "40s", "action": "broker.clock", "target": 1, "step": "2s"},
            ],
        )
    )  # fmt: skip
    nodes, end_us = played.stage.cluster.nodes, played.stage.world.now
    assert nodes[0].skew_us == pytest.approx(-1_000_000 + (end_us - 10_000_000) * 0.01, abs=1_100)
    assert nodes[1].skew_us == 2_000_000
    assert nodes[2].skew_us == 0
    synced = run({**clock(step="3s", drift=1), "duration": "5s"})
    assert synced.stage.cluster.nodes[0].skew_us == 0


def test_a_long_poll_lasts_as_long_whatever_the_clock_says() -> None:
    """Kafka's timer of delayed operations is a clock that is never set (SystemTimer, 2.3)."""
    quiet = run({"at": "10s", "action": "broker.clock", "target": {"mode": "all"}, "step": "-30s"}, rate=0)
    assert not quiet.run.violations
    assert quiet.run.passed
    assert quiet.run.virtual_s < 60


def test_a_broker_with_a_tenth_of_its_cpu_time_answers_later() -> None:
    """It stands still for 90 % of each 50 to 150 ms, so a request waits for up to 135 ms, and 44 ms in the mean."""
    slow = {"at": "2s", "action": "broker.slow", "target": 1, "cpu": 0.1, "duration": "20s"}
    quick, slowed = latencies_ms(run()), latencies_ms(played := run(slow))
    assert max(quick) < 10
    assert mean(slowed) == pytest.approx(44 + mean(quick), abs=10)
    assert 100 < max(slowed) < 150
    assert not played.run.violations
    process = played.stage.cluster.nodes[1].process
    assert process is not None
    assert (process.paused, process.throttled) == (False, False)


def test_service_times_are_longer_by_the_share() -> None:
    node_slow = {"at": "2s", "action": "broker.slow", "target": 0, "cpu": 0.25}
    assert run(node_slow).stage.cluster.nodes[0].slowness == 4
    assert run(node_slow, {"at": "3s", "action": "broker.fast", "target": 0}).stage.cluster.nodes[0].slowness == 1


def test_a_slow_broker_can_be_paused_and_crashed() -> None:
    played = run(
        {"at": "2s", "action": "broker.slow", "target": [0, 1], "cpu": 0.1},
        {"at": "3050ms", "action": "broker.pause", "target": 0, "duration": "3s"},
        {"at": "3055ms", "action": "broker.crash", "target": 1, "duration": "3s"},
        {"at": "8s", "action": "heal"},
    )  # fmt: skip
    assert played.run.passed, played.run.explanation
    assert len(played.state(TP).isr) == 3


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "write offset, step or drift"),
        ({"offset": "1s", "step": "1s"}, "an offset sets the clock, a step moves it"),
        ({"step": 3}, 'such as "-30s"'),
        ({"step": "--3s"}, "is not understood"),
        ({"drift": 99}, "a number from -0.9 to 10"),
    ],
)
def test_clocks_that_are_refused(keys: Table, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        run(clock(**keys))
    assert said in str(refused.value)
