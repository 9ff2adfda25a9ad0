"""``import --bootstrap`` at a served cluster: what the scenario that is served says comes back, with its rates."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scenarios.language import Scenario
from tests.scenarios.cli.conftest import Call, call
from tests.scenarios.wire.gateway.served import served

__all__ = ["call"]
CLUSTER = {
    "profile": "kafka-2.4",
    "cluster": {"brokers": 3, "rack_names": ["a", "b", "b"], "log_dirs": 2},
    "topics": [
        {
            "name": "orders", "assignment": [[0, 1], [1, 2]], "sizes": ["3MiB", "1MiB"],
            "log_dirs": [[1, 1], [0, 1]], "config": {"min.insync.replicas": 2},
        }
    ],
    "workloads": [{"topic": "orders", "producerRate": 400, "messageSize": 1024, "shares": [3, 1]}],
}  # fmt: skip


def test_a_served_cluster_comes_back(call: Call, tmp_path: Path) -> None:
    with served(CLUSTER) as cluster:
        target = tmp_path / "live.toml"
        called = call("import", "--bootstrap", cluster.run.bootstrap_servers, "--look", "2", "-o", target)
    assert called.code == 0, called.err
    scenario = Scenario.load(target)
    assert scenario.cluster.rack_names == ("a", "b", "b")
    (topic,) = scenario.topics
    assert topic.assignment == ((0, 1), (1, 2))
    assert topic.log_dirs == ((1, 1), (0, 1))
    assert topic.config == {"min.insync.replicas": 2}
    assert topic.sizes[0] >= 3 << 20
    (load,) = scenario.workloads
    assert 200 < load.producer_rate < 800
    assert 2 < load.shares[0] / load.shares[1] < 4


def test_a_missing_library_is_one_line(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kafka", None)
    monkeypatch.setitem(sys.modules, "kafka.admin", None)
    called = call("import", "--bootstrap", "127.0.0.1:1", "-o", tmp_path / "a.toml")
    assert (called.code, called.line) == (
        2, "understudy: kafka-python is not installed; run: pip install 'understudy[live]'",
    )  # fmt: skip


@pytest.mark.parametrize("address", ["nowhere", "host:port", "", "a:1,b"])
def test_what_is_no_address_is_refused(address: str, call: Call, tmp_path: Path) -> None:
    called = call("import", "--bootstrap", address, "-o", tmp_path / "a.toml")
    assert (called.code, "is no address; write HOST:PORT" in called.line) == (2, True)
