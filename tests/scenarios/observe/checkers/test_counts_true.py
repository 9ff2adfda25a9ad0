"""T8: gauges at rest, beside what they count."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from brokers.memories import HostedReplica
from emulator.metrics.metric_events import GaugeSet, MetricRegistered, MetricRemoved
from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlDelivered, ControlQueued
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from scenarios.observe import mbeans
from scenarios.observe.checkers.counts_true import IDLE, OF_A_TERM, OF_BROKERS, TOTAL
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

ORDERS_1 = TopicPartition("orders", 1)
BROKER = {
    "PartitionCount": 2, "LeaderCount": 1, "OfflineReplicaCount": 0, "UnderMinIsrPartitionCount": 1,
    "FailedPartitionsCount": 0, "NumGroups": 3, "AtMinIsrPartitionCount": 0, "NumOffsets": 7, "NumGroupsStable": 3,
    "NumGroupsEmpty": 0, "NumGroupsPreparingRebalance": 0, "NumGroupsCompletingRebalance": 0, "NumGroupsDead": 0,
}  # fmt: skip
CONTROLLER = {
    "GlobalTopicCount": 1, "GlobalPartitionCount": 1, "TopicsToDeleteCount": 0, "PreferredReplicaImbalanceCount": 1,
    "ReplicasToDeleteCount": 0, "TopicsIneligibleToDeleteCount": 0, "ReplicasIneligibleToDeleteCount": 0,
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
        "replicas": {ORDERS_0: led, ORDERS_1: followed},
        "groups": {"NumGroups": 3, "NumOffsets": 7, "NumGroupsStable": 3},
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
        run = shown(3, OF_A_TERM, CONTROLLER | wrong)
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


def queue(broker: int) -> str:
    return f"{mbeans.of_queues('QueueSize')},broker-id={broker}"


def queues(waiting: int, shown: int, total: int) -> list[str]:
    """Controller 3 has so many requests for broker 1, and its gauges show that."""
    run = Cluster("counts_true")
    request: Any = SimpleNamespace(controller_epoch=1)
    for metric in (queue(1), queue(2), TOTAL):
        run.emit(MetricRegistered, 3, "gauge", metric)
    for _ in range(waiting):
        run.show(ControlQueued, 3, 1, request)
    run.emit(GaugeSet, 3, queue(1), shown)
    run.emit(GaugeSet, 3, TOTAL, total)
    run.passes(3)
    return [violation.state for violation in run.violations()]


def test_the_queues_of_a_controller() -> None:
    assert queues(3, 2, 2) == queues(2, 2, 2) == []
    assert queues(1, 2, 2) == [f"broker 3 shows {queue(1)} = 2; by what it knows it is 1"]
    assert queues(3, 2, 3) == ["broker 3 shows TotalQueueSize = 3; by what it knows it is 2"]


def test_a_queue_that_is_empty_again() -> None:
    run = Cluster("counts_true")
    request: Any = SimpleNamespace(controller_epoch=1)
    for metric in (queue(1), TOTAL):
        run.emit(MetricRegistered, 3, "gauge", metric)
    run.show(ControlQueued, 3, 1, request)
    for metric in (queue(1), TOTAL):
        run.emit(GaugeSet, 3, metric, 1)
    run.passes(3)
    assert run.violations() == []
    run.show(ControlDelivered, 3, 1, request)
    run.passes(3)
    [violation] = run.violations()
    assert violation.state == f"broker 3 shows {queue(1)} = 1; by what it knows it is 0"


@pytest.mark.parametrize(("seconds", "value", "count"), [(20, 1, 1), (20, 0, 0), (0, 1, 0)])
@pytest.mark.parametrize("gauge", IDLE)
def test_an_event_queue_at_rest(gauge: str, seconds: int, value: int, count: int) -> None:
    run = Cluster("counts_true")
    run.emit(MetricRegistered, 0, "gauge", IDLE[gauge])
    run.passes(5)
    run.emit(GaugeSet, 0, IDLE[gauge], 2)
    run.emit(GaugeSet, 0, IDLE[gauge], value)
    run.passes(seconds)
    run.rest()
    assert len(run.violations()) == count


@pytest.mark.parametrize("offline", [False, True])
@pytest.mark.parametrize(("others", "removed", "count"), [((), False, 1), ((1,), False, 0), ((), True, 0)])
def test_the_metrics_of_a_topic_end_with_its_last_replica(
    offline: bool, others: tuple[int, ...], removed: bool, count: int
) -> None:
    run, metric = Cluster("counts_true"), "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=orders"
    for partition in (0, *others):
        run.emit(e.LogLoaded, 0, "orders", partition, 0, 0, 0)
    run.emit(MetricRegistered, 0, "meter", metric)
    if removed:
        run.emit(MetricRemoved, 0, metric)
    if offline:
        run.emit(e.ReplicaOffline, 0, *ORDERS_0)
    else:
        run.emit(e.ReplicaStopped, 0, *ORDERS_0, True)
    assert len(run.violations()) == count


def test_a_replica_that_is_stopped_keeps_its_metrics() -> None:
    run, metric = Cluster("counts_true"), "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=orders"
    run.loaded(0)
    run.emit(MetricRegistered, 0, "meter", metric)
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, False)
    assert run.violations() == []
