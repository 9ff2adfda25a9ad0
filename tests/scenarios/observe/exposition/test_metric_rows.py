"""The brokers' metrics as rows of the data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated
from emulator.protocol.events import ConsumerLag, NodeCrashed, PartitionGauges
from scenarios.language.files import load
from scenarios.observe.exposition import MetricRows, ShownMetrics
from scenarios.observe.exposition.metric_rows import BrokerMetricRow
from scenarios.profiles import PROFILES
from scenarios.runs import run_record, run_scenario
from scenarios.runs.dataset.events import read_events
from scenarios.runs.dataset.reader import open_data_set, read_table
from tests.scenarios.runs.dataset.runs import spec

GAUGE = "kafka.server:type=ReplicaManager,name=LeaderCount"


def history(*events: object, lacks: tuple[str, ...] = ()) -> list[tuple[object, ...]]:
    """The rows of a run of 100 us, without node 7."""
    found = MetricRows(lacks)
    found(list(events))
    rows = found.rows(100)
    assert {row.node for row in rows} <= {7}
    return [(row.t_us, row.w_us, *row[3:]) for row in rows]


def test_a_gauge_has_a_row_for_each_value_that_lasted() -> None:
    rows = history(
        MetricRegistered(10, 1, 0, 7, "gauge", GAUGE),
        GaugeSet(30, 2, 0, 7, GAUGE, 4),
        GaugeSet(30, 3, 0, 7, GAUGE, 5),
        GaugeSet(60, 4, 0, 7, GAUGE, 5),
    )
    assert rows == [(10, 20, "gauge", GAUGE, None, None, 0), (30, 70, "gauge", GAUGE, None, None, 5)]


@pytest.mark.parametrize("end", [NodeCrashed(50, 9, 0, 7, 1, "process"), MetricRemoved(50, 9, 0, 7, GAUGE)])
def test_it_ends_with_its_metric(end: object) -> None:
    assert history(MetricRegistered(10, 1, 0, 7, "gauge", GAUGE), end) == [(10, 40, "gauge", GAUGE, None, None, 0)]


def test_meters_count_and_timers_have_a_row_for_each_time() -> None:
    meter = "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=T"
    timer = "kafka.controller:type=ControllerEventManager,name=EventQueueTimeMs"
    rows = history(
        MetricRegistered(0, 1, 0, 7, "timer", timer),
        MeterMarked(20, 2, 0, 7, meter, 300, 10),
        TimerUpdated(30, 3, 0, 7, timer, 8),
        TimerUpdated(30, 4, 0, 7, timer, 8),
        MetricRegistered(40, 5, 0, 7, "derived", "kafka.server:type=ReplicaFetcherManager,name=MinFetchRate"),
    )
    assert sorted(rows) == [
        (20, 80, "meter", meter, "T", None, 300),
        (30, 0, "timer", timer, None, None, 8),
        (30, 70, "timer", timer, None, None, 8),
    ]


def test_what_exists_for_each_partition() -> None:
    lag = "kafka.server:type=FetcherLagMetrics,name=ConsumerLag,clientId=F,topic=T,partition=3"
    rows = history(
        PartitionGauges(10, 1, 0, 7, "T", 3, True, 2, 3, True, False, False, False, 0),
        ConsumerLag(20, 2, 0, 7, "F", "T", 3, 50),
        ConsumerLag(40, 3, 0, 7, "F", "T", 3, -1),
        lacks=("AtMinIsr",),
    )
    assert (20, 20, "gauge", lag, "T", 3, 50) in rows
    shown = {str(row[3]).partition("name=")[2].partition(",")[0]: row[-1] for row in rows if row[3] != lag}
    assert shown == {
        "PartitionAvailable": 1, "InSyncReplicasCount": 2, "ReplicasCount": 3, "UnderReplicated": 1, "UnderMinIsr": 0
    }  # fmt: skip


def test_the_last_values_of_a_recorded_run_are_what_a_scrape_shows(tmp_path: Path) -> None:
    run = run_scenario(load("controller-dies-mid-move"), trace_dir=tmp_path)
    table = read_table(open_data_set(tmp_path), "broker_metrics")
    rows = [BrokerMetricRow(*list(row.values())[1:]) for row in table.to_pylist()]
    assert {row.kind for row in rows} == {"gauge", "meter", "timer"}
    end_us = round(run.virtual_s * 1e6)
    last = {(row.node, row.name): row.value for row in rows if row.kind != "timer" and row.t_us + row.w_us == end_us}
    shown = ShownMetrics(PROFILES[run.profile].policies.brokers.lacks_metrics)
    shown.see(read_events(read_table(open_data_set(tmp_path), "events")))
    assert last == {
        (node, name): metric.value
        for node in shown.nodes
        for name, metric in shown.metrics(node, end_us)
        if metric.kind in ("gauge", "meter")
    }
    assert len(last) > 100


def test_a_run_of_a_sweep_leaves_them_out() -> None:
    scenario = load("quick-move")
    record = run_record(evolve(spec(), scenario=json.dumps(scenario.to_table())))
    assert record.tables["true_gauges"]
    assert "broker_metrics" not in record.tables
