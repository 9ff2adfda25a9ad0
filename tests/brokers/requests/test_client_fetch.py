"""A leader's answers to real consumers: what is committed, within limits, in sessions of the broker's."""

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.requests.fetch_session import EVICTION_US
from emulator.protocol.clients.fetch import DEBUGGING_CONSUMER, FINAL_EPOCH, INITIAL_EPOCH
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench, Line, caught_up, config
from tests.brokers.requests.clients import at, bases, fetch, produce, records

TPS = tuple(TopicPartition("t", number) for number in range(3))
FULL = (0, INITIAL_EPOCH)


def led(batches: int = 0, policies: BrokerPolicies | None = None) -> Bench:
    """This broker is the whole ISR of each partition, which has that many batches of two records."""
    bench = Bench(policies)
    for tp in TPS:
        bench.lead(tp=tp, isr=(0,))
        for number in range(batches):
            produce(bench, records(b"a", b"b", tp=tp, id=number + 1))
    return bench


def errors(line: Line) -> list[Errors]:
    return [each.error for each in line.last.partitions]


# -- what is read -----------------------------------------------------------------------------------------------------


def test_a_batch_that_begins_before_the_offset_is_sent_whole() -> None:
    bench = led(3)
    line = fetch(bench, at(3))
    assert bases(line.last) == [(0, [2, 4])]
    assert (line.last.partitions[0].high_watermark, line.last.session_id) == (6, 0)


def test_only_what_is_committed_is_read() -> None:
    bench = Bench()
    bench.lead()
    followers = caught_up(bench, 1, 2)
    produce(bench, records(b"a"))
    line = fetch(bench, at(0))
    assert not line.replies
    for follower in followers:
        follower.at(1)
    assert bases(line.last) == [(0, [0])]


def test_a_request_waits_for_enough_bytes_and_no_longer_than_it_says() -> None:
    bench = led()
    size = records(b"a").size
    line = fetch(bench, at(0), min_bytes=2 * size)
    produce(bench, records(b"a"))
    assert not line.replies
    produce(bench, records(b"a"))
    assert bases(line.last) == [(0, [0, 1])]
    waiting = fetch(bench, at(2), max_wait_us=1000)
    (open_fetch,) = (each for each in bench.partition.readers or () if each.tp == TP)
    bench.at(bench.world.now + 1000)
    open_fetch.session.delayed.expire(None)  # type: ignore[attr-defined]
    assert bases(waiting.last) == [(0, [])]
    assert not bench.partition.readers


def test_what_fills_a_limit_is_enough() -> None:
    """Kafka cuts the last batch off in the middle, and counts the part (LogSegment.read, 0.8 to 3.9)."""
    bench = led()
    half_more = 3 * records(b"a").size // 2
    line = fetch(bench, at(0), min_bytes=half_more, max_bytes=half_more)
    produce(bench, records(b"a"))
    assert not line.replies
    produce(bench, records(b"a"))
    assert bases(line.last) == [(0, [0])]


def test_only_the_first_batch_of_an_answer_may_be_larger_than_the_limits() -> None:
    bench = led(2)
    size = records(b"a", b"b").size
    everything = [at(0, tp, most=1) for tp in TPS]
    assert bases(fetch(bench, *everything).last) == [(0, [0]), (1, []), (2, [])]
    everything = [at(0, tp) for tp in TPS]
    assert bases(fetch(bench, *everything, max_bytes=3 * size).last) == [(0, [0, 2]), (1, [0]), (2, [])]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (at(7), Errors.OFFSET_OUT_OF_RANGE),
        (at(0, epoch=1), Errors.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_errors_are_answered_at_once(wanted: object, expected: Errors) -> None:
    line = fetch(led(3), at(6, TPS[1]), wanted)  # type: ignore[arg-type]
    assert errors(line) == [Errors.NONE, expected]


def test_what_the_metadata_lacks_is_an_error_that_lets_the_other_partitions_wait() -> None:
    bench, unknown = led(3), at(0, TopicPartition("unknown", 0))
    assert errors(fetch(bench, unknown)) == [Errors.UNKNOWN_TOPIC_OR_PARTITION]
    waiting = fetch(bench, at(6), unknown)
    assert not waiting.replies
    produce(bench, records(b"more"))
    assert errors(waiting) == [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION]


def test_an_old_epoch_is_fenced_and_a_lost_leadership_is_an_error_at_once() -> None:
    bench = led()
    waiting = fetch(bench, at(0))
    bench.lead(epoch=1, version=1)
    assert errors(fetch(bench, at(0, epoch=0))) == [Errors.FENCED_LEADER_EPOCH]
    bench.follow(epoch=2)
    assert errors(waiting) == [Errors.NOT_LEADER_FOR_PARTITION]
    assert errors(fetch(bench, at(0), replica_id=DEBUGGING_CONSUMER, max_wait_us=0)) == [Errors.NONE]


def test_where_the_logs_diverge_the_answer_says_so() -> None:
    bench = led(1)
    bench.lead(epoch=3, version=1, isr=(0,))
    produce(bench, records(b"c"))
    [answer] = fetch(bench, at(3, fetched=2)).last.partitions
    assert (answer.error, answer.batches, answer.diverging) == (Errors.NONE, (), (0, 2))


@pytest.mark.parametrize("last_epoch", [1, 2, 3, 5, 7])
def test_before_the_start_of_the_log_no_epoch_diverges(last_epoch: int) -> None:
    """Partition.readRecords, 2.7.2 (KAFKA-12996): whatever the log knows of the epoch; of 3 it knows that it has 2."""
    bench = led(1)
    bench.follow(epoch=1)
    bench.partition.truncate_fully_and_start_at(10)
    for epoch in (2, 5):
        bench.lead(epoch=epoch, version=epoch, isr=(0,))
        produce(bench, records(b"c"))
    [answer] = fetch(bench, at(4, fetched=last_epoch)).last.partitions
    assert (answer.error, answer.diverging) == (Errors.OFFSET_OUT_OF_RANGE, None)
    [answer] = fetch(bench, at(10, fetched=3)).last.partitions
    assert (answer.error, answer.diverging) == (Errors.NONE, (2, 11))


def test_a_later_epoch_than_any_of_the_log_is_out_of_range() -> None:
    [answer] = fetch(led(1), at(1, fetched=7)).last.partitions
    assert (answer.error, answer.diverging) == (Errors.OFFSET_OUT_OF_RANGE, None)


def test_a_closed_connection_waits_for_nothing() -> None:
    bench = led()
    line = fetch(bench, at(0))
    assert line.on_close is not None
    line.on_close()
    produce(bench, records(b"a"))
    assert not line.replies
    assert not bench.partition.readers


# -- sessions ---------------------------------------------------------------------------------------------------------


def opened(bench: Bench, *tps: TopicPartition) -> int:
    id: int = fetch(bench, *[at(0, tp) for tp in tps or TPS], session=FULL, max_wait_us=0).last.session_id
    return id


def test_a_session_sends_what_has_changed() -> None:
    bench = led(1)
    session = opened(bench)
    line = fetch(bench, at(2, TPS[0]), at(2, TPS[1]), at(2, TPS[2]), session=(session, 1), max_wait_us=0)
    assert (line.last.session_id, bases(line.last)) == (session, [])
    produce(bench, records(b"a", tp=TPS[1]))
    assert bases(fetch(bench, session=(session, 2)).last) == [(1, [2])]


def test_a_partition_that_had_something_comes_last_the_next_time() -> None:
    bench = led()
    session = opened(bench)
    for tp in TPS:
        produce(bench, records(b"a", tp=tp))
    size = records(b"a").size
    seen = [bases(fetch(bench, session=(session, n), max_bytes=size).last) for n in (1, 2, 3, 4)]
    # The first answer has the new high watermarks of all three: they keep their order.
    assert [[number for number, found in each if found] for each in seen] == [[0], [0], [1], [2]]


def test_a_session_goes_on_over_another_connection_and_counts_its_requests() -> None:
    bench = led()
    session = opened(bench)
    assert fetch(bench, session=(session, 1), line=Line(), max_wait_us=0).last.error is Errors.NONE
    assert fetch(bench, session=(session, 1)).last.error is Errors.INVALID_FETCH_SESSION_EPOCH
    assert fetch(bench, session=(session + 1, 2)).last.error is Errors.FETCH_SESSION_ID_NOT_FOUND
    assert fetch(bench, session=(session, 2), max_wait_us=0).last.error is Errors.NONE


def test_a_full_request_ends_the_session_that_it_names() -> None:
    bench = led()
    session = opened(bench)
    again = fetch(bench, at(0), session=(session, INITIAL_EPOCH), max_wait_us=0).last.session_id
    assert again not in (0, session)
    assert fetch(bench, at(0), session=(again, FINAL_EPOCH), max_wait_us=0).last.session_id == 0
    assert fetch(bench, session=(again, 1)).last.error is Errors.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_without_partitions_is_gone() -> None:
    bench = led()
    session = opened(bench, TP)
    assert fetch(bench, session=(session, 1), forgotten=(TP,)).last.session_id == 0
    assert fetch(bench, session=(session, 2)).last.error is Errors.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("keeps", [False, True])
def test_kafka_9338_a_session_is_held_against_a_new_leader_epoch(keeps: bool) -> None:
    """Since 2.5. Before, only a full request was, and no partition that is named within the session."""
    bench = led(1, BrokerPolicies(sessions_keep_epochs=keeps))
    one, two = TPS[:2]
    wanted = at(0, one, epoch=0), at(0, two, epoch=0)
    session = fetch(bench, *wanted, session=FULL, max_wait_us=0).last.session_id
    for tp in (one, two):
        bench.lead(tp=tp, epoch=1, version=1, isr=(0,))
    fenced = [Errors.FENCED_LEADER_EPOCH] * 2
    within = fetch(bench, at(1, one, epoch=0), session=(session, 1), max_wait_us=0)
    assert errors(within) == (fenced if keeps else [Errors.NONE] * 2)
    for full in (FULL, (0, FINAL_EPOCH), (session, INITIAL_EPOCH)):
        assert errors(fetch(bench, *wanted, session=full, max_wait_us=0)) == fenced


def test_an_error_is_sent_again_and_so_is_its_end() -> None:
    bench = led()
    session = opened(bench, TP)
    bench.follow(epoch=1)
    assert errors(fetch(bench, session=(session, 1))) == [Errors.NOT_LEADER_FOR_PARTITION]
    assert errors(fetch(bench, session=(session, 2))) == [Errors.NOT_LEADER_FOR_PARTITION]
    bench.lead(epoch=2, version=1, isr=(0,))
    assert errors(fetch(bench, session=(session, 3), max_wait_us=0)) == [Errors.NONE]


def test_without_room_there_is_no_session_until_one_is_old() -> None:
    bench = led(policies=config(fetch_session_slots=1))
    first = opened(bench, TP)
    assert opened(bench) == 0
    bench.at(bench.world.now + EVICTION_US)
    fetch(bench, session=(first, 1), max_wait_us=0)
    bench.at(bench.world.now + 1)
    assert opened(bench) == 0  # when it was last used it was not old
    fetch(bench, session=(first, 2), max_wait_us=0)
    assert opened(bench, TP) == 0  # it has as many partitions
    assert opened(bench) != 0  # it was made long ago, and has fewer
    assert fetch(bench, session=(first, 3)).last.error is Errors.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_that_was_not_used_for_long_goes_first() -> None:
    bench = led(policies=config(fetch_session_slots=1))
    opened(bench)
    bench.at(bench.world.now + EVICTION_US + 1)
    assert opened(bench, TP) != 0


def test_a_broker_may_keep_no_sessions() -> None:
    bench = led(policies=BrokerPolicies(BrokerConfig(fetch_session_slots=0)))
    assert opened(bench) == 0
