"""E1: a throttled reassignment takes as long as Kafka's own system test allows (throttling_test.py, 2.4.0).

A topic of 2,000 records of 400 KB in three partitions, two replicas each, on six brokers; each partition goes to where
the one before it was. The test estimates the time from the most new replicas that one partition gets, times the size
of a partition, by the throttle, and allows 0.9 to 2 times that. It runs with and without a clean restart of every other
broker.
"""

import math
from collections.abc import Iterator
from typing import Any

from benchmarks.experiments.emulate import emulate
from benchmarks.experiments.experiment import Experiment, Finding, Outcome, Tolerance
from scenarios.language import Scenario

PROFILES = ("kafka-1.1", "kafka-2.4")
BROKERS, PARTITIONS = 6, 3
PLACES = {
    "(0, 1), (1, 2), (2, 3)": ((0, 1), (1, 2), (2, 3)),
    "(0, 3), (1, 4), (2, 5)": ((0, 3), (1, 4), (2, 5)),
    "(0, 1), (1, 2), (2, 0)": ((0, 1), (1, 2), (2, 0)),
}
"""Replicas of the three partitions. Kafka may draw the first two; with the third each partition gets one new replica,
and the estimate is half as long."""
THROTTLE_BYTES = 4 * 1024 * 1024
THROTTLE = f"{THROTTLE_BYTES}B/s"
TOPIC_BYTES = 2_000 * 4_096 * 100
RESTARTED = (0, 2, 4)
RESTART_S = 10
BEGIN_S = 5
TWO_COPIES = (
    "The restart of a leader makes the other replica leader, which then sends two copies under one throttle; the "
    "estimate counts the copies that a broker receives, not those that it sends. Kafka does not draw this placement by "
    "itself."
)
BOUNDS = Tolerance("0.9 to 2 of it", lambda expected, emulated: 0.9 * expected <= emulated <= 2 * expected)


def estimate_s(places: tuple[tuple[int, ...], ...], topic_bytes: int) -> int:
    """The test's estimate in seconds: of one broker's transfer, by the throttle."""
    news = (len(set(places[p]) - set(places[(p + 1) % PARTITIONS])) for p in range(PARTITIONS))
    return math.ceil(max(news) * topic_bytes / PARTITIONS / THROTTLE_BYTES)


def scenario(profile: str, places: tuple[tuple[int, ...], ...], topic_bytes: int, restarts: bool) -> Scenario:
    method: list[dict[str, Any]] = [{"at": f"{BEGIN_S}s", "action": "reassign.execute", "throttle": THROTTLE}]
    for number, broker in enumerate(RESTARTED if restarts else ()):
        stop_s = BEGIN_S + number * RESTART_S
        method += [
            {"at": f"{stop_s + 1}s", "action": "broker.stop", "target": broker},
            {"at": f"{stop_s + RESTART_S}s", "action": "broker.start", "target": broker},
        ]
    return Scenario.from_table(
        {
            "title": f"{profile}: three partitions change places under a throttle",
            "profile": profile,
            "horizon": "20m",
            "cluster": {"brokers": BROKERS, "config": {"log.segment.bytes": 64 * 1024 * 1024}},
            "topics": [
                {"name": "test_topic", "assignment": [list(place) for place in places],
                 "size": f"{topic_bytes // PARTITIONS}B"},
            ],
            "workloads": [{"topic": "test_topic", "producerRate": 1_000, "messageSize": 100, "acks": "all"}],
            "consumers": [{"topic": "test_topic"}],
            "plan": {
                "version": 1,
                "partitions": [
                    {"topic": "test_topic", "partition": (place + 1) % PARTITIONS, "replicas": list(replicas)}
                    for place, replicas in enumerate(places)
                ],
            },
            "method": method,
        }
    )  # fmt: skip


def findings(topic_bytes: int, profiles: tuple[str, ...]) -> Iterator[Finding]:
    for profile in profiles:
        for what, places in PLACES.items():
            for restarts in (False, True):
                run = emulate(scenario(profile, places, topic_bytes, restarts))
                yield Finding(
                    what=f"{profile}: {what}{', every other broker restarted' if restarts else ''}",
                    expected=estimate_s(places, topic_bytes),
                    emulated=run.seconds("time_to_complete_s"),
                    tolerance=BOUNDS,
                    why=TWO_COPIES if restarts else "",
                )


def carry_out(quick: bool) -> Outcome:
    """All placements under both profiles; quick: half the data, under one profile."""
    if quick:
        return Outcome(findings=tuple(findings(TOPIC_BYTES // 2, PROFILES[1:])))
    return Outcome(findings=tuple(findings(TOPIC_BYTES, PROFILES)))


EXPERIMENT = Experiment(
    name="e1",
    title="a throttled reassignment within the bounds of Kafka's system test",
    source="Kafka 2.4.0, tests/kafkatest/tests/core/throttling_test.py: 0.9 to 2 times the estimate",
    carry_out=carry_out,
)
