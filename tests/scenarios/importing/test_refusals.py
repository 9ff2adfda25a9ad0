"""Sources that contradict each other, have holes, or are of another kind: one line that says where and what would be
right, or a note in the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.importing.assembling import assembled
from scenarios.importing.found import Found, FoundPartition
from scenarios.importing.rate_sources import read_rates
from tests.scenarios.cli.conftest import Call, call
from tests.scenarios.importing.texts import scenario_of

__all__ = ["call"]
HEAD = "Topic: t\tPartitionCount: 2\tReplicationFactor: 2\tConfigs: "
TOPICS = f"""{HEAD}
\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1,2
\tTopic: t\tPartition: 1\tLeader: 2\tReplicas: 2,1\tIsr: 2
"""


def plan(topic: str, partition: int = 0) -> str:
    return json.dumps({"version": 1, "partitions": [{"topic": topic, "partition": partition, "replicas": [3]}]})


def state(*replicas: int) -> str:
    each = {"topic": "t", "partition": 0, "leader": 1, "replicas": replicas, "in-sync": replicas}
    return json.dumps({"KafkaBrokerState": {}, "KafkaPartitionState": {"other": [each]}})


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "no source is named; add --topics FILE, or --bootstrap HOST:PORT, ... (import --help)"),
        ({"topics": "nothing here"}, "describes no partition; name what kafka-topics --describe printed"),
        ({"topics": TOPICS.replace("Partition: 1", "Partition: 2")}, "of t, partition 1 is not described"),
        ({"topics": TOPICS.replace("Replicas: 1,2", "Replicas: 1,1")}, "topics:2: the replicas of t-0 are [1, 1]"),
        ({"topics": TOPICS.replace("Replicas: 1,2", "Replicas: a,2")}, "topics:2: 'a,2' lists no broker ids"),
        ({"topics": TOPICS, "cluster-state": state(1, 3)}, "t-0 has the replicas 1,2 in"),
        ({"topics": TOPICS, "reassignment": plan("tt")}, "--reassignment: the plan moves tt-0; did you mean 't'?"),
        (
            {"topics": TOPICS, "reassignment": plan("t", 7)},
            "--reassignment: the plan moves t-7; t has partitions 0 to 1",
        ),
        ({"topics": TOPICS, "reassignment": "{"}, "broken JSON: Expecting property name"),
        ({"topics": TOPICS, "rates": "topic,partition,byte_per_s\n"}, "rates:1: unknown column 'byte_per_s'; did you"),
        ({"topics": TOPICS, "rates": "topic,bytes_per_s\nt,fast\n"}, "rates:2: 'fast' is no rate; write a number"),
        ({"topics": TOPICS, "rates": "topic,bytes_per_s\nt,1,1\n"}, "rates:2: 3 columns where there are 2"),
        ({"topics": TOPICS, "rates": '{"status":"error"}'}, "is no successful answer of Prometheus"),
        ({"topics": TOPICS, "configs": "x"}, "describes no settings; name what kafka-configs --describe printed"),
        ({"topics": TOPICS, "log-dirs": "Querying brokers\n"}, "holds no JSON; name what kafka-log-dirs"),
        ({"topics": TOPICS, "load": "{}"}, "has no list 'brokers' of objects; name Cruise Control's load as JSON"),
    ],
)
def test_what_cannot_be_used_is_one_line(files: dict[str, str], words: str, call: Call, tmp_path: Path) -> None:
    arguments: list[str | Path] = []
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        arguments += [f"--{name}", tmp_path / name]
    called = call("import", *arguments, "-o", tmp_path / "out.toml")
    assert (called.code, words in called.line) == (2, True), called
    assert not (tmp_path / "out.toml").exists()


def test_a_raw_counter_is_refused_with_the_query_that_would_be_right(call: Call, tmp_path: Path) -> None:
    name = "kafka_server_brokertopicmetrics_bytesin_total"
    series = {"metric": {"__name__": name, "topic": "t"}, "value": [1, "5"]}
    (tmp_path / "topics").write_text(TOPICS)
    (tmp_path / "rates").write_text(json.dumps({"status": "success", "data": {"result": [series]}}))
    called = call("import", "--topics", tmp_path / "topics", "--rates", tmp_path / "rates", "-o", tmp_path / "out")
    assert f"ask for rate({name}[5m])" in called.line


@pytest.mark.parametrize(
    ("sample", "load"),
    [("prometheus-rate", (60, 1024)), ("prometheus-counter", (20, 500)), ("prometheus-one-minute", (20, 500))],
)
def test_each_spelling_of_prometheus_gives_the_rate_of_the_topic(sample: str, load: tuple[int, int]) -> None:
    found = Found()
    found.add_partition("orders", 0, FoundPartition((0,), "here"))
    read_rates(Path(__file__).parent / "samples" / f"{sample}.json", found)
    (topic,) = assembled(found).topics
    assert topic.load is not None
    assert (topic.load.rate, topic.load.message_size) == load


def test_brokers_keep_their_ids(tmp_path: Path) -> None:
    throttled = TOPICS.replace("Configs: ", "Configs: leader.replication.throttled.replicas=0:1,1:2")
    scenario, text = scenario_of(tmp_path, topics=throttled, reassignment=plan("t"))
    assert list(scenario.cluster.ids) == [1, 2, 3]
    assert scenario.assignments() == {"t-0": (1, 2), "t-1": (2, 1)}
    assert scenario.targets() == {"t-0": (3,)}
    assert scenario.topics[0].config["leader.replication.throttled.replicas"] == "0:1,1:2"
    assert "Its own ids" not in text


def test_brokers_with_ids_that_are_too_large_are_renumbered_everywhere(tmp_path: Path) -> None:
    """No forecast is made for ids above 2,000."""
    throttled = TOPICS.replace("Configs: ", "Configs: leader.replication.throttled.replicas=0:1,1:2001")
    throttled = throttled.replace("1,2\t", "1,2001\t").replace("2,1\t", "2001,1\t").replace("Leader: 2", "Leader: 2001")
    throttled = throttled.replace("Isr: 1,2", "Isr: 1,2001").replace("Isr: 2\n", "Isr: 2001\n")
    scenario, text = scenario_of(tmp_path, topics=throttled)
    assert scenario.assignments() == {"t-0": (0, 1), "t-1": (1, 0)}
    assert scenario.topics[0].config["leader.replication.throttled.replicas"] == "0:0,1:1"
    assert "Its own ids, in the order of those here: 1, 2001" in text
    scenario, _ = scenario_of(tmp_path, topics=throttled, reassignment=plan("t"))
    assert scenario.targets() == {"t-0": (1,)}


def test_replicas_that_lag_get_the_largest_size_and_are_named(tmp_path: Path) -> None:
    def broker(id: int, size: int) -> dict[str, object]:
        each = {"partition": "t-0", "size": size, "offsetLag": 0, "isFuture": False}
        return {"broker": id, "logDirs": [{"logDir": "/a", "error": None, "partitions": [each]}]}

    dirs = json.dumps({"version": 1, "brokers": [broker(1, 5000), broker(2, 100)]})
    scenario, text = scenario_of(tmp_path, topics=TOPICS, log_dirs=dirs)
    assert scenario.sizes() == {"t-0": 5000, "t-1": 0}
    assert "1 partition whose replicas differ in size by more than 10 %, all get the largest: t-0" in text
    assert "1 partition on no disk that was seen, empty here: t-1" in text
    assert "1 partition not fully in sync, which they are here when the run begins: t-1" in text


def test_a_setting_that_sources_state_differently_is_taken_by_rule_and_noted(tmp_path: Path) -> None:
    topics = TOPICS.replace("Configs: ", "Configs: min.insync.replicas=1")
    configs = "Configs for topic 't' are min.insync.replicas=2,cleanup.policy=compact"
    scenario, text = scenario_of(tmp_path, topics=topics, configs=configs)
    assert scenario.topics[0].config == {"min.insync.replicas": 2}
    assert "t: min.insync.replicas is 1 in one source, 2 in" in text
    assert "# left out: cleanup.policy=compact" in text
