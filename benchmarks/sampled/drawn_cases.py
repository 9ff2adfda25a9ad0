"""Scenarios for the comparison: each is drawn from its number, so that a slice is the same slice each time."""

from __future__ import annotations

from random import Random
from typing import Any

from scenarios.language import Scenario

STRATEGIES = (
    ("wiki", "kafka-2.3"),
    ("kafka-6794", "kafka-2.3"),
    ("kip-455", "kafka-2.4"),
    ("kip-455", "kafka-2.6"),
)
GB = 1_000_000_000
DEFAULT_CASES, DEFAULT_SEEDS = "0:80", 3
"""The cases and seeds that fit into an hour of one core; all are 200 cases with eight seeds."""
FREE = 1.25e9
"""The bytes a second of a card that is not stated."""


LONGEST_S, DEAREST = 600, 4_500
"""The seconds that a move takes at most if its throttle, or its card, is all that limits it, and the seconds times the
partitions: what an exact run costs follows them."""


def drawn(number: int) -> Scenario:
    """Case ``number``: 1 to 50 partitions move from three brokers to three others, or some of their replicas do. Cases
    ``2 n`` and ``2 n + 1`` are two arms, which differ in their throttle or their protocol alone."""
    random = Random(number // 2)
    arm, throttle = random.choice(STRATEGIES), random.choice((15, 20, 30, 50))
    other, faster = random.choice([each for each in STRATEGIES if each != arm]), random.random() < 0.5
    partitions = random.choice((1, 1, 2, 3, 4, 6, 8, 12, 20, 50))
    seconds = random.uniform(100, LONGEST_S)
    rate = random.choice((1, 2, 4, 6)) * 1000
    card = random.choice((None, None, None, "100MB/s", "60MB/s"))
    saturated, skewed, faulty = random.random() < 0.2, random.random() < 0.2, random.random() < 0.2
    moved = random.choice((1, 3, 3))
    dies, died_at_s = random.randint(0, 5), random.randint(30, 200)
    saturated = saturated and not faster
    if saturated and card is None:
        card = "100MB/s"
    slowest = FREE if card is None else float(card.removesuffix("MB/s")) * 1e6
    slowest = slowest if saturated else min(slowest, throttle * 1e6)
    if slowest < 2 * (needed := (2 + moved) / 3 * 1000 * rate):  # else a move takes many times as long, or never ends
        rate = max(500, int(rate * slowest / 2 / needed))
    net = slowest - (2 + moved) / 3 * 1000 * rate
    size = round(3 / moved * net * min(seconds, DEAREST / partitions) / partitions)
    if number % 2 and faster:
        throttle = round(1.5 * throttle)
    elif number % 2:
        arm = other
    strategy, profile = arm
    replicas = [[(n + k) % 3 for k in range(3)] for n in range(partitions)]
    targets = [[3 + (n + k) % 3 if k >= 3 - moved else each[k] for k in range(3)] for n, each in enumerate(replicas)]
    load: dict[str, Any] = {"topic": "orders", "producerRate": rate, "messageSize": 1000}
    if skewed:
        load |= {"keys": 5 * partitions, "key_skew": 0.8}
    cluster: dict[str, Any] = {"brokers": 7, "controller": 6, "network": {"jitter": "200us"}}
    if card is not None:
        cluster["network"] |= {"egress": card, "ingress": card}
    method: list[dict[str, Any]] = [{"at": "5s", "action": "reassign.execute"}]
    if faulty:
        method += [
            {"at": f"{died_at_s}s", "action": "broker.crash", "target": dies},
            {"after": "10s", "action": "broker.start", "target": {"mode": "all", "state": "down"}},
        ]
    table = {
        "title": f"case {number}",
        "profile": profile,
        "horizon": "6h",
        "cluster": cluster,
        "topics": [{"name": "orders", "assignment": replicas, "size": f"{size}B"}],
        "workloads": [load],
        "strategy": {"name": strategy + ("" if saturated else f"+throttle-{throttle}MB")},
        "plan": {
            "version": 1,
            "partitions": [{"topic": "orders", "partition": n, "replicas": to} for n, to in enumerate(targets)],
        },
        "method": method,
    }
    return Scenario.from_table(table, source=f"case {number}")


def described(scenario: Scenario) -> str:
    """A case in a few words."""
    load, card = scenario.workloads[0], scenario.cluster.network.egress
    words = [
        f"{scenario.topics[0].partitions} x {scenario.topics[0].size_bytes / GB:.2g} GB", scenario.strategy.name,
        f"{load.producer_rate * load.message_size / 1e6:g} MB/s in",
    ]  # fmt: skip
    words += ["skewed"] if load.key_skew else []
    words += [f"cards {card / 1e6:g} MB/s"] if card else []
    words += ["a broker dies"] if len(scenario.method) > 1 else []
    return ", ".join(words)
