"""Drawn moves, small enough for exact runs, to which the arithmetic of ``understudy forecast`` is held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from attrs import frozen

from scenarios.language import Scenario

Table = dict[str, Any]
MB = 1_000_000


@frozen
class Case:
    """A drawn move.

    Attributes:
        kind: the name of what is drawn.
        number: its number among those of its kind.
        document: the scenario, as a table.
    """

    kind: str
    number: int
    document: Table

    @property
    def scenario(self) -> Scenario:
        return Scenario.from_table(self.document)


def _case(
    draw: Random, *, partitions: int = 1, size_mb: int, written_mb: float = 0.0, throttle_mb: int | None = None,
    card_mb: int | None = None, followers: int = 2, strategy: str = "wiki", keep: int = 0, horizon: str = "1h",
    keys: int | None = None,
) -> Table:  # fmt: skip
    """A move of all partitions from brokers 0 to ``followers`` to as many others, of which it keeps the first
    ``keep``."""
    old = [[(first + step) % (followers + 1) for step in range(followers + 1)] for first in range(partitions)]
    moves = []
    for partition, replicas in enumerate(old):
        fresh = [followers + 1 + (partition + step) % (followers + 1) for step in range(followers + 1 - keep)]
        moves.append({"topic": "orders", "partition": partition, "replicas": [*replicas[:keep], *fresh]})
    network: Table = {"latency": "500us", "jitter": "200us"}
    if card_mb is not None:
        network |= {"egress": f"{card_mb}MB/s", "ingress": f"{card_mb}MB/s"}
    execute: Table = {"at": "30s", "action": "reassign.execute"}
    if throttle_mb is not None:
        execute["throttle"] = f"{throttle_mb}MB/s"
    table: Table = {
        "title": "a drawn move",
        "seed": draw.randrange(1000),
        "horizon": horizon,
        "cluster": {"brokers": 2 * (followers + 1) + 1, "controller": 2 * (followers + 1), "network": network},
        "topics": [{"name": "orders", "assignment": old, "size": f"{size_mb}MB"}],
        "strategy": {"name": strategy},
        "plan": {"partitions": moves},
        "method": [execute],
    }
    if strategy.startswith("kip-455"):
        table["profile"] = "kafka-2.6"
    if written_mb:
        load: Table = {
            "topic": "orders", "producerRate": max(1, int(written_mb * 1000)), "messageSize": 1000, "linger": "500ms"
        }  # fmt: skip
        table["workloads"] = [load | ({} if keys is None else {"keys": keys})]
    return table


def _single(draw: Random) -> Table:
    rate = draw.randint(10, 40)
    followers = draw.choice((0, 1, 2))
    written = rate * draw.uniform(0.05, 0.6) / (followers + 1)
    return _case(
        draw, size_mb=draw.randint(600, 2000), written_mb=written, throttle_mb=rate, followers=followers,
        keep=draw.randint(0, followers),
    )  # fmt: skip


def _several(draw: Random) -> Table:
    rate = draw.randint(15, 40)
    return _case(
        draw, partitions=draw.randint(3, 12), size_mb=draw.randint(100, 400),
        written_mb=rate * draw.uniform(0.05, 0.5), throttle_mb=rate, keep=draw.choice((0, 2)),
    )  # fmt: skip


def _skewed(draw: Random) -> Table:
    rate = draw.randint(15, 40)
    return _case(
        draw, partitions=draw.randint(4, 9), size_mb=draw.randint(100, 300), written_mb=rate * 0.3, throttle_mb=rate,
        keys=draw.randint(3, 12),
    )  # fmt: skip


def _carded(draw: Random) -> Table:
    return _case(
        draw, partitions=draw.randint(2, 8), size_mb=draw.randint(300, 900), written_mb=draw.uniform(0.5, 4),
        card_mb=draw.randint(30, 80),
    )  # fmt: skip


def _throttled_and_carded(draw: Random) -> Table:
    rate = draw.randint(15, 40)
    return _case(
        draw, partitions=draw.randint(2, 8), size_mb=draw.randint(100, 300), written_mb=rate * draw.uniform(0.05, 0.4),
        throttle_mb=rate, card_mb=draw.randint(80, 200),
    )  # fmt: skip


def _in_parts(draw: Random) -> Table:
    strategy = draw.choice(
        ("wiki+waves-2", "wiki+serial", "kip-455+window-2", "kip-455+per-broker-cap-2", "wiki+waves-3+largest-first")
    )
    return _case(
        draw, partitions=draw.randint(4, 9), size_mb=draw.randint(100, 300), written_mb=draw.uniform(0.5, 3),
        throttle_mb=draw.randint(15, 40), strategy=strategy,
    )  # fmt: skip


def _one_by_one(draw: Random) -> Table:
    return _case(
        draw, partitions=draw.randint(1, 6), size_mb=draw.randint(150, 500), written_mb=draw.uniform(0.5, 3),
        throttle_mb=draw.randint(15, 40), strategy=draw.choice(("kafka-6794", "width-2", "kip-455")),
    )  # fmt: skip


def _never(draw: Random) -> Table:
    rate = draw.randint(4, 10)
    return _case(
        draw, partitions=draw.randint(1, 6), size_mb=draw.randint(800, 1500), throttle_mb=rate, horizon="10m",
        written_mb=rate * draw.uniform(3.2, 5.0),
    )  # fmt: skip


def _dying(draw: Random) -> Table:
    """A broker dies: a leader, a receiver, or a follower in sync; for some time, or until the end."""
    rate = draw.randint(15, 40)
    strategy = draw.choice(("wiki", "kip-455", "kafka-6794", "kip-455+waves-2"))
    table = _case(
        draw, partitions=draw.randint(2, 8), size_mb=draw.randint(100, 250), written_mb=rate * draw.uniform(0.02, 0.15),
        throttle_mb=rate, keep=draw.choice((0, 0, 2)), strategy=strategy, followers=2,
    )  # fmt: skip
    death: Table = {"at": f"{draw.randint(35, 60)}s", "action": "broker.crash", "target": draw.randrange(6)}
    if draw.random() < 0.8 or death["target"] > 2:
        death["duration"] = f"{draw.randint(5, 90)}s"
    table["method"].append(death)
    return table


KINDS: dict[str, Callable[[Random], Table]] = {
    "one partition": _single,
    "several": _several,
    "uneven keys": _skewed,
    "cards": _carded,
    "throttle and cards": _throttled_and_carded,
    "in parts": _in_parts,
    "other protocols": _one_by_one,
    "a broker dies": _dying,
    "never ends": _never,
}


def drawn(kind: str, count: int, seed: int = 0) -> Iterator[Case]:
    """The first ``count`` cases of a kind."""
    for number in range(count):
        yield Case(kind, number, KINDS[kind](Random(f"{seed} {kind} {number}")))
