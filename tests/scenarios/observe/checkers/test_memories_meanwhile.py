"""E9, G2, M9 and T8 before the cluster is at rest: a memory that is otherwise at three looks in a row."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol.shown import RememberedMeanwhile
from scenarios.observe import mbeans
from scenarios.observe.checkers.controller_remembers import WATCHED
from scenarios.observe.history.deadlines import Lasting
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

COORDINATES = {"coordinates": {ORDERS_0: 1}, "replicas": {}}
NOT_ANY_MORE: dict[str, Any] = {"coordinates": {}, "replicas": {}}


def looks(run: Cluster, broker: int, memories: list[dict[str, Any]], *, role: str = "broker", every_s: int = 5) -> int:
    """The number of findings where a broker remembers this at looks one after the other."""
    for one in memories:
        run.passes(every_s)
        run.show(RememberedMeanwhile, broker, role, "meanwhile", one)
    return len(run.violations())


@pytest.mark.parametrize(
    ("memories", "count"),
    [
        ([COORDINATES] * 2, 0),
        ([COORDINATES] * 3, 1),
        ([COORDINATES] * 6, 1),
        ([COORDINATES, COORDINATES, NOT_ANY_MORE, COORDINATES, COORDINATES], 0),
    ],
)
def test_three_looks_in_a_row(memories: list[dict[str, Any]], count: int) -> None:
    run = Cluster("coordinators_lead")
    assert looks(run, 1, memories) == count


def test_looks_that_are_far_apart_are_not_in_a_row() -> None:
    run = Cluster("coordinators_lead")
    assert looks(run, 1, [COORDINATES] * 5, every_s=8) == 0


@pytest.mark.parametrize("fault", ["zookeeper.stop", "broker.pause"])
def test_what_a_fault_may_delay_is_excused(fault: str) -> None:
    run = Cluster("coordinators_lead")
    for _ in range(2):
        looks(run, 1, [COORDINATES] * 2)
        run.fault(fault, "3")
    assert looks(run, 1, [COORDINATES]) == 0


def test_each_look_counts_for_its_broker() -> None:
    lasting: Lasting[str] = Lasting(10, 7)
    assert [lasting.overdue(at, ["wrong"], now_us, 0) for now_us in (1, 6, 11) for at in (1, 2)] == [[]] * 4 + [
        ["wrong"],
        ["wrong"],
    ]
    assert lasting.overdue(1, ["wrong"], 16, 8) == []


@pytest.mark.parametrize(("led", "count"), [(1, 0), (2, 1)])
def test_a_gauge_that_is_wrong(led: int, count: int) -> None:
    run = Cluster("counts_true")
    name = mbeans.of_replicas("PartitionCount")
    run.emit(MetricRegistered, 0, "gauge", name)
    run.emit(GaugeSet, 0, name, led)
    replica: Any = type("Replica", (), {"leads": False})
    memories = {"replicas": {ORDERS_0: replica}, "settings": {}, "groups": {}}
    assert looks(run, 0, [memories] * 3) == count


@pytest.mark.parametrize(("broker", "found"), [(3, True), (1, False)])
def test_a_controller_that_has_missed_a_broker(broker: int, found: bool) -> None:
    run = Cluster("controller_remembers")
    memories: dict[str, Any] = {
        "epoch": 1, "brokers": dict.fromkeys((0, 1, 3), 0), "channels": (0, 1, 3), "assignments": {},
        "watched_topics": {}, "watched": WATCHED, "reassigning": {}, "leaders": run.checkers.history.cluster.states,
        "deletions": (), "batch": 0, "topic_ids": {}, "left_deletions": (), "rebalance_lost": False, "moves": {},
        "shutting_down": (), "offline_dirs": {}, "partition_states": {}, "replica_states": {},
    }  # fmt: skip
    assert bool(looks(run, broker, [memories] * 3, role="controller")) is found
