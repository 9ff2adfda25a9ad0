"""What follows from what an application saw."""

import pytest
from attrs import evolve

from benchmarks.clients.__main__ import measured
from benchmarks.clients.faults import FAULTS
from benchmarks.clients.history import Seen, findings, longest_gap_s, read, reordered
from benchmarks.clients.known import CLIENTS


def acked(*records: int) -> list[Seen]:
    return [Seen(float(index), "acked", record) for index, record in enumerate(records)]


def received(*records: int) -> list[Seen]:
    return [Seen(float(index), "received", record) for index, record in enumerate(records)]


def test_records_that_are_acknowledged_and_not_in_the_log_are_lost() -> None:
    found = findings([*acked(0, 1, 2, 3), Seen(9, "failed", 4, "NETWORK")], received(0, 1, 2), [0, 1, 4])
    assert (found.acked, found.failed, found.lost, found.unread) == (4, 1, 2, 1)
    assert found.errors == {"NETWORK": 1}


def test_a_record_that_is_twice_in_the_log_may_be_read_twice() -> None:
    found = findings(acked(0, 1, 2), received(0, 1, 1, 2, 2), [0, 1, 2, 1])
    assert (found.duplicated, found.reread, found.reordered) == (1, 1, 0)


@pytest.mark.parametrize(
    ("log", "count"), [([0, 1, 2], 0), ([0, 2, 1], 1), ([3, 0, 1, 2], 3), ([0, 1, 0, 2], 0), ([], 0)]
)
def test_records_are_out_of_order_behind_later_ones(log: list[int], count: int) -> None:
    assert reordered(log) == count


def test_the_longest_gap_is_between_neighbours() -> None:
    times = [Seen(t_s, "acked", 0) for t_s in (5, 1, 1.5, 9.5)]
    assert longest_gap_s([*times, Seen(7, "failed", 1, "X")], "acked") == 4.5
    assert longest_gap_s(times[:1], "acked") == 0


def test_a_line_that_is_cut_short_is_left_out() -> None:
    lines = ['{"t_s": 1.0, "kind": "acked", "record": 3, "error": ""}\n', '{"t_s": 2.0, "kin']
    assert read(lines) == [Seen(1.0, "acked", 3)]


def test_a_leader_moves_under_a_real_producer_and_consumer(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    monkeypatch.setattr("benchmarks.clients.__main__.AFTER_S", 1.0)
    monkeypatch.setattr("benchmarks.clients.__main__.BEFORE_S", 1.5)
    [fault] = [evolve(fault, seconds=3) for fault in FAULTS if fault.name == "leader-moves"]
    found = measured(CLIENTS[0], fault)
    assert found.acked > 100
    assert (found.lost, found.duplicated, found.failed) == (0, 0, 0)
