"""ZooKeeper is away, and a leader wants to write an ISR: who waits, by release."""

from __future__ import annotations

from itertools import pairwise

import pytest

from emulator.protocol.events import Consumed, IsrChanged, IsrProposed, Produced
from scenarios.language import Scenario
from tests.scenarios.runs.building import Played, play

SECOND = 1_000_000


def without_zookeeper(profile: str) -> Played:
    """ZooKeeper is away from 10 s to 30 s. Broker 2 dies at 12 s, and has to leave the ISR of orders-0 10 s later.
    Broker 0 leads both topics."""
    table = {
        "title": "ZooKeeper is away",
        "profile": profile,
        "seed": 3,
        "horizon": "2m",
        "cluster": {"brokers": 4, "controller": 3, "config": {"replica.lag.time.max.ms": 10_000}},
        "topics": [{"name": "orders", "assignment": [[0, 1, 2]]}, {"name": "other", "assignment": [[0]]}],
        "workloads": [
            {"topic": topic, "producerRate": 100, "acks": "1", "stop": "45s"} for topic in ("orders", "other")
        ],
        "consumers": [{"topic": "other"}],
        "method": [
            {"at": "10s", "action": "zookeeper.stop", "duration": "20s"},
            {"at": "12s", "action": "broker.crash", "target": 2, "duration": "20s"},
        ],
        "expect": [{"converged": True}],
    }
    return play(Scenario.from_table(table))


def longest_gap_us(played: Played, topic: str) -> int:
    """The longest time without an acknowledgement, before the load ends."""
    times = [event.t_us for event in played.of(Produced) if event.topic == topic and event.t_us < 45 * SECOND]
    return max(after - before for before, after in pairwise(times))


@pytest.mark.parametrize(
    ("profile", "waits"),
    [("kafka-0.8", True), ("kafka-1.1", True), ("kafka-2.3", True), ("kafka-2.6", True), ("kafka-2.7", False)],
)
def test_acks_1_waits_for_the_write_of_the_isr_up_to_2_6(profile: str, waits: bool) -> None:
    played = without_zookeeper(profile)
    assert played.run.verdict == "passed"
    proposed, written = played.of(IsrProposed)[0], played.of(IsrChanged)[0]
    assert 22 * SECOND < proposed.t_us < 30 * SECOND < written.t_us
    during = [each for each in played.of(Produced) if proposed.t_us + 10_000 < each.t_us < written.t_us]
    assert {each.topic for each in during} == ({"other"} if waits else {"orders", "other"})
    assert (longest_gap_us(played, "orders") > written.t_us - proposed.t_us - SECOND // 5) is waits
    assert longest_gap_us(played, "other") < SECOND
    assert [each for each in played.of(Consumed) if proposed.t_us < each.t_us < written.t_us]
