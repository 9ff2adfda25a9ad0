"""A leader's answers to fetches: limits, long polls, sessions, errors."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench

TPS = tuple(TopicPartition("t", number) for number in range(4))


def leader(sizes: list[int], partitions: int = 4) -> Bench:
    """Each partition holds batches of these sizes; this broker is the whole ISR."""
    bench = Bench()
    for tp in TPS[:partitions]:
        bench.lead(tp=tp, isr=(0,))
        for size in sizes:
            bench.produce(tp, size=size)
    return bench


def bases(answer: FetchResponse | None) -> dict[int, list[int]]:
    """Partition number -> base offsets of the batches in ``answer``."""
    assert answer is not None
    return {found.tp.partition: [batch.base_offset for batch in found.batches] for found in answer.partitions}


def everything(offset: int = 0) -> list[tuple[TopicPartition, int, int]]:
    return [(tp, 0, offset) for tp in TPS]


@pytest.mark.parametrize(
    ("sizes", "limits", "expected"),
    [
        ([100, 100], {}, {0: [0, 1], 1: [0, 1], 2: [0, 1], 3: [0, 1]}),
        ([100, 100], {"max_partition_bytes": 150}, {0: [0], 1: [0], 2: [0], 3: [0]}),
        ([100, 100], {"max_bytes": 300}, {0: [0, 1], 1: [0], 2: [], 3: []}),
        # Only the first batch of the answer may be larger than the limits.
        ([100, 100], {"max_bytes": 50}, {0: [0], 1: [], 2: [], 3: []}),
        ([100, 100], {"max_bytes": 250}, {0: [0, 1], 1: [], 2: [], 3: []}),
        ([100, 100], {"max_partition_bytes": 50}, {0: [0], 1: [], 2: [], 3: []}),
    ],
)
def test_an_answer_keeps_to_the_limits(
    sizes: list[int], limits: dict[str, int], expected: dict[int, list[int]]
) -> None:
    assert bases(leader(sizes).follower(1, **limits).fetch(*everything())) == expected


def test_what_did_not_fit_comes_next_and_nothing_is_forgotten() -> None:
    """A new follower of idle partitions gets all of them, though the response has no bytes left and each has a high
    watermark to send."""
    bench = leader([100, 100])
    follower = bench.follower(1, max_bytes=300)
    got: dict[int, list[int]] = {number: [] for number in range(4)}
    answer = follower.fetch(*everything())
    while answer is not None:
        wanted = []
        for number, found in bases(answer).items():
            got[number] += found
            if found:
                wanted.append((TPS[number], 0, found[-1] + 1))
        answer = follower.fetch(*wanted)
    assert got == {number: [0, 1] for number in range(4)}


def test_a_fetch_waits_for_data_and_its_answer_has_the_latest_high_watermark() -> None:
    bench = Bench()
    bench.lead(isr=(0, 1))
    follower = bench.follower(1)
    assert follower.at(0) is None
    bench.produce()
    assert follower.answer(0) is not None
    assert follower.at(1) is None
    answer = follower.expire()
    assert answer is not None
    assert [(found.high_watermark, found.batches) for found in answer.partitions] == [(1, ())]
    assert follower.fetch() is None
    answer = follower.expire()
    assert answer is not None
    assert answer.partitions == ()
    assert follower.line.backgrounds == [False, False, True]


def test_fewer_bytes_than_asked_for_wait_until_the_poll_ends() -> None:
    bench = Bench()
    bench.lead()
    follower = bench.follower(1, min_bytes=250)
    bench.produce()
    assert follower.at(0) is None
    bench.produce()
    assert follower.answer(0) is None
    bench.produce()
    assert bases(follower.answer(0)) == {0: [0, 1, 2]}
    bench.produce()
    assert follower.at(3) is None
    assert bases(follower.expire()) == {0: [3]}


def test_what_fills_a_limit_is_enough() -> None:
    """Kafka cuts the last batch off in the middle, and counts the part (LogSegment.read, 0.8 to 3.9)."""
    bench = Bench()
    bench.lead()
    follower = bench.follower(1, min_bytes=250, max_partition_bytes=250)
    for _ in range(2):
        bench.produce()
        assert follower.at(0) is None
    bench.produce()
    assert bases(follower.answer(0)) == {0: [0, 1]}


@pytest.mark.parametrize(
    ("epoch", "offset", "error"),
    [
        (0, 3, Errors.FENCED_LEADER_EPOCH),
        (2, 3, Errors.UNKNOWN_LEADER_EPOCH),
        (1, 4, Errors.OFFSET_OUT_OF_RANGE),
        (1, -1, Errors.OFFSET_OUT_OF_RANGE),
    ],
)
def test_a_read_under_another_epoch_or_outside_the_log_is_an_error(epoch: int, offset: int, error: Errors) -> None:
    bench = Bench()
    bench.lead(1)
    bench.produce(count=3)
    answer = bench.follower(1).at(offset, epoch)
    assert answer is not None
    assert answer.partitions[0].error is error
    assert bench.remote(1).log_end_offset == -1


def test_kafka_6796_a_broker_without_the_replica_says_whether_it_knows_the_partition() -> None:
    bench = Bench()
    bench.follow(leader=1)
    answer = bench.follower(2).fetch((TP, 0, 0), (TPS[1], 0, 0))
    assert answer is not None
    assert [found.error for found in answer.partitions] == [
        Errors.NOT_LEADER_FOR_PARTITION,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
    ]


def test_kafka_5758_an_unassigned_broker_gets_no_records_and_no_error() -> None:
    bench = Bench()
    bench.lead(isr=(0,), replicas=(0, 1))
    bench.produce()
    follower = bench.follower(3)
    assert follower.at(0) is None
    answer = follower.expire()
    assert answer is not None
    assert [(found.error, found.batches) for found in answer.partitions] == [(Errors.NONE, ())]


def test_since_kafka_13837_an_unassigned_broker_is_refused_until_it_is_assigned() -> None:
    bench = Bench(BrokerPolicies(refuses_unassigned=True, sessions_keep_epochs=True))
    bench.lead(isr=(0,), replicas=(0, 1))
    bench.produce()
    follower = bench.follower(3)
    for epoch, error in ((0, Errors.UNKNOWN_LEADER_EPOCH), (1, Errors.UNKNOWN_LEADER_EPOCH)):
        answer = follower.at(0, epoch)
        assert answer is not None
        assert [found.error for found in answer.partitions] == [error]
    bench.lead(1, isr=(0,), replicas=(0, 1, 3))
    answer = follower.at(0, 0)
    assert answer is not None
    assert [found.error for found in answer.partitions] == [Errors.FENCED_LEADER_EPOCH], "the epoch comes first (14078)"
    assert bases(follower.at(0, 1)) == {0: [0]}
    assert bench.remote(3).log_end_offset == 0


def test_since_kafka_13837_a_replica_that_is_removed_is_refused_with_its_next_fetch() -> None:
    bench = Bench(BrokerPolicies(refuses_unassigned=True, sessions_keep_epochs=True))
    bench.lead(isr=(0,), replicas=(0, 3))
    follower = bench.follower(3)
    follower.at(0)
    follower.expire()
    bench.lead(1, isr=(0,), replicas=(0, 1))
    answer = follower.fetch()
    assert answer is not None
    assert [found.error for found in answer.partitions] == [Errors.FENCED_LEADER_EPOCH]


# -- sessions --------------------------------------------------------------------------------------------------


def test_a_session_is_known_by_its_number_and_its_epoch() -> None:
    bench = leader([100])
    follower = bench.follower(1)
    first = follower.fetch(*everything())
    assert first is not None
    assert first.session_id > 0
    answer = follower.fetch(session_epoch=7)
    assert answer is not None
    assert answer.error is Errors.INVALID_FETCH_SESSION_EPOCH
    follower.session = first.session_id + 1
    answer = follower.fetch()
    assert answer is not None
    assert answer.error is Errors.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_ends_with_its_connection() -> None:
    bench = leader([100])
    follower = bench.follower(1)
    answer = follower.fetch(*everything())
    assert answer is not None
    assert bench.remote(1).session is not None
    assert follower.line.on_close is not None
    follower.line.on_close()
    assert bench.remote(1).session is None
    follower.session = answer.session_id
    answer = follower.fetch()
    assert answer is not None
    assert answer.error is Errors.FETCH_SESSION_ID_NOT_FOUND


def test_a_forgotten_partition_does_not_end_the_long_poll() -> None:
    bench = leader([100])
    follower = bench.follower(1)
    follower.fetch(*everything())
    assert follower.fetch((TPS[1], 0, 1), forgotten=(TPS[0],)) is None
    bench.produce(TPS[0])
    assert follower.answer(1) is None
    bench.produce(TPS[1])
    assert bases(follower.answer(1)) == {1: [1]}


def test_before_kafka_5758_a_partition_of_others_spoils_the_whole_fetch() -> None:
    bench = Bench(BrokerPolicies(refuses_with_strangers=True))
    bench.lead(tp=TPS[0], isr=(0,))
    bench.lead(tp=TPS[1], isr=(0,), replicas=(0, 2))
    bench.produce(TPS[0])
    follower = bench.follower(1)
    assert bases(follower.fetch((TPS[0], 0, 0))) == {0: [0]}
    answer = follower.fetch((TPS[1], 0, 0))
    assert answer is not None
    assert {found.tp: found.error for found in answer.partitions} == dict.fromkeys(TPS[:2], Errors.UNKNOWN_SERVER_ERROR)
    assert follower.fetch() is None, "the fetch that failed counts in the session: the next one is not refused"


@pytest.mark.parametrize(("sends_first", "count", "read"), [(True, 1, True), (False, 1, False), (False, 2, True)])
def test_a_message_above_the_limit_stops_a_follower_before_kip_74(sends_first: bool, count: int, read: bool) -> None:
    """Its limit is 1,000 bytes; a batch of two messages of 600 bytes is larger, but neither message is."""
    bench = Bench(BrokerPolicies(sends_first_batch=sends_first))
    bench.lead()
    bench.produce(count=count, size=1_200)
    follower = bench.follower(1)
    answer = follower.at(0) or follower.expire()
    assert answer is not None
    assert any(each.batches for each in answer.partitions) is read
    if not read:
        again = follower.at(0) or follower.expire()
        assert again is not None
        assert not any(each.batches for each in again.partitions)
