"""States of ISRs, flaps, unnecessary elections and recoveries, with values computed by hand."""

from __future__ import annotations

import pytest

from emulator.protocol.events import Fault
from emulator.protocol.types import TopicPartition
from scenarios.language.actions import all_actions, undone_by
from scenarios.observe.measures.recoveries import NO_FAULTS
from tests.scenarios.observe.measures.streams import Stream


def started(**measured: object) -> Stream:
    """orders-0 on [0,1,2], all in sync, at time 0."""
    stream = Stream(**measured)
    stream.topic("orders", {0: (0, 1, 2)})
    stream.state(0, (0, 1, 2))
    return stream


def test_at_min_isr_is_neither_below_it_nor_above() -> None:
    stream = started(default_min_isr=2)
    stream.at(1_000).state(0, (0, 1))
    stream.at(4_000).state(0, (0,))
    stream.at(9_000).state(0, (0, 1, 2))
    found = stream.finish(10_000)
    assert (found["at_min_isr_us"], found["at_min_isr_any_us"]) == (3_000_000, 3_000_000)
    assert (found["last_replica_us"], found["last_replica_any_us"]) == (5_000_000, 5_000_000)
    assert found["under_min_isr_any_us"] == found["under_min_isr_us"] == 5_000_000


def test_the_only_replica_is_not_the_last_one() -> None:
    stream = Stream()
    stream.topic("orders", {0: (0,)})
    stream.state(0, (0,))
    assert stream.finish(10_000)["last_replica_us"] == 0


def test_wall_time_counts_partitions_that_are_so_together_once() -> None:
    stream = Stream()
    stream.topic("orders", {0: (0, 1), 1: (0, 1)})
    first, second = (TopicPartition("orders", partition) for partition in range(2))
    for tp in (first, second):
        stream.state(0, (0, 1), tp=tp)
    stream.at(1_000).state(-1, (0,), tp=first)
    stream.at(2_000).state(-1, (0,), tp=second)
    stream.at(4_000).state(0, (0, 1), tp=first)
    stream.state(0, (0, 1), tp=second)
    found = stream.finish(5_000)
    assert (found["offline_us"], found["offline_any_us"]) == (5_000_000, 3_000_000)
    assert (found["last_replica_us"], found["last_replica_any_us"]) == (5_000_000, 3_000_000)


def test_more_in_sync_than_the_target_has_is_an_excess() -> None:
    stream = started()
    stream.at(1_000).move((3,))
    stream.topic("orders", {0: (0, 1, 2, 3)})
    stream.at(3_000).state(0, (0, 1, 2, 3))
    stream.at(4_000).state(3, (3,))
    found = stream.finish(9_000)
    assert found["excess_isr_any_us"] == 3_000_000
    assert found["excess_isr_us"] == 2_000_000 * 2 + 1_000_000 * 3


@pytest.mark.parametrize(("back_ms", "flaps"), [(61_000, 1), (61_001, 0)])
def test_a_replica_that_is_back_within_a_minute_flapped(back_ms: int, flaps: int) -> None:
    stream = started()
    stream.at(1_000).state(0, (0, 1))
    stream.at(back_ms).state(0, (0, 1, 2))
    assert stream.finish(100_000)["isr_flaps"] == flaps


def test_a_replica_that_joins_for_the_first_time_did_not_flap() -> None:
    stream = started()
    stream.topic("orders", {0: (0, 1, 2, 3)})
    stream.at(1_000).state(0, (0, 1, 2, 3))
    assert stream.finish(2_000)["isr_flaps"] == 0


@pytest.mark.parametrize(
    ("target", "isr", "unnecessary"),
    [((0, 1, 3), (0, 1, 2), 1), ((1, 2, 3), (0, 1, 2), 0), ((0, 1, 3), (1, 2), 0)],
    ids=["in the target and in sync", "not in the target", "not in sync any more"],
)
def test_an_election_is_unnecessary_where_the_old_leader_stays(
    target: tuple[int, ...], isr: tuple[int, ...], unnecessary: int
) -> None:
    stream = started()
    stream.at(1_000).move(target)
    stream.at(2_000).state(1, isr, 1)
    assert stream.finish(3_000)["unnecessary_elections"] == unnecessary


def test_a_recovery_lasts_from_the_fault_to_the_last_full_isr_before_the_next_one() -> None:
    stream = started()
    stream.at(1_000).emit(Fault, "broker.crash", "2", "")
    stream.at(7_000).state(0, (0, 1))
    stream.at(8_000).emit(Fault, "broker.start", "2", "")  # ends the fault, and is none
    stream.at(9_000).state(0, (0, 1, 2))
    stream.at(10_000).state(0, (0, 2))
    stream.at(11_000).state(0, (0, 1, 2))
    stream.at(20_000).emit(Fault, "link.cut", "1", "")
    found = stream.finish(30_000)
    assert (found["recovery_max_us"], found["unrecovered_faults"]) == (10_000_000, 0)


def test_a_fault_that_the_run_does_not_recover_from_counts_up_to_its_end() -> None:
    stream = started()
    stream.at(1_000).emit(Fault, "broker.crash", "2", "")
    stream.at(2_000).emit(Fault, "broker.crash", "1", "")
    stream.at(7_000).state(0, (0,))
    found = stream.finish(30_000)
    assert (found["recovery_max_us"], found["unrecovered_faults"]) == (28_000_000, 1)


def test_replicas_that_are_being_added_do_not_delay_the_recovery() -> None:
    stream = started()
    stream.at(1_000).emit(Fault, "zk.expire", "0", "")
    stream.at(2_000).move((0, 1, 3))
    stream.topic("orders", {0: (0, 1, 2, 3)})
    assert stream.finish(30_000)["recovery_max_us"] == 0


def test_what_is_no_fault_are_actions() -> None:
    assert set(NO_FAULTS) <= set(all_actions())
    assert {ends for name in all_actions() if (ends := undone_by(name))} <= set(NO_FAULTS)
