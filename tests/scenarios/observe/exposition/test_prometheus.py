"""Names and labels that jmx_exporter gives with its example ``kafka-2_0_0.yml`` (as of August 2026), as facts."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, TimerUpdated
from scenarios.observe.exposition import ShownMetrics, text


def scraped(kind: str, metric: str) -> set[str]:
    """The samples of one metric of broker 7, without their values."""
    written: dict[str, Any] = {
        "gauge": lambda: GaugeSet(0, 2, 0, 7, metric, 3),
        "meter": lambda: MeterMarked(0, 2, 0, 7, metric, 3, 0),
        "timer": lambda: TimerUpdated(0, 2, 0, 7, metric, 3000),
    }
    shown = ShownMetrics()
    shown.see([MetricRegistered(0, 1, 0, 7, kind, metric), written[kind]()])
    lines = [line for line in text(shown, 1_000_000) if not line.startswith("#")]
    return {line.rpartition(" ")[0].replace('node="7",', "").replace('{node="7"}', "") for line in lines}


@pytest.mark.parametrize(
    ("kind", "metric", "sample"),
    [
        (
            "gauge",
            "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions",
            "kafka_server_replicamanager_underreplicatedpartitions",
        ),
        (
            "gauge",
            "kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=ReplicaFetcherThread-0-1,topic=T,partition=2",
            'kafka_server_fetcherlagmetrics_consumerlag{clientId="ReplicaFetcherThread-0-1",topic="T",partition="2"}',
        ),
        (
            "gauge",
            "kafka.cluster:type=Partition,name=UnderReplicated,topic=T,partition=2",
            'kafka_cluster_partition_underreplicated{topic="T",partition="2"}',
        ),
        (
            "gauge",
            "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica",
            'kafka_server_replicafetchermanager_maxlag{clientId="Replica"}',
        ),
        (
            "gauge",
            "kafka.controller:type=ControllerChannelManager,name=QueueSize,broker-id=3",
            'kafka_controller_controllerchannelmanager_queuesize{broker_id="3"}',
        ),
        (
            "meter",
            "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=T",
            'kafka_server_brokertopicmetrics_bytesin_total{topic="T"}',
        ),
        (
            "meter",
            "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec",
            "kafka_server_replicamanager_isrshrinks_total",
        ),
        (
            "timer",
            "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs",
            "kafka_controller_controllerstats_leaderelectionrateandtimems_count",
        ),
        (
            "timer",
            "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs",
            'kafka_controller_controllerstats_leaderelectionrateandtimems{quantile="0.999"}',
        ),
        (
            "timer",
            "kafka.controller:type=ControllerChannelManager,name=RequestRateAndQueueTimeMs,broker-id=3",
            'kafka_controller_controllerchannelmanager_requestrateandqueuetimems{broker_id="3",quantile="0.50"}',
        ),
    ],
)
def test_what_an_exporter_would_show(kind: str, metric: str, sample: str) -> None:
    assert sample in scraped(kind, metric)


def test_a_fetchers_leader_is_one_label() -> None:
    """As the file means it; its rule misses meters."""
    metric = (
        "kafka.server:type=FetcherStats,name=BytesPerSec,clientId=ReplicaFetcherThread-0-1,"
        "brokerHost=broker-1,brokerPort=9092"
    )
    sample = 'kafka_server_fetcherstats_bytes_total{clientId="ReplicaFetcherThread-0-1",broker="broker-1:9092"}'
    assert sample in scraped("meter", metric)


def test_an_attribute_without_a_name() -> None:
    assert scraped("gauge", "kafka.server:type=LeaderReplication:byte-rate") == {
        "kafka_server_leaderreplication_byte_rate"
    }
