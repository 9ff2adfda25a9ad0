"""A follower that has given up a connection reads in a session on another one, while a late request of the first comes.
Kafka reads all partitions of each request's session, whatever other sessions do (FetchManager, 1.1)."""

import pytest

from emulator.protocol.fetch import FetchResponse
from tests.brokers.bench import MS, Bench, Follower


def offsets(answer: FetchResponse | None) -> list[int]:
    """Where the batches of an answer begin."""
    assert answer is not None
    return [batch.base_offset for partition in answer.partitions for batch in partition.batches]


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.lead(isr=(0, 1))
    bench.produce(acks=1)
    return bench


@pytest.fixture
def sessions(bench: Bench) -> tuple[Follower, Follower]:
    """The one that was given up, and the one that has read everything."""
    old, new = bench.follower(1), bench.follower(1, min_bytes=0)
    assert offsets(old.at(0)) == [0]
    assert offsets(new.at(1)) == []
    new.limits = {}
    return old, new


@pytest.mark.parametrize("closes", [False, True])
def test_a_late_request_takes_no_records_from_the_session_in_use(
    bench: Bench, sessions: tuple[Follower, Follower], closes: bool
) -> None:
    """kafka-2.4, seed 43169 of the default swarm: the follower was not sent what was written from then on."""
    old, new = sessions
    old.at(1)
    if closes:
        assert old.line.on_close is not None
        old.line.on_close()
    new.fetch()
    bench.produce(acks=1)
    assert offsets(new.line.last) == [1]


def test_nor_where_it_came_while_the_session_in_use_waited(bench: Bench, sessions: tuple[Follower, Follower]) -> None:
    old, new = sessions
    assert new.fetch() is None
    old.at(1)
    bench.produce(acks=1)
    (waiting,) = (one for one in bench.fetch_handler.sessions.values() if one.id == new.session)
    bench.at(bench.world.now + 500 * MS)
    waiting.delayed.expire(None)
    assert offsets(new.line.last) == [1]


def test_the_next_request_of_the_session_in_use_says_where_the_follower_is(
    bench: Bench, sessions: tuple[Follower, Follower]
) -> None:
    """The late one may be from before what the follower has read since."""
    old, new = sessions
    old.at(0)
    assert bench.remote(1).log_end_offset == 0
    new.fetch()
    assert bench.remote(1).log_end_offset == 1
