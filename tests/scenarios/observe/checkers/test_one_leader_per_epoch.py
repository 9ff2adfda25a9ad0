"""E1: one broker per partition and leader epoch."""

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.one_leader_per_epoch import OneLeaderPerEpoch
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = OneLeaderPerEpoch.name


def test_two_brokers_adopt_one_epoch() -> None:
    run = WrittenHistory(NAME)
    run.leads(0, 3)
    second = run.leads(1, 3)
    [violation] = run.violations()
    assert violation.seq == second.seq
    assert violation.state == ("orders-0, epoch 3: led by broker 0 (by its own word) and by broker 1 (by its own word)")


def test_zookeeper_names_two() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0, 1), 3)
    run.state(1, (0, 1), 3)
    assert run.invariants() == [NAME]


def test_a_broker_leads_what_zookeeper_gave_to_another() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0, 1), 3)
    run.leads(1, 3)
    assert run.invariants() == [NAME]


def test_the_controller_says_other_than_zookeeper() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0, 1), 3)
    run.emit(e.LeaderElected, *ORDERS_0, 1, 3, (0, 1), "offline", 1, False)
    assert run.invariants() == [NAME]


def test_isr_changes_repetitions_and_new_epochs() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0, 1), 0)
    run.leads(0, 0)
    run.state(0, (0,), 0)
    run.leads(0, 0)
    run.state(-1, (0,), 1)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    run.leads(0, 0)
    assert run.violations() == []


def test_a_state_without_leader_names_no_broker() -> None:
    run = WrittenHistory(NAME)
    run.state(-1, (0,), 1)
    run.state(0, (0,), 1)
    assert run.violations() == []


def test_a_new_partition_of_the_same_name_has_new_epochs() -> None:
    run = WrittenHistory(NAME)
    run.state(0, (0,), 0)
    run.deleted()
    run.state(1, (1,), 0)
    assert run.violations() == []


@pytest.mark.parametrize("topic", ["orders", "payments"])
def test_partitions_are_independent(topic: str) -> None:
    run = WrittenHistory(NAME)
    run.leads(0, 0)
    run.emit(e.BecameLeader, 1, topic, 1, 0, 0, 0, (), (), (), ())
    assert run.violations() == []
