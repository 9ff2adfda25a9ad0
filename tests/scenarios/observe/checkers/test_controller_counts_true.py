"""T8: the gauges of the controller count what is in ZooKeeper."""

import pytest

from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol.znodes import delete_topic_path
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.controller_counts_true import COUNTED, IMBALANCED, TO_DELETE, TOPICS
from tests.scenarios.observe.checkers.test_led_in_time import Cluster

CONTROLLER = 3


def story() -> Cluster:
    """A controller that has worked for a minute, with one topic of one partition, led by its preferred replica."""
    run = Cluster("controller_counts_true")
    run.assigned((0, 1, 2))
    for metric in COUNTED:
        run.emit(MetricRegistered, CONTROLLER, "gauge", metric)
        run.emit(GaugeSet, CONTROLLER, metric, {TOPICS: 1, IMBALANCED: 0, TO_DELETE: 0}.get(metric, 1))
    return run


def found(run: Cluster) -> list[str]:
    return [violation.state for violation in run.violations()]


def test_counts_that_are_true() -> None:
    run = story()
    run.passes(60)
    run.rest()
    assert found(run) == []


@pytest.mark.parametrize("counted", [True, False])
def test_a_partition_that_another_replica_leads(counted: bool) -> None:
    run = story()
    run.state(1, (0, 1, 2), 2)
    if counted:
        run.emit(GaugeSet, CONTROLLER, IMBALANCED, 1)
    run.passes(60)
    text = "controller 3 shows PreferredReplicaImbalanceCount = 0; by ZooKeeper it is 1"
    assert found(run) == ([] if counted else [text])


def test_a_topic_that_is_to_be_deleted() -> None:
    """It is not imbalanced any more."""
    run = story()
    run.state(1, (0, 1, 2), 2)
    run.emit(ZkWritten, -1, "create", delete_topic_path("orders"), 0, 0, "")
    run.emit(GaugeSet, CONTROLLER, TO_DELETE, 1)
    run.passes(60)
    assert found(run) == []


def test_a_gauge_that_the_release_does_not_have() -> None:
    """KIP-503 (2.4)."""
    run = Cluster("controller_counts_true")
    run.assigned((0, 1, 2))
    run.emit(MetricRegistered, CONTROLLER, "gauge", TOPICS)
    run.emit(GaugeSet, CONTROLLER, TOPICS, 1)
    run.emit(ZkWritten, -1, "create", delete_topic_path("orders"), 0, 0, "")
    run.passes(60)
    assert found(run) == []
