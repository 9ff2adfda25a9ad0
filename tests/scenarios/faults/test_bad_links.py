"""Links that lose packets or carry little, as a cluster over TCP feels them."""

from statistics import median
from typing import Any

import pytest

from emulator.protocol.events import Produced
from scenarios.errors import BadInput
from tests.scenarios.runs.building import TP, Played, Table, play, scenario


def run(*method: Table, **more: Any) -> Played:
    standard: Table = {"brokers": 4, "controller": 3, "rate": 50, "size": "0B", "horizon": "4m"}
    return play(scenario(**{**standard, **more}, method=method))


def loss(**keys: object) -> Table:
    return {"at": "2s", "action": "link.loss", "target": 0, "duration": "60s", **keys}


def latencies_ms(played: Played) -> list[float]:
    found = played.of(Produced, lambda event: 2_000_000 < event.t_us < 62_000_000 and event.outcome == "acked")
    return sorted(event.latency_us / 1000 for event in found)


def test_one_packet_in_a_hundred_costs_one_request_in_thirty_200_ms() -> None:
    """With acks=all two followers fetch, each with a request and an answer: the median does not feel it, the tail does:
    200 ms is the least retransmission time-out of Linux, and the next one is twice as long."""
    well, lossy = latencies_ms(run()), latencies_ms(played := run(loss(loss=0.01)))
    assert median(lossy) == pytest.approx(median(well), rel=0.2)
    assert max(well) < 10
    late = [latency for latency in lossy if latency > 150]
    assert 0.01 < len(late) / len(lossy) < 0.12
    assert late[0] > 190
    assert not played.run.violations
    assert sorted(played.state(TP).isr) == [0, 1, 2]


def test_a_heavier_loss_backs_off_further() -> None:
    late = latencies_ms(played := run(loss(loss=0.3)))
    assert late[-1] > 200 + 400 + 800
    assert not played.run.violations
    assert played.run.passed


def test_bursts_come_and_go() -> None:
    burst = {"loss": 1.0, "every": "8s..12s", "lasts": "1s..2s"}
    found = latencies_ms(run(loss(burst=burst)))
    late = [latency for latency in found if latency > 150]
    assert len(late) > 50
    assert len([latency for latency in found if latency < 10]) > len(late), "mostly nothing is lost"


def copied_s(*method: Table) -> float:
    """How long a move of 100 MB to broker 3 takes."""
    execute: Table = {"at": "2s", "action": "reassign.execute"}
    played = run(*method, execute, size="100MB", plan={0: [0, 1, 3]}, rate=0)
    assert played.run.passed, played.run.explanation
    return played.run.virtual_s


def test_a_lossy_link_carries_what_mathis_says() -> None:
    """1.22 packets of 1,448 bytes in a round trip of 1 ms, by the root of 1 %: 17.7 MB/s, so 100 MB take 5.7 s."""
    lossy = copied_s({"at": "1s", "action": "link.loss", "target": 0, "peer": 3, "loss": 0.01})
    assert lossy - copied_s() == pytest.approx(5.7, abs=1.5)


def test_a_link_of_10_mb_per_s_carries_100_mb_in_10_s() -> None:
    limited = copied_s({"at": "1s", "action": "link.limit", "target": 3, "peer": 0, "rate": "10MB/s"})
    assert limited - copied_s() == pytest.approx(10, abs=0.5)


def test_heal_ends_loss_and_limit() -> None:
    played = run(
        loss(loss=0.5, peer=["brokers", "zookeeper"]),
        {"at": "3s", "action": "link.limit", "target": 1, "rate": "1kB/s"},
        {"at": "12s", "action": "heal"},
    )
    assert not played.stage.cluster.network.disturbed
    assert played.run.passed, played.run.explanation


def test_a_run_with_losses_is_the_same_each_time() -> None:
    lossy = loss(loss=0.05, burst={"loss": 0.9, "every": "1s..3s", "lasts": "100ms"}, duration="10s")
    assert run(lossy).run.digest == run(lossy).run.digest


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "nothing is lost; write loss"),
        ({"loss": 3}, "a number from 0 to 1"),
        ({"burst": {"loss": 1, "every": "5s..1s", "lasts": "1s"}}, "write the lower end first"),
        ({"burst": {"loss": 1, "every": "5s..", "lasts": "1s"}}, 'both ends of a range, such as "1s..5s"'),
        ({"burst": {"loss": 1, "evry": "5s", "lasts": "1s"}}, "did you mean 'every'?"),
    ],
)
def test_losses_that_are_refused(keys: Table, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        run(loss(**keys))
    assert said in str(refused.value)
