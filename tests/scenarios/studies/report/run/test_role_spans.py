"""Spans of roles from written events."""

from __future__ import annotations

from emulator.protocol.events import (
    ControllerElected,
    Fault,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    RoutesChanged,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.studies.report.run import role_spans
from scenarios.studies.report.run.role_spans import TimeSpan

TP = TopicPartition.of("orders", 0)
STATE = "/brokers/topics/orders/partitions/0/state"


def stated(t_us: int, seq: int, leader: int, isr: str) -> ZkWritten:
    data = f'{{"controller_epoch":1,"leader":{leader},"version":1,"leader_epoch":1,"isr":{isr}}}'
    return ZkWritten(t_us, seq, 0, 0, "setData", STATE, 1, 1, data)


def topic(t_us: int, seq: int, replicas: str) -> ZkWritten:
    data = f'{{"version":1,"partitions":{{"0":{replicas}}}}}'
    return ZkWritten(t_us, seq, 0, 0, "setData", "/brokers/topics/orders", 1, 1, data)


STARTS = [NodeStarted(0, broker + 1, 0, broker, 1) for broker in range(3)]


def test_a_broker_is_controller_down_or_paused() -> None:
    events = [
        *STARTS,
        ControllerElected(5, 10, 0, 1, 1),
        NodeCrashed(20, 11, 0, 1, 1, "process"),
        Fault(30, 12, 0, "broker.pause", "2", ""),
        NodeStarted(40, 13, 0, 1, 2),
    ]
    assert role_spans.of_brokers(events, 50) == {
        0: [TimeSpan(0, 50, "o")],
        1: [TimeSpan(0, 5, "o"), TimeSpan(5, 20, "C"), TimeSpan(20, 40, "x"), TimeSpan(40, 50, "o")],
        2: [TimeSpan(0, 30, "o"), TimeSpan(30, 50, "P")],
    }


def test_a_replica_catches_up_joins_leads_fails_and_goes() -> None:
    events = [
        *STARTS,
        topic(1, 10, "[0,1]"),
        stated(1, 11, 0, "[0]"),
        PartitionFailed(5, 12, 0, 1, "fetcher", "orders", 0, 1, "error", "DiskError"),
        NodeCrashed(7, 13, 0, 1, 1, "process"),
        NodeStarted(9, 14, 0, 1, 2),
        stated(10, 15, 0, "[0,1]"),
        stated(20, 16, 1, "[0,1]"),
        topic(30, 17, "[1]"),
        stated(30, 18, 1, "[1]"),
    ]
    rows = role_spans.of_partitions(events, [TP], [0, 1, 2], 40)[TP]
    assert rows == {
        0: [TimeSpan(1, 20, "L"), TimeSpan(20, 30, "I")],
        1: [
            TimeSpan(1, 5, "f"), TimeSpan(5, 7, "F"), TimeSpan(7, 9, "x"), TimeSpan(9, 10, "f"), TimeSpan(10, 20, "I"),
            TimeSpan(20, 40, "L"),
        ],
    }  # fmt: skip


def test_a_cut_says_from_what_until_it_is_healed() -> None:
    events = [
        RoutesChanged(10, 1, 0, True, (1, 0, 1), (0, 1, -1)),
        RoutesChanged(20, 2, 0, False, (1, 0), (0, 1)),
        RoutesChanged(30, 3, 0, False, (1,), (-1,)),
    ]
    found = role_spans.of_cuts(events, 40)
    assert found[0] == [TimeSpan(10, 20, "broker 0 <-> broker 1")]
    assert [(span.t_us, span.end_us) for span in found[1]] == [(10, 20), (20, 30)]
    assert found[1][1].what == "broker 1 -> ZooKeeper"
