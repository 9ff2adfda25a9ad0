"""Counts, latencies and moves; and every row of a table has all columns."""

from __future__ import annotations

import pytest

from emulator.protocol.events import (
    ControllerElected,
    ControlRequest,
    IsrChanged,
    LeaderElected,
    NodeCrashed,
    PartitionFailed,
    PartitionFailureCleared,
    Produced,
    Unfinished,
)
from emulator.trace.events import Step
from scenarios.runs.dataset.table_schemas import FIGURES, RUNS, SCHEMAS
from tests.scenarios.observe.measures.streams import Stream


def produced(stream: Stream, latency_us: int, *, acks: int = -1, error: str = "NONE") -> None:
    stream.emit(Produced, -2, "orders", 0, 1, acks, error, 0, 5, 0, latency_us, 1, "acked")


def test_batches_and_their_latency() -> None:
    stream = Stream()
    for latency_us in (1_000, 2_000, 4_000):
        produced(stream, latency_us)
    produced(stream, 9_000, acks=0)
    produced(stream, 90_000, error="REQUEST_TIMED_OUT")
    found = stream.finish(1)
    assert (found["acked_batches"], found["failed_batches"]) == (3, 1)
    assert found.metrics()["produce_p50_ms"] == 2.0
    assert found.metrics()["produce_p99_ms"] == pytest.approx(3.96)


def test_an_unfinished_batch_counts_with_its_wait_so_far() -> None:
    stream = Stream()
    produced(stream, 5_000)
    stream.emit(Unfinished, -2, "orders", 0, 2, -1, 30_000_000, 1)
    stream.emit(Unfinished, -2, "orders", 0, 3, 0, 40_000_000, 0)
    found = stream.finish(1)
    assert (found["acked_batches"], found["failed_batches"], found["unfinished_batches"]) == (1, 0, 2)
    assert (found["unfinished_wait_us"], found["produce_max_us"]) == (40_000_000, 30_000_000), "acks=0 has no latency"
    assert found.metrics()["produce_p50_ms"] == (5 + 30_000) / 2
    assert [row.outcome for row in stream.rows("produce")] == ["acked", "unfinished", "unfinished"]


def test_without_unfinished_batches_there_is_no_wait() -> None:
    found = Stream().finish(1)
    assert (found["unfinished_batches"], found["unfinished_wait_us"], found["produce_max_us"]) == (0, 0, None)


def test_a_gap_lasts_from_the_acknowledgement_before_it_to_the_next() -> None:
    stream = Stream()
    produced(stream.at(1_000), 10_000)
    produced(stream.at(40_000), 30_000_000, error="REQUEST_TIMED_OUT")
    produced(stream.at(45_000), 2_000_000, acks=0)
    produced(stream.at(71_000), 20_000_000)
    produced(stream.at(80_000), 3_000_000)
    found = stream.finish(90_000)
    assert found["longest_gap_us"] == 61_000_000, "from 10 s, when the first batch since the acknowledgement was closed"
    assert (found["failed_batches"], found["failed_batches_request_timed_out"]) == (1, 1)


def test_time_in_which_no_batch_waits_is_no_gap() -> None:
    stream = Stream()
    produced(stream.at(1_000), 10_000)
    produced(stream.at(60_000), 10_000)
    assert stream.finish(90_000)["longest_gap_us"] == 10_000


def test_a_gap_that_the_end_of_the_run_cuts_counts_up_to_there() -> None:
    stream = Stream()
    produced(stream.at(5_000), 10_000)
    stream.at(60_000).emit(Unfinished, -2, "orders", 0, 2, -1, 57_000_000, 1)
    assert stream.finish(60_000)["longest_gap_us"] == 55_000_000


def test_a_new_partitions_first_leader_is_no_election() -> None:
    stream = Stream()
    stream.emit(LeaderElected, "orders", 0, 0, 0, (0, 1), "new", 1, False)
    stream.emit(LeaderElected, "orders", 0, 1, 1, (1,), "offline", 1, True)
    found = stream.finish(1)
    assert (found["leader_elections"], found["unclean_elections"]) == (1, 1)


def test_control_requests_and_their_partitions() -> None:
    stream = Stream()
    stream.emit(ControlRequest, "LeaderAndIsr", 0, 1, 1, 7, 30, "")
    stream.emit(ControlRequest, "LeaderAndIsr", 0, 2, 1, 8, 12, "")
    stream.emit(ControlRequest, "StopReplica", 0, 2, 1, 8, 1, "")
    found = stream.finish(1)
    assert (found["leader_and_isr_requests"], found["leader_and_isr_partitions"]) == (2, 42)
    assert (found["stop_replica_requests"], found["stop_replica_partitions"]) == (1, 1)
    assert found["update_metadata_requests"] == 0


def test_steps_isr_changes_and_zookeeper_writes() -> None:
    stream = Stream()
    for edge in ("before", "after"):
        stream.emit(Step, "wiki.2", edge, "orders", 0, -1, 0, 0, "")
    stream.emit(IsrChanged, 0, "orders", 0, 0, "shrink", (0,), 1)
    stream.emit(IsrChanged, 0, "orders", 0, 0, "expand", (0, 1), 2)
    stream.write("/controller", "{}", op="create")
    found = stream.finish(1)
    assert (found["steps"], found["isr_shrinks"], found["isr_expands"], found["zk_writes"]) == (1, 1, 1, 1)


def test_a_step_that_a_later_controller_does_again_counts_until_the_move_is_done() -> None:
    stream = Stream()

    def step(name: str, partition: int = 0) -> None:
        stream.emit(Step, name, "after", "orders", partition, -1, 0, 0, "")

    stream.write("/controller_epoch", "1", op="create")
    for name in ("wiki.1", "wiki.2", "wiki.2"):  # one controller may do a step several times
        step(name)
    stream.write("/controller_epoch", "2")
    for name in ("wiki.1", "wiki.2", "wiki.3", "failover.F1", "wiki.11"):
        step(name)
    step("wiki.1", 1)
    stream.write("/controller_epoch", "3")
    step("wiki.1")  # of the next move
    assert stream.finish(1)["steps_again"] == 2


def test_all_moves_count_and_one_that_is_open_censors_the_run() -> None:
    stream = Stream()
    stream.topic("orders", {0: (0,), 1: (1,)})
    stream.at(100).move((2,))
    stream.topic("orders", {0: (2,), 1: (1,)})
    stream.at(200).moved()
    assert not stream.measures.any_open_moves
    stream.move((3,))
    stream.at(300).move((4,))  # overrides the open one, and does not begin another
    found = stream.finish(1_000)
    assert (found["moves"], found["moves_finished"], found["time_to_complete_us"]) == (2, 1, None)
    last = stream.rows("moves")[-1]
    assert (last.t_us, last.w_us, last.target, last.finished) == (200_000, 800_000, (4,), False)


def test_gauges_of_a_broker_end_with_its_process() -> None:
    stream = Stream()
    stream.emit(ControllerElected, 1, 1)
    stream.emit(PartitionFailed, 1, "ReplicaFetcherThread-0-0", "orders", 0, 0, "corrupt", "CorruptBatch")
    stream.emit(PartitionFailed, 1, "ReplicaFetcherThread-0-0", "orders", 1, 0, "corrupt", "CorruptBatch")
    assert (stream.measures.now("active_controllers"), stream.measures.now("failed_partitions")) == (1, 2)
    stream.emit(PartitionFailureCleared, 1, "orders", 0, "epoch")
    assert stream.measures.now("failed_partitions") == 1
    stream.at(50).emit(NodeCrashed, 1, 1, "process")
    assert (stream.measures.now("active_controllers"), stream.measures.now("failed_partitions")) == (0, 0)


def test_without_rows_the_figures_are_the_same() -> None:
    found = []
    for keep_rows in (True, False):
        stream = Stream(keep_rows=keep_rows)
        stream.topic("orders", {0: (0, 1)})
        stream.state(0, (0,))
        produced(stream, 5)
        stream.loaded(0, 4)
        found.append(stream.finish(700))
        assert any(stream.measures.tables().values()) == keep_rows
    assert found[0] == found[1]


def test_every_table_of_the_measures_is_one_of_the_data_set() -> None:
    stream = Stream()
    stream.finish(1)
    assert set(stream.measures.tables()) == set(SCHEMAS) - {"events", "broker_metrics", "account", FIGURES, RUNS}
