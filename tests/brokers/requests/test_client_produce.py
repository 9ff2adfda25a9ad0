"""A leader appends the batches of real clients with their bytes, and checks what Kafka checks."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.disks import DiskError
from emulator.protocol.errors import Errors
from emulator.protocol.records import Records, StoredBatch, read_records
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import Bench, Line, caught_up, config
from tests.brokers.requests.clients import NOW_MS, produce, records

ME = 77


def outcome(line: Line) -> tuple[Errors, int]:
    [(_tp, error, base)] = line.last.partitions
    return error, base


def led(policies: BrokerPolicies | None = None) -> Bench:
    bench = Bench(policies)
    bench.lead()
    return bench


def test_the_bytes_are_in_the_log_and_the_offsets_are_the_leaders() -> None:
    bench = led()
    assert outcome(produce(bench, records(b"a", b"b"))) == (Errors.NONE, 0)
    assert outcome(produce(bench, records(b"c"))) == (Errors.NONE, 2)
    first, second = bench.partition.log.batches
    assert isinstance(first, StoredBatch)
    assert [record.value for record in read_records(first.records.read())] == [b"a", b"b"]
    assert (first.next_offset, second.base_offset, first.append_time_ms) == (2, 2, -1)


def test_the_followers_have_the_same_object() -> None:
    bench = led()
    (follower,) = caught_up(bench, 1)
    produce(bench, records(b"a"))
    [answer] = follower.line.last.partitions
    assert answer.batches == tuple(bench.partition.log.batches)


def test_with_acks_all_the_answer_waits_for_the_isr() -> None:
    bench = led()
    followers = caught_up(bench, 1, 2)
    line = produce(bench, records(b"a"), acks=-1)
    assert not line.replies
    for follower in followers:
        follower.at(1)
    assert outcome(line) == (Errors.NONE, 0)
    assert line.last.infos[0].id == 1


def test_a_request_that_is_not_replicated_in_time_says_so() -> None:
    bench = led()
    line = produce(bench, records(b"a"), acks=-1)
    bench.expire_produces()
    assert outcome(line) == (Errors.REQUEST_TIMED_OUT, 0)


@pytest.mark.parametrize(
    ("sent", "acks", "expected"),
    [
        (records(b"a"), 2, Errors.INVALID_REQUIRED_ACKS),
        (records(b"a", tp=TopicPartition("unknown", 0)), 1, Errors.UNKNOWN_TOPIC_OR_PARTITION),
        (records(b"x" * 2_000_000), 1, Errors.MESSAGE_TOO_LARGE),
        (records(b"a", invalid=Errors.CORRUPT_MESSAGE), 1, Errors.CORRUPT_MESSAGE),
    ],
)
def test_what_is_refused(sent: object, acks: int, expected: Errors) -> None:
    bench = led()
    assert outcome(produce(bench, sent, acks=acks)) == (expected, -1)  # type: ignore[arg-type]
    assert not bench.partition.log.batches


def test_a_follower_appends_nothing() -> None:
    bench = Bench()
    bench.follow()
    assert outcome(produce(bench, records(b"a"))) == (Errors.NOT_LEADER_FOR_PARTITION, -1)


def test_too_few_replicas_in_sync_are_an_error_before_the_append() -> None:
    bench = led(config(min_insync_replicas=4))
    assert outcome(produce(bench, records(b"a"), acks=-1)) == (Errors.NOT_ENOUGH_REPLICAS, -1)
    assert outcome(produce(bench, records(b"a"), acks=1)) == (Errors.NONE, 0)


def test_without_acks_there_is_no_answer_and_an_error_closes_the_connection() -> None:
    bench = led()
    good, bad = produce(bench, records(b"a"), acks=0), produce(bench, records(b"x" * 2_000_000), acks=0)
    assert (good.replies, good.released, good.hung_up) == ([], 1, False)
    assert (bad.replies, bad.hung_up) == ([], True)


def test_a_topic_can_have_the_time_of_the_append() -> None:
    bench = led()
    bench.manager.configured("topics/t", {"message.timestamp.type": "LogAppendTime"})
    bench.at(7_000_000)
    line = produce(bench, records(b"a"))
    [batch] = bench.partition.log.batches
    assert isinstance(batch, StoredBatch)
    assert (batch.append_time_ms, batch.max_timestamp_ms, line.last.infos[0].append_time_ms) == (7_000, 7_000, 7_000)


def test_a_topic_can_allow_larger_batches() -> None:
    bench = led()
    bench.manager.configured("topics/t", {"max.message.bytes": "3000000"})
    assert outcome(produce(bench, records(b"x" * 2_000_000))) == (Errors.NONE, 0)


def test_where_there_is_no_room_nothing_is_appended() -> None:
    def full(_tp: TopicPartition, _data: bytes) -> Records:
        raise DiskError("full")

    bench = led()
    assert outcome(produce(bench, records(b"a", keep=full))) == (Errors.KAFKA_STORAGE_ERROR, -1)
    assert bench.partition.log_end_offset == 0


# -- idempotence ------------------------------------------------------------------------------------------------------


def send(bench: Bench, sequence: int, *, epoch: int = 0, count: int = 1, id: int = 1) -> tuple[Errors, int]:
    return outcome(produce(bench, records(*[b"a"] * count, producer=(ME, epoch, sequence), id=id)))


def test_a_repetition_is_answered_as_the_first_time_and_names_its_batch() -> None:
    bench = led()
    assert [send(bench, 0, id=5), send(bench, 1, id=6)] == [(Errors.NONE, 0), (Errors.NONE, 1)]
    line = produce(bench, records(b"a", producer=(ME, 0, 0), id=9))
    assert (outcome(line), line.last.infos[0].id) == ((Errors.NONE, 0), 5)
    assert bench.partition.log_end_offset == 2


def test_a_gap_is_refused_and_an_old_epoch_too() -> None:
    bench = led()
    send(bench, 0)
    assert send(bench, 2) == (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert send(bench, 1, epoch=1) == (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert send(bench, 0, epoch=1) == (Errors.NONE, 1)
    assert send(bench, 1, epoch=0) == (Errors.INVALID_PRODUCER_EPOCH, -1)


def test_the_sequence_numbers_of_a_new_epoch_begin_again_and_are_no_repetition() -> None:
    bench = led()
    assert [send(bench, 0), send(bench, 0, epoch=1), send(bench, 1, epoch=1)] == [(Errors.NONE, n) for n in range(3)]


def test_after_the_largest_sequence_number_comes_0() -> None:
    bench = led(BrokerPolicies(admits_unknown_producers=True))
    last = (1 << 31) - 2
    assert [send(bench, last, count=2), send(bench, 0)] == [(Errors.NONE, 0), (Errors.NONE, 2)]


@pytest.mark.parametrize(("admits", "expected"), [(False, (Errors.UNKNOWN_PRODUCER_ID, -1)), (True, (Errors.NONE, 0))])
def test_an_unknown_producer_goes_on_where_the_release_lets_it(admits: bool, expected: tuple[Errors, int]) -> None:
    assert send(led(BrokerPolicies(admits_unknown_producers=admits)), 3) == expected


def test_a_restarted_broker_still_knows_its_producers() -> None:
    bench = led()
    send(bench, 0)
    bench.node.disks[0].close()
    bench.restart()
    bench.lead(epoch=1)
    assert [send(bench, 0), send(bench, 1)] == [(Errors.NONE, 0), (Errors.NONE, 1)]


def test_the_time_of_a_record_stays_its_producers() -> None:
    bench = led()
    produce(bench, records(b"a", timestamp_ms=NOW_MS))
    [batch] = bench.partition.log.batches
    assert isinstance(batch, StoredBatch)
    assert batch.max_timestamp_ms == NOW_MS
    assert batch.timestamp_us == NOW_MS * 1000
