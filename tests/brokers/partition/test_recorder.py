"""One transition is one event of its kind for each topic, and the rows keep the order in which things happened."""

from typing import Any

import pytest

from emulator.protocol.events import BatchesAppended, HighWatermarksMoved, IsrProposed
from emulator.protocol.types import Batch, TopicPartition, corrupted
from fetchers.failures import CorruptBatch
from tests.brokers.bench import TP, Bench

OTHER = TopicPartition("t", 1)
ELSEWHERE = TopicPartition("u", 0)


def leading(*tps: TopicPartition) -> tuple[Bench, list[Any]]:
    """A bench that leads ``tps``, and what it records from now on."""
    bench = Bench()
    for tp in tps:
        bench.lead(tp=tp)
    seen: list[Any] = []
    for kind in (BatchesAppended, HighWatermarksMoved, IsrProposed):
        bench.trace.fold(kind, seen.append)
    return bench, seen


def test_a_produce_request_is_one_event() -> None:
    bench, seen = leading(TP, OTHER)
    bench.produce(TP, OTHER, count=3)
    (event,) = seen
    assert (event.topic, event.leader, event.partitions) == ("t", True, (0, 1))
    assert (event.base_offsets, event.next_offsets, event.sizes) == ((0, 0), (3, 3), (100, 100))


def test_another_topic_is_another_event() -> None:
    bench, seen = leading(TP, ELSEWHERE, OTHER)
    bench.produce(TP, ELSEWHERE, OTHER)
    assert [(event.topic, event.partitions) for event in seen] == [("t", (0,)), ("u", (0,)), ("t", (1,))]


def test_a_fetch_request_that_moves_high_watermarks_is_one_event() -> None:
    bench, seen = leading(TP, OTHER)
    bench.produce(TP, OTHER)
    bench.follower(1).fetch((TP, 0, 1), (OTHER, 0, 1))
    bench.follower(2).fetch((TP, 0, 1), (OTHER, 0, 1))
    _appended, moved = seen
    assert (moved.leader, moved.partitions, moved.high_watermarks) == (True, (0, 1), (1, 1))


def test_what_is_emitted_in_between_comes_after_what_it_follows() -> None:
    """The high watermark of the first partition is recorded before the proposal for the second one."""
    bench, seen = leading(TP)
    bench.lead(tp=OTHER, isr=(0, 1))
    bench.produce(TP)
    bench.follower(1).fetch((TP, 0, 1))
    bench.follower(2).fetch((TP, 0, 1), (OTHER, 0, 0))
    kinds = [type(event) for event in seen]
    assert kinds == [BatchesAppended, HighWatermarksMoved, IsrProposed]
    assert seen[1].seq < seen[2].seq


def test_a_followers_appends_come_before_the_high_watermarks_that_cover_them() -> None:
    bench = Bench()
    partition = bench.follow()
    seen: list[Any] = []
    bench.trace.fold(BatchesAppended, seen.append)
    bench.trace.fold(HighWatermarksMoved, seen.append)
    for base in (0, 1):
        partition.append_as_follower((Batch(base, base + 1, 0, 100, base),), base + 1)
    bench.trace.record_collected()
    assert [type(event) for event in seen] == [BatchesAppended, HighWatermarksMoved]
    assert (seen[0].partitions, seen[0].leader) == ((0, 0), False)


def test_a_broker_that_dies_in_a_transition_has_recorded_what_it_did_before() -> None:
    bench = Bench()
    partition = bench.follow()
    seen = bench.see(BatchesAppended)
    partition.append_as_follower((Batch(0, 1, 0, 100, 1),), 0)
    bench.trace.record_collected()
    partition.append_as_follower((Batch(1, 2, 0, 100, 2),), 0)
    bench.process.kill()
    partition.append_as_follower((Batch(2, 3, 0, 100, 3),), 0)
    bench.trace.record_collected()
    assert [event.base_offsets for event in seen] == [(0,), (1,)]


def test_of_an_answer_with_a_corrupt_batch_nothing_is_appended() -> None:
    """Kafka checks all batches before it appends any (Log.analyzeAndValidateRecords, 2.3.1)."""
    bench = Bench()
    bench.follow()
    answer = (Batch(0, 1, 0, 100, 1), corrupted(Batch(1, 2, 0, 100, 2)))
    with pytest.raises(CorruptBatch):
        bench.partition.append_as_follower(answer, 1)
    assert bench.partition.log.end_offset == 0
