"""DeleteRecords: what a leader deletes and refuses, and which replicas its answer waits for."""

from __future__ import annotations

from typing import cast

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.log.log_config import LogConfig, LogManagerConfig
from emulator.protocol.delete_records import TO_HIGH_WATERMARK, DeletedRecords, DeleteRecordsRequest
from emulator.protocol.errors import Errors
from emulator.protocol.events import LogStartMoved
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest
from emulator.protocol.shown import RecordsDeleted
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from tests.brokers.bench import ME, TP, Bench, Follower, Line, state

SECOND = 1_000_000
OTHER = TopicPartition("t", 1)
OFFSETS = TopicPartition("__consumer_offsets", 0)


def alone(batches: int = 10, bench: Bench | None = None) -> Bench:
    """A leader with all replicas, and so committed at once."""
    bench = bench or Bench()
    bench.lead(isr=(ME,), replicas=(ME,))
    for _ in range(batches):
        bench.produce()
    return bench


def delete(bench: Bench, *wanted: tuple[TopicPartition, int], timeout_us: int = 30 * SECOND) -> Line:
    return bench.send(DeleteRecordsRequest(wanted, timeout_us))


def result(line: Line) -> tuple[int, Errors]:
    """The one answer for one partition: low watermark and error."""
    (response,) = line.replies
    ((_tp, low_watermark, error),) = response.partitions
    return low_watermark, error


@pytest.mark.parametrize(
    ("offset", "start", "error"),
    [
        (4, 4, Errors.NONE),
        (0, 0, Errors.NONE),
        (10, 10, Errors.NONE),
        (TO_HIGH_WATERMARK, 10, Errors.NONE),
        (11, 0, Errors.OFFSET_OUT_OF_RANGE),
        (-2, 0, Errors.OFFSET_OUT_OF_RANGE),
    ],
)
def test_the_start_moves_to_an_offset_up_to_the_high_watermark(offset: int, start: int, error: Errors) -> None:
    bench = alone()
    assert result(delete(bench, (TP, offset))) == (-1 if error else start, error)
    assert bench.partition.log_start_offset == start


def test_the_start_never_goes_back() -> None:
    bench = alone()
    delete(bench, (TP, 6))
    assert result(delete(bench, (TP, 3))) == (6, Errors.NONE)
    assert bench.partition.log_start_offset == 6


def test_records_that_are_not_committed_are_not_deleted() -> None:
    bench = Bench()
    bench.lead()
    bench.produce()
    assert result(delete(bench, (TP, 1))) == (-1, Errors.OFFSET_OUT_OF_RANGE)


def test_each_partition_has_its_own_answer() -> None:
    """One that is followed, one that is unknown, one of an internal topic, and one that is deleted from."""
    bench = alone()
    bench.lead(tp=OFFSETS, isr=(ME,), replicas=(ME,))
    bench.learn(OTHER, 1)
    unknown = TopicPartition("nobody", 0)
    (response,) = delete(bench, (OTHER, 0), (unknown, 0), (OFFSETS, 0), (TP, 2)).replies
    assert response.partitions == (
        DeletedRecords(OTHER, -1, Errors.NOT_LEADER_FOR_PARTITION),
        DeletedRecords(unknown, -1, Errors.UNKNOWN_TOPIC_OR_PARTITION),
        DeletedRecords(OFFSETS, -1, Errors.INVALID_TOPIC_EXCEPTION),
        DeletedRecords(TP, 2, Errors.NONE),
    )


def test_a_follower_refuses() -> None:
    bench = Bench()
    bench.follow()
    assert result(delete(bench, (TP, 0))) == (-1, Errors.NOT_LEADER_FOR_PARTITION)


@pytest.mark.parametrize(
    ("policy", "error"),
    [
        ("compact", Errors.POLICY_VIOLATION),
        ("delete", Errors.NONE),
        ("compact,delete", Errors.NONE),
        ("compact, delete", Errors.NONE),
    ],
)
def test_a_topic_that_is_only_compacted_keeps_its_records(policy: str, error: Errors) -> None:
    bench = alone()
    bench.manager.configured("topics/t", {"cleanup.policy": policy})
    assert result(delete(bench, (TP, 5)))[1] is error
    assert bench.partition.log_start_offset == (0 if error else 5)


# -- other replicas --------------------------------------------------------------------------------------------------


def replicated() -> tuple[Bench, Follower, Follower]:
    """A leader whose two followers have everything."""
    bench = Bench()
    bench.lead()
    for _ in range(10):
        bench.produce()
    followers = bench.follower(1), bench.follower(2)
    for follower in followers:
        follower.at(0)
        follower.at(10)
    assert bench.partition.high_watermark == 10
    return bench, *followers


def test_the_answer_waits_until_each_live_replica_says_that_its_log_begins_there() -> None:
    bench, one, two = replicated()
    deleted = bench.see(RecordsDeleted)
    line = delete(bench, (TP, 4))
    assert not line.replies
    answer = cast(FetchResponse, one.expire())
    assert answer.asks_starts
    assert [found.log_start_offset for found in answer.partitions] == [4]
    one.at(10, start=4)
    assert not line.replies
    two.expire()
    two.at(10, start=4)
    assert result(line) == (4, Errors.NONE)
    assert [(event.offset, event.low_watermark, event.counted) for event in deleted] == [(4, 4, (0, 1, 2))]


def test_a_broker_that_is_down_is_not_waited_for_from_the_next_fetch_on_that_raises_the_low_watermark() -> None:
    bench, one, two = replicated()
    line = delete(bench, (TP, 4))
    two.expire()
    two.at(10, start=4)
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 2)))
    assert not line.replies
    one.expire()
    one.at(10, start=3)
    assert not line.replies, "broker 1 does not count, so its fetch raises nothing"
    bench.produce()
    one.at(11, start=3)
    two.fetch((TP, 0, 11), start=4)
    assert result(line) == (4, Errors.NONE), "the high watermark has moved"


def test_the_answer_comes_at_the_end_of_its_time() -> None:
    """With the low watermark from when the request came."""
    bench, _one, _two = replicated()
    line = delete(bench, (TP, 4), timeout_us=2 * SECOND)
    bench.wait(2 * SECOND - 1)
    assert not line.replies
    bench.wait(1)
    assert result(line) == (0, Errors.REQUEST_TIMED_OUT)
    assert bench.partition.log_start_offset == 4, "it is deleted all the same"
    assert bench.manager.deletion is not None
    assert not bench.manager.deletion.waiting


def test_a_leader_that_resigns_lets_it_wait_for_its_time() -> None:
    bench, _one, _two = replicated()
    line = delete(bench, (TP, 4), timeout_us=SECOND)
    bench.follow(epoch=1)
    assert not line.replies
    bench.wait(SECOND)
    assert result(line) == (0, Errors.REQUEST_TIMED_OUT)


def test_a_partition_that_is_led_elsewhere_by_then_gets_its_error_when_another_is_looked_at() -> None:
    bench, one, two = replicated()
    bench.lead(tp=OTHER, isr=(ME,), replicas=(ME, 1))
    bench.produce(OTHER)
    line = delete(bench, (TP, 4), (OTHER, 1))
    bench.leader_and_isr(state(1, 1, (1,), tp=OTHER, replicas=(ME, 1)))
    assert not line.replies
    for follower in (one, two):
        follower.expire()
        follower.at(10, start=4)
    (response,) = line.replies
    assert [(tp.partition, error) for tp, _, error in response.partitions] == [
        (0, Errors.NONE),
        (1, Errors.NOT_LEADER_FOR_PARTITION),
    ]


def test_a_new_leader_does_not_know_where_the_logs_of_its_followers_begin() -> None:
    bench = Bench()
    bench.lead(isr=(ME,))
    bench.produce()
    line = delete(bench, (TP, 0))
    assert not line.replies
    for broker in (1, 2):
        bench.follower(broker).at(0)
    assert result(line) == (0, Errors.NONE)


def test_a_follower_whose_log_began_there_before_is_asked_for_it() -> None:
    """Retention moved both starts to 5 before any request: the leader believes that the follower's is at 0."""
    bench, one, two = replicated()
    bench.partition.log.raise_start_to(5)
    for follower in (one, two):  # their answers say 5
        bench.partition.log_start_moved("time")
        assert not cast(FetchResponse, follower.expire()).asks_starts
        follower.fetch()
    line = delete(bench, (TP, 5))
    assert not line.replies
    for follower in (one, two):
        answer = cast(FetchResponse, follower.expire())
        assert [found.log_start_offset for found in answer.partitions] == [5]
        follower.at(10, start=5)
    assert result(line) == (5, Errors.NONE)


# -- what follows ----------------------------------------------------------------------------------------------------


def test_consumers_and_followers_find_the_new_start() -> None:
    bench = alone()
    delete(bench, (TP, 4))
    line = bench.send(ListOffsetsRequest(TP, 0, -1))
    assert (line.last.start, line.last.end) == (4, 10)
    answer = cast(FetchResponse, bench.follower(-1).at(3))
    assert [found.error for found in answer.partitions] == [Errors.OFFSET_OUT_OF_RANGE]
    answer = cast(FetchResponse, bench.follower(-1).at(4))
    assert [batch.base_offset for found in answer.partitions for batch in found.batches][:1] == [4]


def bases(bench: Bench) -> list[int]:
    """Where the segments begin."""
    return list(bench.partition.log.bases)


def test_whole_segments_go_with_the_next_check_and_the_active_one_stays() -> None:
    log = LogConfig(segment_bytes=200, retention_us=-1)
    bench = alone(7, Bench(BrokerPolicies(BrokerConfig(log=log, log_manager=LogManagerConfig(60 * SECOND)))))
    moved = bench.see(LogStartMoved)
    delete(bench, (TP, 5))
    assert bases(bench) == [0, 2, 4, 6]
    bench.wait(301 * SECOND)
    assert bases(bench) == [4, 6]
    assert bench.partition.log_start_offset == 5
    delete(bench, (TP, 7))
    bench.wait(301 * SECOND)
    assert bases(bench) == [6]
    assert [(event.log_start_offset, event.reason) for event in moved] == [(5, "request"), (7, "request")]


@pytest.mark.parametrize(("checkpointed", "start"), [(True, 4), (False, 0)])
def test_the_new_start_survives_a_crash_once_its_checkpoint_is_written(checkpointed: bool, start: int) -> None:
    """It is written every minute (LogManager.checkpointLogStartOffsets)."""
    bench = alone()
    bench.partition.log.flush()
    delete(bench, (TP, 4))
    if checkpointed:
        bench.manager.logs.write_offsets()
    bench.restart()
    bench.lead(epoch=1, isr=(ME,), replicas=(ME,))
    assert bench.partition.log_start_offset == start


def test_a_clean_stop_keeps_the_new_start() -> None:
    bench = alone()
    delete(bench, (TP, 4))
    bench.manager.close()
    bench.restart()
    bench.lead(epoch=1, isr=(ME,), replicas=(ME,))
    assert bench.partition.log_start_offset == 4
