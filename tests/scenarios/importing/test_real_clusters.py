"""``import --bootstrap`` at real clusters of Kafka 2.4.1 and 3.9.1 with ZooKeeper, on loopback."""

from __future__ import annotations

import socket
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks.calibration.real import kafka
from benchmarks.calibration.real.cluster import RealCluster, running
from benchmarks.calibration.releases import Release
from scenarios.language import Scenario
from scenarios.runs import run_scenario
from tests.scenarios.cli.conftest import Call, call

__all__ = ["call"]
pytestmark = [pytest.mark.java, pytest.mark.slow]
RELEASES = {"2.4.1": Release("2.4.1", "kafka-2.4"), "3.9.1": Release("3.9.1", "kafka-3.9", scala="2.13")}
ASSIGNMENT = {0: [0, 1], 1: [2, 0]}
SIZES = {0: 5_000_000, 1: 300_000}
CONFIG = {"min.insync.replicas": "2", "cleanup.policy": "delete"}


def is_open(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def fill(cluster: RealCluster) -> None:
    from kafka import KafkaAdminClient
    from kafka.admin import NewTopic

    for broker in range(cluster.brokers):  # 3.9 registers before it listens
        cluster.until(partial(is_open, cluster.port(broker)), f"broker {broker} listens", 30)
    admin: Any = KafkaAdminClient(bootstrap_servers=f"127.0.0.1:{cluster.port(0)}")
    admin.create_topics([NewTopic("orders", replica_assignments=ASSIGNMENT, topic_configs=CONFIG)])
    admin.wait_for_topics(["orders"])
    admin.close()
    for partition, size in SIZES.items():
        kafka.produce(cluster.port(ASSIGNMENT[partition][0]), "orders", partition, size, old_format=False)


@pytest.mark.parametrize("release", RELEASES)
def test_a_real_cluster_becomes_a_scenario(release: str, call: Call, tmp_path: Path) -> None:
    with running(RELEASES[release], 3, {}, first=0, log_dirs=2, racks=3) as cluster:
        fill(cluster)
        target = tmp_path / "real.toml"
        called = call("import", "--bootstrap", f"127.0.0.1:{cluster.port(1)}", "--look", "1", "-o", target)
    assert called.code == 0, called.err
    scenario = Scenario.load(target)
    assert scenario.profile == RELEASES[release].profile
    assert (scenario.cluster.brokers, scenario.cluster.log_dirs) == (3, 2)
    assert scenario.cluster.rack_names == ("rack-0", "rack-1", "rack-2")
    orders = next(topic for topic in scenario.topics if topic.name == "orders")
    assert orders.assignment == tuple(map(tuple, ASSIGNMENT.values()))
    assert orders.config == {"min.insync.replicas": 2}
    for size, stated in zip(orders.partition_sizes, SIZES.values(), strict=True):
        assert abs(size - stated) < kafka.BATCH_BYTES
    assert "# left out: cleanup.policy=delete" in target.read_text()
    assert run_scenario(scenario).passed
