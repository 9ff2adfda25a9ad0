"""FetchSessionTest of Kafka 2.7.2, by requests of a real client: which sessions a broker keeps, and what they send."""

import pytest

from brokers.broker_policies import BrokerPolicies
from brokers.requests.fetch_session import EVICTION_US
from emulator.protocol.clients.fetch import FINAL_EPOCH, INITIAL_EPOCH
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import Bench, config
from tests.brokers.requests.clients import at, bases, fetch, produce, records

FAIR = BrokerPolicies(records_alone_go_last=True)
TPS = tuple(TopicPartition("t", number) for number in range(6))
STEP = EVICTION_US // 100
"""Kafka's cases count in hundredths of the time after which a session may go."""


class Sessions:
    """A broker that keeps so many sessions."""

    def __init__(self, slots: int) -> None:
        self.bench = Bench(config(fetch_session_slots=slots))
        for tp in TPS:
            self.bench.lead(tp=tp, isr=(0,))

    def create(self, size: int, now: int = 0) -> int:
        self.bench.at(now * STEP)
        return self.ask(0, INITIAL_EPOCH, size)

    def ask(self, id: int, epoch: int, size: int = 0) -> int:
        line = fetch(self.bench, *(at(0, tp) for tp in TPS[:size]), session=(id, epoch), max_wait_us=0)
        found: int = line.last.session_id
        assert line.last.error is Errors.NONE
        return found

    def touch(self, now: int, id: int, epoch: int) -> None:
        self.bench.at(now * STEP)
        assert self.ask(id, epoch) == id

    def has(self, id: int) -> bool:
        """A wrong epoch does nothing to a session that is there."""
        error = fetch(self.bench, session=(id, 1_000)).last.error
        assert error in (Errors.INVALID_FETCH_SESSION_EPOCH, Errors.FETCH_SESSION_ID_NOT_FOUND)
        return bool(error is Errors.INVALID_FETCH_SESSION_EPOCH)


def test_session_cache() -> None:
    """testSessionCache, without Kafka's last request, which is a follower's."""
    sessions = Sessions(3)
    one, two, three = sessions.create(1), sessions.create(3, 10), sessions.create(5, 20)
    assert [sessions.create(6, 30), sessions.create(1, 40)] == [0, 0]
    sessions.touch(105, one, 1)
    sessions.touch(105, three, 1)
    four = sessions.create(2, 112)
    assert [sessions.has(id) for id in (one, two, three, four)] == [True, False, True, True]
    sessions.touch(150, one, 2)
    sessions.touch(200, three, 2)
    sessions.touch(205, four, 1)
    five = sessions.create(6, 210)
    assert [sessions.has(id) for id in (one, three, four, five)] == [False, True, True, True]
    assert sessions.create(1, 210) == 0


def test_resize_cached_sessions() -> None:
    """testResizeCachedSessions: the smallest of the old ones goes."""
    sessions = Sessions(2)
    one, two = sessions.create(2), sessions.create(4)
    sessions.touch(90, one, 1)
    sessions.touch(90, two, 1)
    sessions.touch(120, one, 2)
    sessions.touch(120, two, 2)
    assert sessions.create(2, 120) == 0
    three = sessions.create(5, 120)
    assert [sessions.has(id) for id in (one, two, three)] == [False, True, True]


def test_fetch_session_expiration() -> None:
    """testFetchSessionExpiration: the one that was not used for longest."""
    sessions = Sessions(2)
    one, two = sessions.create(2), sessions.create(2, 50)
    sessions.touch(100, one, 1)
    three = sessions.create(2, 151)
    assert [sessions.has(id) for id in (one, two, three)] == [True, False, True]


def test_fetch_requests() -> None:
    """testFetchRequests."""
    sessions = Sessions(10)
    session = sessions.create(2)
    bench = sessions.bench
    assert fetch(bench, at(0), session=(session, 5)).last.error is Errors.INVALID_FETCH_SESSION_EPOCH
    assert fetch(bench, at(0), session=(session + 1, 1)).last.error is Errors.FETCH_SESSION_ID_NOT_FOUND
    answer = fetch(bench, session=(session, 1), max_wait_us=0).last
    assert (answer.error, answer.session_id, answer.partitions) == (Errors.NONE, session, ())
    assert fetch(bench, session=(session, 5)).last.error is Errors.INVALID_FETCH_SESSION_EPOCH
    closed = fetch(bench, at(0, TPS[2]), at(0, TPS[3]), session=(session, FINAL_EPOCH), max_wait_us=0).last
    assert (closed.session_id, len(closed.partitions)) == (0, 2)
    assert not sessions.has(session)


def test_incremental_fetch_session() -> None:
    """testIncrementalFetchSession: one partition leaves, another comes."""
    sessions = Sessions(10)
    session = sessions.create(2)
    bench = sessions.bench
    for tp in TPS[:3]:
        produce(bench, records(b"a", tp=tp))
    line = fetch(bench, at(0, TPS[2]), session=(session, 1), forgotten=(TPS[0],))
    assert sorted(bases(line.last)) == [(1, [0]), (2, [0])]


def test_zero_size_fetch_session() -> None:
    """testZeroSizeFetchSession."""
    sessions = Sessions(10)
    session = sessions.create(2)
    answer = fetch(sessions.bench, session=(session, 1), forgotten=TPS[:2]).last
    assert (answer.session_id, answer.partitions) == (0, ())
    assert not sessions.has(session)


@pytest.mark.parametrize("named", [True, False])
def test_diverging_epoch(named: bool) -> None:
    """testDivergingEpoch, testLastFetchedEpoch: a partition whose reader's log diverges is in each answer, though
    nothing else is new."""
    bench = Bench(config(fetch_session_slots=10))
    for tp in TPS[:2]:
        bench.lead(tp=tp, isr=(0,))
        produce(bench, records(b"a", b"b", tp=tp))
        bench.lead(epoch=5, version=1, tp=tp, isr=(0,))
        produce(bench, records(b"c", tp=tp, id=2))
    wanted = at(3, TPS[0], epoch=5, fetched=5), at(3, TPS[1], epoch=5, fetched=4)
    first = fetch(bench, *wanted, session=(0, INITIAL_EPOCH), max_wait_us=0).last
    assert [each.diverging for each in first.partitions] == [None, (0, 2)]
    more = wanted if named else ()
    again = fetch(bench, *more, session=(first.session_id, 1), max_wait_us=0).last
    assert [(each.tp, each.diverging) for each in again.partitions] == [(TPS[1], (0, 2))]


@pytest.mark.parametrize(("policies", "second"), [(BrokerPolicies(), [(0, [1])]), (FAIR, [(1, [0])])])
def test_a_full_answer_starves_no_partition_since_kafka_12330(
    policies: BrokerPolicies, second: list[tuple[int, list[int]]]
) -> None:
    """testFetchSessionDoesNotStarvePartitions...: of the second partition only the high watermark fits."""
    bench = Bench(policies)
    for tp in TPS[:2]:
        bench.lead(tp=tp, isr=(0,))
    created = fetch(bench, *(at(0, tp) for tp in TPS[:2]), session=(0, INITIAL_EPOCH), max_wait_us=0).last
    for _ in range(2):
        produce(bench, *(records(b"x", tp=tp) for tp in TPS[:2]))
    size = records(b"x").size
    first = fetch(bench, session=(created.session_id, 1), max_wait_us=0, max_bytes=size).last
    assert bases(first) == [(0, [0]), (1, [])]
    answer = fetch(bench, at(1, TPS[0]), session=(created.session_id, 2), max_wait_us=0, max_bytes=size).last
    assert [each for each in bases(answer) if each[1]] == second
