"""Bytes: what moves moved and wasted, and the peaks of brokers."""

from __future__ import annotations

from emulator.metrics.metric_events import MeterMarked, MetricRegistered
from emulator.protocol.events import MoveAnswered, ReplicaStopped, Truncated
from scenarios.observe.measures.added_replicas import AddedReplicaRow
from scenarios.observe.measures.broker_traffic import METERS, BrokerTrafficRow
from tests.scenarios.observe.measures.streams import Stream

BYTES_IN, BYTES_OUT, REPLICATION_IN, REPLICATION_OUT = METERS


def moving() -> Stream:
    """orders-0 moves from [0,1] to [0,2] from 1 s on."""
    stream = Stream()
    stream.topic("orders", {0: (0, 1)})
    stream.state(0, (0, 1))
    stream.at(1_000).move((0, 2))
    stream.topic("orders", {0: (0, 1, 2)})
    return stream


def test_only_what_added_replicas_fetch_during_a_move_is_moved() -> None:
    stream = moving()
    stream.append(0, 3, leader=True)
    stream.append(1, 3)
    stream.append(2, 3)
    stream.append(2, 6, base=3)
    stream.topic("orders", {0: (0, 2)})
    stream.at(5_000).moved()
    stream.append(2, 9, base=6)
    found = stream.finish(9_000)
    assert (found["bytes_moved"], found["bytes_wasted"]) == (200, 0)
    assert stream.rows("added_replicas") == [AddedReplicaRow(1_000_000, 4_000_000, "orders", 0, 2, 200, 0, True)]


def test_what_is_truncated_or_deleted_and_fetched_again_is_wasted() -> None:
    stream = moving()
    for end in (3, 6, 9):
        stream.append(2, end, base=end - 3)
    stream.emit(Truncated, 2, "orders", 0, 0, 3, 0)
    stream.append(2, 6, base=3)
    stream.emit(ReplicaStopped, 2, "orders", 0, True)
    stream.append(2, 3)
    found = stream.finish(9_000)
    assert (found["bytes_moved"], found["bytes_wasted"]) == (500, 400)


def test_a_cancelled_move_wasted_all() -> None:
    stream = moving()
    stream.append(2, 3)
    stream.topic("orders", {0: (0, 1)})
    stream.at(2_000).moved()
    found = stream.finish(9_000)
    assert (found["bytes_moved"], found["bytes_wasted"]) == (100, 100)


def test_a_request_that_is_refused_moves_nothing() -> None:
    stream = moving()
    stream.emit(MoveAnswered, "orders", 0, "INVALID_REPLICA_ASSIGNMENT")
    stream.append(2, 3)
    assert stream.finish(9_000)["bytes_moved"] == 0


def meters(stream: Stream, node: int, **totals: int) -> None:
    for name, total in totals.items():
        stream.emit(
            MeterMarked, node, {"bytes_in": BYTES_IN, "bytes_out": BYTES_OUT, "out": REPLICATION_OUT}[name], total, 0
        )


def test_the_peak_is_the_most_of_one_broker_in_one_second() -> None:
    stream = Stream()
    for node in (0, 1):
        for name in METERS:
            stream.emit(MetricRegistered, node, "meter", name)
    meters(stream.at(1_000), 0, bytes_in=500, out=300)
    meters(stream.at(1_000), 1, bytes_out=350)
    meters(stream.at(2_000), 0, bytes_in=600, bytes_out=100, out=700)
    found = stream.finish(9_000)
    assert (found["peak_broker_ingress"], found["peak_broker_egress"]) == (500, 500)
    assert stream.rows("broker_traffic") == [
        BrokerTrafficRow(0, 1_000_000, 0, 500, 0, 0, 300),
        BrokerTrafficRow(0, 1_000_000, 1, 0, 350, 0, 0),
        BrokerTrafficRow(1_000_000, 1_000_000, 0, 100, 100, 0, 400),
    ]


def test_a_new_process_counts_from_nothing() -> None:
    stream = Stream()
    for at_ms in (1_000, 2_000):
        stream.at(at_ms).emit(MetricRegistered, 0, "meter", REPLICATION_IN)
        stream.emit(MeterMarked, 0, REPLICATION_IN, 500, 0)
    stream.finish(3_000)
    assert [row.replication_bytes_in for row in stream.rows("broker_traffic")] == [500, 500]


def test_without_meters_of_replication_there_is_no_peak() -> None:
    stream = Stream()
    stream.emit(MetricRegistered, 0, "meter", BYTES_IN)
    meters(stream.at(1_000), 0, bytes_in=500)
    assert stream.finish(9_000)["peak_broker_ingress"] is None
    assert [row[3:] for row in stream.rows("broker_traffic")] == [(500, 0, None, None)]
