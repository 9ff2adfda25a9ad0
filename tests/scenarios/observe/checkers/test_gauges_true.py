"""T1 to T5: each with a history that breaks it, and one that only seems to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol import events as e
from emulator.protocol.events import ConsumerLag, UnassignedFollowerAdded
from emulator.protocol.znodes import CONTROLLER, broker_path, encode_broker, encode_controller
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.checkers.lag_true import MOST
from scenarios.observe.mbeans import (
    ACTIVE_CONTROLLERS,
    CONTROLLER_STATE,
    OFFLINE,
    REASSIGNED,
    REASSIGNING,
    UNDER_REPLICATED,
)
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

Brokers = tuple[int, ...]


class Shown(WrittenHistory):
    def registered(self, *metrics: str) -> None:
        for metric in metrics:
            self.emit(MetricRegistered, 0, "gauge", metric)

    def led(self, isr: Brokers, replicas: Brokers = (0, 1, 2), adding: Brokers = ()) -> Any:
        return self.emit(e.BecameLeader, 0, *ORDERS_0, 1, 0, 0, isr, replicas, adding, ())

    def shows(self, metric: str, value: int, node: int = 0) -> Any:
        return self.emit(GaugeSet, node, metric, value)

    def recount(self, really: bool = True) -> None:
        """Half a minute later."""
        self.world.now += 30_000_000
        if really:
            self.checkers.recount(self.world.now)

    def fails_over(self, *, between: Callable[[], object] = lambda: None) -> None:
        """Broker 0 takes over in epoch 5."""
        self.shows(CONTROLLER_STATE, 1)
        self.emit(e.ControllerElected, 0, 5)
        between()
        self.shows(CONTROLLER_STATE, 0)

    @property
    def broken(self) -> list[str]:
        return [violation.invariant for violation in self.checkers.finish()]


@pytest.fixture
def run() -> Shown:
    return Shown(
        "under_replicated_true", "reassigning_true", "lag_true", "offline_true", "one_active_controller"
    )  # fmt: skip


# -- T1, T2 -----------------------------------------------------------------------------------------------------------


def test_a_gauge_that_counts_what_its_leader_received(run: Shown) -> None:
    run.registered(UNDER_REPLICATED)
    run.led((0, 1))
    run.shows(UNDER_REPLICATED, 1)
    run.emit(e.IsrChanged, 0, *ORDERS_0, 1, "expand", (0, 1, 2), 1)
    run.shows(UNDER_REPLICATED, 0)
    run.rest()
    assert run.broken == []


def test_a_gauge_that_counts_another_number(run: Shown) -> None:
    run.registered(UNDER_REPLICATED)
    run.led((0, 1))
    run.shows(UNDER_REPLICATED, 2)
    assert run.broken == ["under_replicated_true"]


@pytest.mark.parametrize("rests", [True, False])
def test_a_gauge_that_forgets_to_change(run: Shown, rests: bool) -> None:
    run.registered(UNDER_REPLICATED)
    run.led((0, 1))
    if rests:
        run.rest()
    assert set(run.broken) == {"under_replicated_true"}


def test_a_gauge_that_drifts_and_comes_back() -> None:
    """The checker does not follow a replica that its leader adds by itself (0.8.0); the recount finds it."""
    for recounts in (False, True):
        run = Shown("under_replicated_true")
        run.registered(UNDER_REPLICATED)
        run.led((0, 1), (0, 1))
        run.emit(UnassignedFollowerAdded, 0, *ORDERS_0, 2)
        run.recount(recounts)
        run.emit(e.IsrChanged, 0, *ORDERS_0, 1, "expand", (0, 1, 2), 1)
        run.rest()
        assert run.broken == (["under_replicated_true"] if recounts else [])


def test_what_changes_in_this_very_instant_may_be_shown_still(run: Shown) -> None:
    run.registered(UNDER_REPLICATED)
    run.led((0, 1))
    run.checkers.recount(run.world.now)
    run.shows(UNDER_REPLICATED, 1)
    run.recount()
    assert run.broken == []


def test_a_broker_that_does_not_lead_counts_nothing(run: Shown) -> None:
    run.registered(UNDER_REPLICATED)
    run.led((0, 1))
    run.shows(UNDER_REPLICATED, 1)
    run.follows(0, 1, 2)
    run.rest()
    assert "under_replicated_true" in run.broken


def test_a_replica_that_went_with_its_log_directory_does_not_count(run: Shown) -> None:
    run.registered(UNDER_REPLICATED)
    run.led((0, 1))
    run.shows(UNDER_REPLICATED, 1)
    run.emit(e.ReplicaOffline, 0, *ORDERS_0)
    run.shows(UNDER_REPLICATED, 0)
    run.rest()
    assert run.broken == []


@pytest.mark.parametrize(("beside", "true"), [((), 1), ((REASSIGNING,), 0)])
def test_the_definition_is_the_releases(beside: tuple[str, ...], true: int) -> None:
    """KAFKA-8834: since 2.5 a replica that a reassignment adds does not count as missing."""
    for shown in (0, 1):
        run = Shown("under_replicated_true")
        run.registered(UNDER_REPLICATED, *beside)
        run.led((0, 1, 2), (0, 1, 2, 3), adding=(3,))
        run.shows(UNDER_REPLICATED, shown)
        assert run.broken == (["under_replicated_true"] if shown != true else [])


@pytest.mark.parametrize(("factor", "true"), [(2, 0), (3, 1), (0, 1)])
def test_0_8_goes_by_the_factor_that_the_broker_keeps(factor: int, true: int) -> None:
    """Whatever replicas the leader has taken in; where it keeps no factor, those count."""
    for shown in (0, 1):
        run = Shown("under_replicated_true")
        run.registered(UNDER_REPLICATED)
        if factor:
            run.emit(e.PartitionCreated, 0, *ORDERS_0, factor)
        run.led((0, 1), (0, 1, 2))
        run.shows(UNDER_REPLICATED, shown)
        assert run.broken == (["under_replicated_true"] if shown != true else [])


def test_the_drafts_definition_knows_names(run: Shown) -> None:
    run.registered(UNDER_REPLICATED, REASSIGNED)
    run.emit(e.ImpendingReplicasReceived, 0, *ORDERS_0, 1, (0, 1, 2), (2, 3, 4))
    run.led((0, 1, 3), (0, 1, 2, 3, 4))
    run.shows(UNDER_REPLICATED, 0)
    assert run.broken == ["under_replicated_true"]


def test_where_all_replicas_are_impending_the_drafts_definition_counts_none(run: Shown) -> None:
    """A controller that has taken over in the midst of a move does not know which were there before."""
    run.registered(UNDER_REPLICATED, REASSIGNED)
    run.emit(e.ImpendingReplicasReceived, 0, *ORDERS_0, 1, (), (0, 1, 2))
    run.led((0,))
    run.shows(UNDER_REPLICATED, 0)
    run.rest()
    assert run.broken == []


def test_the_drafts_definition_knows_names_after_the_move_too(run: Shown) -> None:
    """KAFKA-6794's hops: a replica that has left the assignment is still in the ISR, and does not replace a missing
    one."""
    run.registered(UNDER_REPLICATED, REASSIGNED)
    run.emit(e.ImpendingReplicasReceived, 0, *ORDERS_0, 1, (0, 2, 3), ())
    run.led((0, 1, 2), (0, 2, 3))
    run.shows(UNDER_REPLICATED, 1)
    assert run.broken == []


def test_reassigning(run: Shown) -> None:
    run.registered(REASSIGNING)
    run.led((0, 1, 2), (0, 1, 2, 3), adding=(3,))
    run.shows(REASSIGNING, 1)
    run.led((0, 1, 2, 3), (0, 1, 2, 3))
    run.shows(REASSIGNING, 1)
    assert run.broken == ["reassigning_true"]


# -- T3 ---------------------------------------------------------------------------------------------------------------


def fetching(run: Shown, position: int, high_watermark: int) -> None:
    run.leads(0, 1, high_watermark)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 1, position)
    run.world.now += 1_000_000


def lag(run: Shown, value: int) -> None:
    run.emit(ConsumerLag, 1, "ReplicaFetcherThread-0-0", *ORDERS_0, value)


def test_a_lag_of_what_is_committed_beyond_or_less(run: Shown) -> None:
    fetching(run, 10, 30)
    for value in (20, 10, 0):
        lag(run, value)
    assert run.broken == []


def test_kafka_7704_an_idle_follower_with_a_lag(run: Shown) -> None:
    fetching(run, 30, 30)
    lag(run, 30)
    assert run.broken == ["lag_true"]


def test_a_lag_that_stays_when_all_is_there(run: Shown) -> None:
    fetching(run, 10, 30)
    lag(run, 20)
    run.append(1, 20, 2)
    run.rest()
    assert run.broken == ["lag_true"]


@pytest.mark.parametrize(("most", "broken"), [(20, []), (10, ["lag_true"]), (30, ["lag_true"])])
def test_max_lag_is_the_largest_lag_of_the_threads(run: Shown, most: int, broken: list[str]) -> None:
    run.registered(MOST["Replica"])
    fetching(run, 10, 30)
    for thread, value in enumerate((20, 10)):
        run.emit(ConsumerLag, 0, f"ReplicaFetcherThread-{thread}-1", *ORDERS_0, value)
    run.shows(MOST["Replica"], most)
    run.world.now += 1_000_000
    run.checkers.look(run.world.now)
    assert run.broken == broken


# -- T4, T5 -----------------------------------------------------------------------------------------------------------


def controlled(run: Shown, *alive: int) -> None:
    for broker in alive:
        run.emit(ZkWritten, broker, "create", broker_path(broker), 0, 0, encode_broker(broker, 0))
    run.emit(ZkWritten, 0, "create", CONTROLLER, 0, 0, encode_controller(0, 0))
    run.shows(ACTIVE_CONTROLLERS, 1)


def test_kafka_1068_offline_partitions_that_the_new_controller_does_not_count(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.rest()
    assert run.broken == ["offline_true"]


def test_kafka_1068_right_after_the_failover(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.fails_over()
    run.shows(OFFLINE, 1)
    run.rest()
    assert run.broken == ["offline_true"]


def test_a_failover_that_ends_once_another_broker_is_the_controller(run: Shown) -> None:
    controlled(run, 0, 1)
    run.state(-1, (1,), 1)
    run.emit(ZkWritten, 1, "create", CONTROLLER, 0, 0, encode_controller(1, 0))
    run.shows(ACTIVE_CONTROLLERS, 1, node=1)
    run.fails_over()
    assert "offline_true" not in run.broken


def test_kafka_1068_offline_partitions_that_a_former_controller_shows(run: Shown) -> None:
    controlled(run, 0, 1)
    run.shows(OFFLINE, 1, node=1)
    run.rest()
    assert run.broken == ["offline_true"]


def test_a_count_from_before_the_end_of_the_failover(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.fails_over(between=lambda: run.shows(OFFLINE, 1))
    assert run.broken == []


def test_a_leader_that_dies_while_the_new_controller_looks_may_count_or_not() -> None:
    for shown in (0, 1):
        run = Shown("offline_true")
        controlled(run, 0, 1)
        run.state(1, (1,), 1)

        def dies(run: Shown = run) -> None:
            run.emit(ZkWritten, -1, "delete", broker_path(1), 0, 0, "")

        run.fails_over(between=dies)
        run.shows(OFFLINE, shown)
        run.fails_over()
        assert run.broken == ([] if shown else ["offline_true"])


def test_what_an_older_controller_still_writes_may_count_or_not(run: Shown) -> None:
    controlled(run, 0)
    run.state(0, (0,), 1, controller_epoch=4)
    run.fails_over(between=lambda: run.state(-1, (0,), 2, controller_epoch=4))
    assert run.broken == []


def test_offline_partitions_that_drift_and_come_back(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.checkers.recount(run.world.now)  # too early to judge
    run.shows(OFFLINE, 1)
    run.recount()
    assert run.broken == []
    run.shows(OFFLINE, 0)
    run.recount()
    run.shows(OFFLINE, 1)
    run.rest()
    assert run.checkers.counts["offline_true"] == 1


def test_a_busy_controller_may_be_late(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.shows(CONTROLLER_STATE, 2)
    run.recount()
    run.shows(OFFLINE, 1)
    run.shows(CONTROLLER_STATE, 0)
    run.recount()
    assert run.broken == []


def test_offline_partitions_that_are_counted(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.shows(OFFLINE, 1)
    run.rest()
    run.state(0, (0,), 2)
    run.shows(OFFLINE, 0)
    run.rest()
    assert run.broken == []


def test_a_leader_that_is_not_registered_is_none(run: Shown) -> None:
    controlled(run, 0)
    run.state(1, (1,), 1)
    run.rest()
    assert run.broken == ["offline_true"]


def test_a_topic_that_is_being_deleted_may_count_or_not(run: Shown) -> None:
    controlled(run, 0)
    run.state(-1, (1,), 1)
    run.emit(ZkWritten, -10, "create", "/admin/delete_topics/orders", 0, 0, "")
    run.rest()
    run.shows(OFFLINE, 1)
    run.rest()
    assert run.broken == []


def session(run: Shown, client: int, state: str, number: int = 0) -> None:
    run.emit(ZkSession, client, 100 + client + number, state)


def test_two_active_controllers(run: Shown) -> None:
    for broker in (0, 1):
        session(run, broker, "created")
        run.shows(ACTIVE_CONTROLLERS, 1, broker)
    assert run.broken == ["one_active_controller"]
    assert [found.brokers for found in run.checkers.violations] == [(0, 1)]


def test_a_controller_whose_session_has_expired_does_not_count(run: Shown) -> None:
    session(run, 0, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    session(run, 0, "expired")
    session(run, 1, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 1)
    assert run.broken == []
    session(run, 0, "created", 10)
    assert run.checkers.counts["one_active_controller"] == 1


def test_the_session_of_an_earlier_process_is_not_one_of_the_next(run: Shown) -> None:
    session(run, 0, "created")
    run.emit(e.NodeCrashed, 0, 1, "process")
    session(run, 0, "created", 10)
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    session(run, 0, "expired", 10)
    session(run, 1, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 1)
    assert run.broken == []


def test_a_session_that_was_asked_for_by_an_earlier_process_is_not_one_of_the_next(run: Shown) -> None:
    """The request was on its way as the process ended (1.1, seed 512)."""
    run.emit(e.NodeStarted, 0, 1)
    run.emit(e.NodeCrashed, 0, 1, "stop")
    session(run, 0, "created")
    run.emit(e.NodeStarted, 0, 2)
    session(run, 0, "created", 10)
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    session(run, 0, "expired", 10)
    session(run, 1, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 1)
    assert run.broken == []


def test_a_controller_whose_znode_an_operator_deletes_does_not_count_until_it_knows(run: Shown) -> None:
    for broker in (0, 1):
        session(run, broker, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    run.emit(ZkWritten, -10, "delete", "/controller", 0, 0, "")
    run.shows(ACTIVE_CONTROLLERS, 1, 1)
    assert run.broken == []
    run.shows(ACTIVE_CONTROLLERS, 0, 0)
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    assert run.broken == ["one_active_controller"]


@pytest.mark.parametrize("shown", [True, False])
def test_a_controller_that_has_resigned_shows_so(run: Shown, shown: bool) -> None:
    session(run, 0, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    run.emit(e.ControllerResigned, 0, 1)
    if shown:
        run.shows(ACTIVE_CONTROLLERS, 0, 0)
    run.emit(ZkWritten, 0, "delete", "/controller", 0, 0, "")
    assert run.broken == ([] if shown else ["one_active_controller"])


def test_nor_does_one_whose_znode_is_deleted_before_it_shows_it(run: Shown) -> None:
    for broker in (0, 1):
        session(run, broker, "created")
    run.emit(ZkWritten, 0, "create", "/controller", 0, 0, encode_controller(0, 0))
    run.emit(ZkWritten, -10, "delete", "/controller", 0, 0, "")
    run.emit(ZkWritten, 1, "create", "/controller", 0, 0, encode_controller(1, 0))
    run.shows(ACTIVE_CONTROLLERS, 1, 1)
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    assert run.broken == []
    run.emit(ZkWritten, 0, "create", "/controller", 0, 0, encode_controller(0, 0))
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    assert run.broken == ["one_active_controller"]


def test_a_crash_ends_it(run: Shown) -> None:
    session(run, 0, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 0)
    run.emit(e.NodeCrashed, 0, 1, "process")
    session(run, 1, "created")
    run.shows(ACTIVE_CONTROLLERS, 1, 1)
    assert run.broken == []
