"""Answers of Prometheus' query API with the names and labels of those who export Kafka's figures: the JMX exporter with
several sets of rules (its own, Strimzi's, MSK's), kafka_exporter 1.4 to 1.7, KMinion 2."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scenarios.errors import BadInput
from scenarios.language.workloads import WorkloadSpec
from tests.scenarios.importing.texts import TWO, described, scenario_of

BYTES, MESSAGES = "kafka_server_brokertopicmetrics_bytesin_total", "kafka_server_brokertopicmetrics_messagesin_total"
OFFSET, HIGH = "kafka_topic_partition_current_offset", "kminion_kafka_topic_partition_high_water_mark"
STRIMZI = {"namespace": "kafka", "strimzi_io_cluster": "c", "kubernetes_pod_name": "c-kafka-0", "topic": "orders"}


def series(metric_name: str, /, *values: float | str, **labels: str) -> dict[str, Any]:
    """A series; an instant one, where it has one value. No name: without one."""
    metric = {"__name__": metric_name, **labels} if metric_name else labels
    samples = [[1_700_000_000 + 60 * place, str(value)] for place, value in enumerate(values)]
    return {"metric": metric, "value": samples[0]} if len(samples) == 1 else {"metric": metric, "values": samples}


def answer(*its: dict[str, Any]) -> str:
    kind = "vector" if "value" in its[0] else "matrix"
    return json.dumps({"status": "success", "data": {"resultType": kind, "result": its}})


def load_of(folder: Path, *its: dict[str, Any]) -> tuple[WorkloadSpec, str]:
    scenario, text = scenario_of(folder, topics=TWO, rates=answer(*its))
    (load,) = scenario.workloads
    return load, text


GAUGES: dict[str, tuple[str, str, Mapping[str, str]]] = {
    "Strimzi": ("kafka_server_brokertopicmetrics_bytesinpersec_oneminuterate",
                "kafka_server_brokertopicmetrics_messagesinpersec_oneminuterate", STRIMZI),
    "MSK": ("kafka_server_BrokerTopicMetrics_OneMinuteRate{name=BytesInPerSec}",
            "kafka_server_BrokerTopicMetrics_OneMinuteRate{name=MessagesInPerSec}", {"topic": "orders"}),
    "rules of one's own": ("kafka_bytes_in_per_second", "kafka_messages_in_per_second", {"topic": "orders"}),
}  # fmt: skip


@pytest.mark.parametrize("rules", GAUGES)
def test_rates_of_the_jmx_exporter_are_read_by_each_set_of_rules(rules: str, tmp_path: Path) -> None:
    *names, labels = GAUGES[rules]

    def one(name: str, value: float) -> dict[str, Any]:
        plain, _, label = name.removesuffix("}").partition("{name=")
        return series(plain, value, **labels, **({"name": label} if label else {}))

    load, _ = load_of(tmp_path, one(names[0], 100_000), one(names[1], 200))
    assert (load.producer_rate, load.message_size) == (200, 500)


def test_a_counter_that_begins_again_counts_on(tmp_path: Path) -> None:
    """A broker that restarts: 60,000 bytes, a new start, 30,000 and 30,000 more in two minutes and a half."""
    load, _ = load_of(tmp_path, series(BYTES, 1_000_000, 1_060_000, 30_000, 60_000, topic="orders"))
    assert load.producer_rate * load.message_size == pytest.approx(120_000 / 180, rel=0.02)


def test_a_leader_that_changes_its_broker_is_not_counted_twice(tmp_path: Path) -> None:
    one = series("kafka_bytes_in_per_second", 1000, 1000, topic="orders", instance="k1")
    other = series("kafka_bytes_in_per_second", 0, 0, 1000, 1000, topic="orders", instance="k2")
    other["values"] = other["values"][2:]
    load, _ = load_of(tmp_path, one, other)
    assert load.producer_rate * load.message_size == pytest.approx(1000, rel=0.02)


@pytest.mark.parametrize(("name", "topic", "partition"), [
    (OFFSET, "topic", "partition"), (HIGH, "topic_name", "partition_id"),
    ("kafka_log_log_logendoffset", "topic", "partition"),
])  # fmt: skip
def test_end_offsets_are_messages_of_partitions_once_for_all_instances(
    name: str, topic: str, partition: str, tmp_path: Path
) -> None:
    """Two exporters, or replicas, have the same series."""
    its = [
        series(name, 0, 60 * rate, **{topic: "orders", partition: str(number)}, instance=instance)
        for number, rate in enumerate((300, 100)) for instance in ("a", "b")
    ]  # fmt: skip
    load, text = load_of(tmp_path, *its)
    assert load.producer_rate == 400
    assert load.shares == (300 * 1024, 100 * 1024)
    assert "the size of a message is a guess" in text


@pytest.mark.parametrize("apart", [True, False])
def test_bytes_of_a_topic_are_spread_by_the_offsets_of_its_partitions(apart: bool, tmp_path: Path) -> None:
    """The JMX exporter has the bytes and kafka_exporter the partitions, in one answer or in two."""
    byte = series(BYTES, 0, 60 * 40_000, topic="orders")
    offsets = [
        series(OFFSET, 0, 60 * rate, topic="orders", partition=str(number)) for number, rate in ((0, 30), (1, 10))
    ]
    texts = {"rates": answer(byte), "more_rates": answer(*offsets)} if apart else {"rates": answer(byte, *offsets)}
    scenario, text = scenario_of(tmp_path, topics=TWO, **texts)
    (load,) = scenario.workloads
    assert (load.producer_rate, load.message_size, load.shares) == (40, 1000, (30_000, 10_000))
    assert "guess" not in text.partition("[[workloads]]")[2]


def test_bytes_and_messages_of_two_queries_are_one_rate(tmp_path: Path) -> None:
    one, two = answer(series(BYTES, 0, 6_000_000, topic="orders")), answer(series(MESSAGES, 0, 12_000, topic="orders"))
    for texts in ({"rates": one, "more_rates": two}, {"rates": two, "more_rates": one}):
        (load,) = scenario_of(tmp_path, topics=TWO, **texts)[0].workloads
        assert (load.producer_rate, load.message_size) == (200, 500)


def test_what_else_is_in_the_answer_is_left_out_and_named(tmp_path: Path) -> None:
    load, text = load_of(
        tmp_path, series(BYTES, 0, 6_000_000, topic="orders"), series(BYTES, 0, 6_000_000),
        series("kafka_server_brokertopicmetrics_bytesout_total", 0, 9_000_000, topic="orders"),
        series("kafka_server_brokertopicmetrics_replicationbytesin_total", 0, 9_000_000, topic="orders"),
        series(BYTES, "NaN", "NaN", topic="other"),
    )  # fmt: skip
    assert load.producer_rate * load.message_size == pytest.approx(100_000, rel=0.01)
    assert "2 other figures, left out: kafka_server_brokertopicmetrics_bytesout_total" in text
    assert "1 series without a number (NaN) are left out" in text
    assert "1 series without a topic" in text


@pytest.mark.parametrize(
    ("its", "words"),
    [
        ([series("", 5, topic="orders", partition="0")], "series of partitions without a name, as rate() makes them"),
        ([series("", 5, topic_name="orders")], 'ask for label_replace(..., "name", "MessagesInPerSec", "", "")'),
        ([series("kafka_consumergroup_current_offset", 5, topic="orders")], "is not BytesInPerSec or MessagesInPerSec"),
        ([series(OFFSET, 5, topic="orders", partition="0")], f'ask for label_replace(rate({OFFSET}[5m]), "name", "'),
        ([series(OFFSET, 0, 5, topic="orders", partition="all")], "'all' is no partition number"),
        (
            [series("k_BrokerTopicMetrics_OneMinuteRate", 5, name="BytesInPerSec", topic="orders"),
             series("k_BrokerTopicMetrics_MeanRate", 5, name="BytesInPerSec", topic="orders")],
            "OneMinuteRate and k_BrokerTopicMetrics_MeanRate are the same rate of bytes; ask for one of them",
        ),
        ([series(BYTES, "+Inf", 5, topic="orders")], "'+Inf' is no rate; write a number from 0"),
    ],
)  # fmt: skip
def test_what_may_be_read_wrongly_is_one_line(its: list[dict[str, Any]], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        load_of(tmp_path, *its)
    assert words in str(raised.value)


def test_the_query_that_is_recommended_for_offsets_is_read(tmp_path: Path) -> None:
    """label_replace() around rate() leaves a series with the label name and without a name."""
    load, _ = load_of(tmp_path, series("", 250, name="MessagesInPerSec", topic="orders", partition="1"))
    assert (load.producer_rate, load.shares) == (250, (0, 256_000))


def test_a_topic_without_traffic_has_no_load(tmp_path: Path) -> None:
    topics = TWO + described("quiet", "Leader: 1\tReplicas: 1,2\tIsr: 1,2")
    rates = answer(series(BYTES, 0, 6_000_000, topic="orders"), series(BYTES, 5, 5, topic="quiet"))
    scenario, _ = scenario_of(tmp_path, topics=topics, rates=rates)
    assert [load.topic for load in scenario.workloads] == ["orders"]
