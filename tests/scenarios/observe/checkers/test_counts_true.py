"""T8: gauges at rest, beside what they count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brokers.memories import HostedReplica
from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol import events as e
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.counts_true import OF_A_TERM, OF_BROKERS, OF_CONTROLLERS
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

ORDERS_1 = TopicPartition("orders", 1)
BROKER = {
    "PartitionCount": 2, "LeaderCount": 1, "OfflineReplicaCount": 0, "UnderMinIsrPartitionCount": 1,
    "FailedPartitionsCount": 0, "NumGroups": 3, "AtMinIsrPartitionCount": 0,
}  # fmt: skip
CONTROLLER = {
    "GlobalTopicCount": 1, "GlobalPartitionCount": 1, "TopicsToDeleteCount": 0, "PreferredReplicaImbalanceCount": 1,
}  # fmt: skip


def shown(node: int, names: dict[str, str], values: dict[str, int], lacks: str = "") -> Cluster:
    """Broker 0 leads orders-0 alone, which broker 1 should, and follows orders-1; broker 3 is the controller."""
    run = Cluster("counts_true")
    run.assigned((1, 0))
    run.passes(20)
    for name, metric in names.items():
        if name != lacks:
            run.emit(MetricRegistered, node, "gauge", metric)
            if values[name]:
                run.emit(GaugeSet, node, metric, values[name])
    return run


def rests(run: Cluster, role: str, memories: dict[str, Any]) -> list[str]:
    for _ in range(2):  # each is found once
        run.show(Remembered, 0 if role == "broker" else 3, role, "rest", memories)
    return [violation.state for violation in run.violations()]


def of_broker(wrong: dict[str, int] | None = None, *, lacks: str = "") -> list[str]:
    led = HostedReplica(True, 0, 1, (0,), 1, "d0")
    followed = HostedReplica(False, 1, 1, (), -1, "d0")
    memories = {
        "replicas": {ORDERS_0: led, ORDERS_1: followed}, "groups": 3,
        "settings": {"orders": SimpleNamespace(min_insync_replicas=2)},
    }  # fmt: skip
    return rests(shown(0, OF_BROKERS, BROKER | (wrong or {}), lacks), "broker", memories)


@pytest.mark.parametrize("gauge", [name for name in BROKER if name != "FailedPartitionsCount"])
def test_what_a_broker_counts(gauge: str) -> None:
    assert of_broker() == []
    wrong = BROKER[gauge] + 1
    assert of_broker({gauge: wrong}) == [f"broker 0 shows {gauge} = {wrong}; by what it knows it is {BROKER[gauge]}"]


def test_a_gauge_that_the_release_has_not() -> None:
    assert of_broker({"LeaderCount": 0}) != []
    assert of_broker({"LeaderCount": 0}, lacks="LeaderCount") == []


def test_a_partition_on_which_a_fetcher_has_given_up() -> None:
    run = shown(0, OF_BROKERS, BROKER | {"LeaderCount": 0})
    run.emit(e.PartitionFailed, 0, "fetcher", *ORDERS_1, 1, "it is corrupt", "CorruptRecordException")
    run.passes(3)
    [violation] = run.violations()
    assert violation.state == "broker 0 shows FailedPartitionsCount = 0; by what it knows it is 1"


def test_a_broker_that_does_not_lead_any_more() -> None:
    run = shown(0, OF_BROKERS, BROKER)
    run.leads(0, 1)
    run.passes(3)
    assert run.violations() == []
    run = shown(0, OF_BROKERS, BROKER)
    run.leads(0, 1)
    run.follows(0, 1, 2)
    run.passes(3)
    [violation] = run.violations()
    assert violation.state == "broker 0 shows LeaderCount = 1; by what it knows it is 0"


@pytest.mark.parametrize("gauge", CONTROLLER)
def test_what_a_controller_counts(gauge: str) -> None:
    for wrong, count in (({}, 0), ({gauge: CONTROLLER[gauge] + 1}, 1)):
        run = shown(3, OF_CONTROLLERS, CONTROLLER | wrong)
        assert len(rests(run, "controller", {"deletions": (), "moves": {}})) == count


@pytest.mark.parametrize(("node", "found"), [(3, 0), (0, 1)])
def test_a_gauge_of_a_term_that_is_over(node: int, found: int) -> None:
    run = Cluster("counts_true")
    run.passes(20)
    run.emit(MetricRegistered, node, "gauge", OF_A_TERM["ReplicasIneligibleToDeleteCount"])
    run.emit(GaugeSet, node, OF_A_TERM["ReplicasIneligibleToDeleteCount"], 2)
    run.rest()
    assert [violation.state for violation in run.violations()] == [
        "broker 0 shows ReplicasIneligibleToDeleteCount = 2; by what it knows it is 0"
    ] * found


@pytest.mark.parametrize(("lag", "apart_s", "count"), [(20, 2, 0), (0, 2, 1), (0, 1, 0)])
def test_the_lag_of_the_last_stable_offset(lag: int, apart_s: int, count: int) -> None:
    """Batch 2, at 10, belongs to an open transaction; the high watermark is 30."""
    run = shown(0, OF_BROKERS, BROKER)
    run.leads(0, 1)
    for base in (0, 10, 20):
        run.append(0, base, 1 + base // 10, leader=True)
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, 7, 2, 10)
    run.high_watermark(0, 30, leader=True)
    run.emit(e.LastStableOffsetLag, 0, *ORDERS_0, lag)
    memories = {"replicas": {}, "groups": 3, "settings": {}}
    for _ in range(2):
        run.show(Remembered, 0, "broker", "rest", memories)
        run.world.now += apart_s * 1_000_000
    found = [str(violation.state) for violation in run.violations() if "LastStable" in str(violation.state)]
    assert found == ["broker 0 shows LastStableOffsetLag of orders-0 = 0; by what it knows it is 20"] * count
