"""Clusters whose partitions, replicas and brokers differ: what a file may state, and what the cluster then has."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.kernel import World
from scenarios.cluster.cluster import Cluster
from scenarios.cluster.from_scenario import cluster_setup
from scenarios.errors import BadInput
from scenarios.language import Scenario

MIB, MESSAGE = 1 << 20, 1024


def scenario(**parts: Any) -> Scenario:
    """Three brokers in two racks with two directories each, and a topic with partitions of 3 MiB and 1 MiB."""
    topic = {
        "name": "orders", "assignment": [[0, 1], [1, 2]], "sizes": ["3MiB", "1MiB"], "log_dirs": [[1, 1], [0, 1]],
        **parts.pop("topic", {}),
    }  # fmt: skip
    cluster = {"brokers": 3, "rack_names": ["a", "b", "b"], "log_dirs": 2, **parts.pop("cluster", {})}
    return Scenario.from_table({"title": "uneven", "cluster": cluster, "topics": [topic], **parts})


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"topic": {"sizes": ["1MiB"]}}, "topics[0].sizes: 1 for 2 partitions; write one each"),
        ({"topic": {"size": "1MiB"}}, "topics[0].size: the size of each partition is stated already"),
        ({"topic": {"log_dirs": [[0, 0]]}}, "topics[0].log_dirs: 1 for 2 partitions; write a list for each"),
        ({"topic": {"log_dirs": [[0], [0]]}}, "topics[0].log_dirs[0]: 1 for 2 replicas; write one each"),
        ({"topic": {"log_dirs": [[0, 0], [0, 2]]}}, "topics[0].log_dirs[1]: log directory 2 does not exist; write"),
        ({"cluster": {"rack_names": ["a"]}}, "cluster.rack_names: 1 racks for 3 brokers; write one each"),
        ({"cluster": {"racks": 2}}, "cluster.racks: the rack of each broker is stated already"),
        (
            {"workloads": [{"topic": "orders", "producerRate": 1, "shares": [1]}]},
            "workloads[0].shares: 1 for the 2 partitions of orders; write one each",
        ),
        ({"workloads": [{"topic": "orders", "producerRate": 1, "shares": [0, 0]}]}, "workloads[0].shares: shares are"),
        ({"workloads": [{"topic": "orders", "producerRate": 1, "shares": [1, 1], "keys": 3}]}, "shares: shares are of"),
    ],
)
def test_what_does_not_fit_is_refused(parts: dict[str, Any], words: str) -> None:
    with pytest.raises(BadInput) as refused:
        scenario(**parts)
    assert words in str(refused.value)


def test_replicas_lie_where_the_file_says_with_the_bytes_that_it_says() -> None:
    found: dict[tuple[int, str], tuple[str, int]] = {}

    async def drive(cluster: Cluster) -> None:
        for id, broker in cluster.brokers.items():
            for tp, partition in broker.replicas.partitions.items():
                found[id, str(tp)] = partition.log.directory.name, partition.log.end_offset * MESSAGE

    world = World(1)
    cluster = Cluster(world, cluster_setup(scenario()))
    world.run(cluster.run, drive)
    assert found == {
        (0, "orders-0"): ("/data/1", 3 * MIB), (1, "orders-0"): ("/data/1", 3 * MIB),
        (1, "orders-1"): ("/data/0", MIB), (2, "orders-1"): ("/data/1", MIB),
    }  # fmt: skip


def test_a_plan_in_words_knows_the_racks_by_name() -> None:
    plan = {"topics": ["orders"], "to": [0, 1, 2]}
    for replicas in scenario(plan=plan).targets().values():
        assert len({"abb"[broker] for broker in replicas}) == 2
