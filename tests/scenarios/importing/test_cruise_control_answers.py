"""Answers of Cruise Control 2.0 to 3.0 in their forms (ClusterPartitionState, SingleBrokerStats, ProgressResult,
ErrorResponse): partitions in trouble, dead brokers and disks, ``populate_disk_info``, and what is not the answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scenarios.errors import BadInput
from tests.scenarios.importing.texts import scenario_of


def partition(number: int, leader: int, in_sync: list[int], **others: Any) -> dict[str, Any]:
    return {
        "topic": "orders", "partition": number, "leader": leader, "replicas": [1, 2], "in-sync": in_sync,
        "out-of-sync": [one for one in (1, 2) if one not in in_sync], "offline": [], **others,
    }  # fmt: skip


def state(verbose: bool = True, **groups: list[dict[str, Any]]) -> str:
    its: dict[str, Any] = {"offline": [], "with-offline-replicas": [], "urp": [], "under-min-isr": []}
    its |= {name.replace("_", "-"): partitions for name, partitions in groups.items()}
    brokers = {"ReplicaCountByBrokerId": {"1": 2, "2": 2}, "IsController": {"1": True, "2": False}}
    return json.dumps(
        {"KafkaBrokerState": brokers, "KafkaPartitionState": its | ({"other": its.get("other", [])} if verbose else {})}
    )


def test_partitions_in_trouble_are_in_several_groups_and_one_each(tmp_path: Path) -> None:
    trouble, healthy = partition(0, 1, [1], **{"min-isr": 2}), partition(1, -1, [], **{"min-isr": 2})
    text = state(urp=[trouble], under_min_isr=[trouble], offline=[healthy], other=[partition(2, 2, [1, 2])])
    scenario, file = scenario_of(tmp_path, cluster_state=text)
    assert scenario.assignments() == {f"orders-{number}": (1, 2) for number in range(3)}
    assert scenario.topics[0].config == {"min.insync.replicas": 2}
    assert "kafka_cluster_state, 3 partitions" in file
    assert "1 partition without a leader, which they have here: orders-1" in file


@pytest.mark.parametrize("least", [{}, {"min-isr": 1}])
def test_a_release_without_min_isr_and_one_that_knows_none_state_no_setting(
    least: dict[str, int], tmp_path: Path
) -> None:
    """2.0 has no min-isr; later ones say 1 where they know none."""
    assert not scenario_of(tmp_path, cluster_state=state(other=[partition(0, 1, [1, 2], **least)]))[0].topics[0].config


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            state(verbose=False, urp=[partition(0, 1, [1])]),
            "names only partitions in trouble; ask for kafka_cluster_state",
        ),
        (
            '{"progress":[{"operation":"LOAD","operationProgress":[]}],"version":1}',
            "Cruise Control was still at work; ask",
        ),
        ('{"errorMessage":"no valid window","stackTrace":"x","version":1}', "Cruise Control failed: no valid window"),
        ("Brokers:\n  BROKER  LEADER(S)\n", "holds no JSON; name Cruise Control's kafka_cluster_state as JSON"),
    ],
)
def test_what_is_not_the_state_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        scenario_of(tmp_path, cluster_state=text)
    assert words in str(raised.value)


def test_dead_brokers_and_disks_of_a_load_are_named(tmp_path: Path) -> None:
    """2.5 with populate_disk_info; a rack that is the host's name is none."""
    disks = {"/a": {"DiskMB": 1.0, "DiskPct": 0.1, "NumLeaderReplicas": 1, "NumReplicas": 1}, "/b": {"DiskMB": "DEAD"}}
    brokers = [
        {"Host": "k1", "Rack": "k1", "Broker": 1, "BrokerState": "ALIVE", "LeaderNwInRate": 1.5, "DiskState": disks},
        {"Host": "k2", "Rack": "k2", "Broker": 2, "BrokerState": "DEAD", "LeaderNwInRate": -1.0, "DiskPct": -1.0},
        {"Host": "k3", "Rack": "k3", "Broker": 3, "BrokerState": "BAD_DISKS", "LeaderNwInRate": 0.0},
    ]  # fmt: skip
    scenario, text = scenario_of(
        tmp_path,
        cluster_state=state(other=[partition(0, 1, [1, 2])]),
        load=json.dumps({"hosts": [], "brokers": brokers}),
    )
    assert (scenario.cluster.brokers, scenario.cluster.log_dirs, scenario.cluster.rack_names) == (3, 2, ())
    assert "broker 2 is DEAD in" in text
    assert "broker 3 is BAD_DISKS in" in text
