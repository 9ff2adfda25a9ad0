"""The orders of all collections beside those of the real Scala libraries of kafka_2.12 and kafka_2.13, for drawn keys.
``python -m pytest -m java``; the jars are those that ``python -m tests.scenarios.wire.java.jars`` fetches."""

from collections.abc import Hashable
from pathlib import Path
from random import Random

import pytest

from benchmarks.runtimes import Artifact, jars
from emulator.protocol.scala_order import SCALA_2_12, SCALA_2_13, ScalaCollections
from emulator.protocol.types import TopicPartition
from tests.scenarios.wire.java.jars import run

pytestmark = [pytest.mark.java, pytest.mark.slow]

SIZES = (1, 2, 3, 4, 5, 8, 11, 12, 13, 15, 23, 24, 25, 28, 48, 100)
PROGRAM = Path(__file__).with_name("ScalaOrder.java")


@pytest.mark.parametrize(("release", "scala", "ours"), [("2.4.1", "2.12", SCALA_2_12), ("3.9.1", "2.13", SCALA_2_13)])
def test_every_collection_has_the_order_of_the_real_one(release: str, scala: str, ours: ScalaCollections) -> None:
    drawn = [_drawn(Random(seed)) for seed in range(240)]
    given = "".join(" ".join(map(_word, keys)) + "\n" for keys in drawn)
    libraries = jars((Artifact("org.apache.kafka", f"kafka_{scala}", release),))
    lines = iter(run(libraries, str(PROGRAM), given=given).splitlines())
    for keys in drawn:
        in_set = ours.set_order(keys)
        orders = (in_set, in_set, ours.map_order(keys), ours.mutable_set_order(keys), ours.group_order(keys))
        assert [" ".join(map(_word, order)) for order in orders] == [next(lines) for _ in orders]


def _drawn(rng: Random) -> tuple[Hashable, ...]:
    """Brokers, partitions, or replicas."""
    size, most = rng.choice(SIZES), rng.choice((200, 2**31))
    numbers = rng.sample(range(most), size)
    partitions = [TopicPartition(rng.choice(("a", "orders", "payments.eu")), number) for number in numbers]
    replicas = [(tp, rng.randrange(9)) for tp in partitions]
    keys: list[tuple[Hashable, ...]] = [tuple(numbers), tuple(partitions), tuple(replicas)]
    return rng.choice(keys)


def _word(key: Hashable) -> str:
    return f"{key[0]}@{key[1]}" if isinstance(key, tuple) and not isinstance(key, TopicPartition) else str(key)
