"""Requests of consumers to a leader: fetches up to the high watermark, and where its log begins and ends."""

from typing import Any

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, NO_EPOCH, FetchResponse
from emulator.protocol.offsets_for_leader_epoch import EpochQuery, ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import BATCH_BYTES, TP, Bench, Follower, Line, caught_up

OTHER = TopicPartition("t", 1)


def led(isr: tuple[int, ...] = (0, 1, 2)) -> Bench:
    bench = Bench()
    bench.lead(isr=isr)
    return bench


def alone() -> Bench:
    """A leader whose followers are all out of the ISR: the high watermark follows each append."""
    return led(isr=(0,))


def consumer(bench: Bench, **limits: int) -> Follower:
    return bench.follower(CONSUMER, **limits)


def seen(response: FetchResponse | None) -> tuple[Errors, int, list[int]]:
    """Error, high watermark and base offsets of the one partition in an answer."""
    assert response is not None
    [answer] = response.partitions
    return answer.error, answer.high_watermark, [batch.base_offset for batch in answer.batches]


def test_a_consumer_reads_up_to_the_high_watermark() -> None:
    bench = led()
    followers = caught_up(bench, 1, 2)
    for _ in range(3):
        bench.produce()
    for follower in followers:
        follower.at(2)
    assert seen(consumer(bench).at(0)) == (Errors.NONE, 2, [0, 1])


def test_a_waiting_fetch_is_answered_when_the_high_watermark_moves() -> None:
    bench = led()
    one, two = caught_up(bench, 1, 2)
    reader = consumer(bench)
    reader.at(0)
    bench.produce()
    one.at(1)
    assert not reader.line.replies, "the append alone is nothing to a consumer"
    two.at(1)
    assert seen(reader.answer(0)) == (Errors.NONE, 1, [0])


def test_a_fetch_waits_for_fetch_min_bytes() -> None:
    bench = alone()
    reader = consumer(bench, min_bytes=2 * BATCH_BYTES)
    assert reader.at(0) is None
    bench.produce()
    assert not reader.line.replies
    bench.produce()
    assert seen(reader.answer(0)) == (Errors.NONE, 2, [0, 1])


@pytest.mark.parametrize("limit", ["max_bytes", "max_partition_bytes"])
def test_what_fills_a_limit_is_enough(limit: str) -> None:
    """Kafka cuts the last batch off in the middle, and counts the part (LogSegment.read, 0.8 to 3.9; seed 46997)."""
    bench = alone()
    half_more = 5 * BATCH_BYTES // 2
    reader = consumer(bench, min_bytes=half_more, **{limit: half_more})
    assert reader.at(0) is None
    for _ in range(2):
        bench.produce()
        assert not reader.line.replies
    bench.produce()
    assert seen(reader.answer(0)) == (Errors.NONE, 3, [0, 1])


def test_a_fetch_waits_no_longer_than_fetch_max_wait() -> None:
    bench = alone()
    reader = consumer(bench, min_bytes=2 * BATCH_BYTES)
    reader.at(0)
    bench.produce()
    assert seen(reader.expire()) == (Errors.NONE, 1, [0])


def test_limits_and_the_first_batch() -> None:
    bench = alone()
    bench.lead(tp=OTHER, isr=(0,))
    bench.produce(TP, OTHER, size=300)
    bench.produce(TP, OTHER, size=300)
    response = consumer(bench, max_bytes=700, max_partition_bytes=500).fetch((TP, 0, 0), (OTHER, 0, 0))
    assert response is not None
    assert [(a.tp, len(a.batches)) for a in response.partitions] == [(TP, 1), (OTHER, 1)]
    response = consumer(bench, max_bytes=100).fetch((TP, 0, 0), (OTHER, 0, 0))
    assert response is not None
    assert [len(a.batches) for a in response.partitions if a.batches] == [1], "the first one may be too large"


def test_a_session_sends_each_change_once() -> None:
    bench = alone()
    bench.produce()
    reader = consumer(bench)
    assert seen(reader.at(0)) == (Errors.NONE, 1, [0])
    assert reader.at(1) is None
    bench.produce()
    assert seen(reader.answer(1)) == (Errors.NONE, 2, [1])


def test_what_a_reader_has_not_taken_is_sent_again() -> None:
    """It was validating its position as the answer came, and goes on there (FetchSession, 2.4; seed 46853)."""
    bench = alone()
    bench.produce()
    reader = consumer(bench)
    assert seen(reader.at(0)) == (Errors.NONE, 1, [0])
    assert seen(reader.fetch()) == (Errors.NONE, 1, [0])


def test_an_error_is_answered_until_the_partition_is_forgotten() -> None:
    bench = alone()
    reader = consumer(bench)
    assert seen(reader.at(5))[0] is Errors.OFFSET_OUT_OF_RANGE
    assert seen(reader.fetch())[0] is Errors.OFFSET_OUT_OF_RANGE
    assert reader.fetch(forgotten=(TP,)) is None


def test_a_forgotten_partition_completes_no_fetch() -> None:
    bench = alone()
    reader = consumer(bench)
    assert reader.at(0) is None
    reader.expire()
    assert reader.fetch(forgotten=(TP,)) is None
    bench.produce()
    assert len(reader.line.replies) == 1
    assert not bench.partition.readers


@pytest.mark.parametrize(
    ("offset", "epoch", "error"),
    [
        (5, 0, Errors.OFFSET_OUT_OF_RANGE), (0, 1, Errors.UNKNOWN_LEADER_EPOCH), (0, NO_EPOCH, Errors.NONE),
    ],
)  # fmt: skip
def test_what_is_refused(offset: int, epoch: int, error: Errors) -> None:
    bench = alone()
    bench.produce()
    assert seen(consumer(bench).at(offset, epoch))[0] is error


def test_between_high_watermark_and_end_there_is_nothing_yet() -> None:
    bench = led()
    bench.produce()
    assert consumer(bench).at(1) is None


def test_a_consumer_does_not_count_for_the_isr() -> None:
    bench = Bench()
    bench.lead(isr=(0, 1))
    caught_up(bench, 1)
    bench.produce()
    consumer(bench).at(0)
    assert set(bench.partition.remotes) == {1, 2}
    assert bench.partition.high_watermark == 0


def test_a_leader_that_goes_on_under_a_new_epoch_fences_the_next_fetch() -> None:
    bench = alone()
    reader = consumer(bench)
    reader.at(0)
    bench.lead(1, isr=(0,))
    bench.produce()
    assert seen(reader.answer(0))[0] is Errors.FENCED_LEADER_EPOCH


# -- where to begin, and whether it is still there -------------------------------------------------------------------


def offsets(bench: Bench, replica: int = CONSUMER, epoch: int = 1) -> tuple[Errors, int, int]:
    line = Line()
    bench.send(ListOffsetsRequest(TP, epoch, replica), line)
    return line.last.error, line.last.start, line.last.end


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(0, Errors.FENCED_LEADER_EPOCH), (2, Errors.UNKNOWN_LEADER_EPOCH), (1, Errors.NONE), (NO_EPOCH, Errors.NONE)],
)
def test_leader_epochs_of_requests_for_offsets(epoch: int, error: Errors) -> None:
    bench = Bench(BrokerPolicies())
    bench.lead(1, isr=(0,))
    assert offsets(bench, epoch=epoch)[0] is error
    line = Line()
    asked = OffsetsForLeaderEpochRequest(CONSUMER, (EpochQuery(TP, epoch, 1),))
    bench.send(asked, line)
    answer: Any = line.last
    assert answer.partitions[0].error is error


def test_before_kafka_9835_a_read_to_the_end_gets_what_is_appended_meanwhile() -> None:
    bench = Bench(BrokerPolicies(read_race_us=5_000))
    bench.lead()
    followers = caught_up(bench, 1, 2)
    bench.produce()
    for follower in followers:
        follower.at(1)
    reader = consumer(bench)

    async def race() -> None:
        assert reader.at(0) is None
        bench.produce()
        await bench.world.sleep(5_000)

    bench.world.run(race)
    assert seen(reader.answer(0)) == (Errors.NONE, 1, [0, 1])
