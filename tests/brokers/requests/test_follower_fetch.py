"""A follower's answers to real consumers (KIP-392): what it knows to be committed, and when it answers who waits."""

from typing import Any

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.clients.fetch import DEBUGGING_CONSUMER
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.types import Batch
from tests.brokers.bench import Bench, Line
from tests.brokers.requests.clients import at, bases, fetch

SINCE_2_4 = BrokerPolicies(followers_serve_consumers=True)
SINCE_3_3 = BrokerPolicies(followers_serve_consumers=True, learned_high_watermark_completes_fetches=True)


def following(policies: BrokerPolicies = SINCE_2_4, *, committed: int = 4) -> Bench:
    """This broker follows in epoch 2, and has three batches of two records."""
    bench = Bench(policies)
    bench.follow(epoch=2)
    learn(bench, 3, committed)
    return bench


def learn(bench: Bench, batches: int, committed: int) -> None:
    """The follower's log gets more batches, and the leader's high watermark."""
    partition, had = bench.partition, bench.partition.log.end_offset // 2
    numbers = range(had, had + batches)
    more = tuple(Batch(2 * each, 2 * each + 2, leader_epoch=2, size=100, id=each + 1) for each in numbers)
    partition.append_as_follower(more, committed)


def read(bench: Bench, offset: int, *, knows: bool = True, replica_id: int = CONSUMER, **limits: Any) -> Line:
    wanted = at(offset, epoch=limits.pop("epoch", -1))
    return fetch(bench, wanted, replica_id=replica_id, knows_followers=knows, **limits)


def errors(line: Line) -> list[Errors]:
    return [each.error for each in line.last.partitions]


def test_it_sends_what_it_knows_to_be_committed() -> None:
    line = read(following(), 0)
    assert bases(line.last) == [(0, [0, 2])]
    assert line.last.partitions[0].high_watermark == 4


@pytest.mark.parametrize(
    ("policies", "knows", "replica_id", "answer"),
    [
        (BrokerPolicies(), True, CONSUMER, Errors.NOT_LEADER_FOR_PARTITION),
        (BrokerPolicies(), False, DEBUGGING_CONSUMER, Errors.NONE),
        (SINCE_2_4, False, CONSUMER, Errors.NOT_LEADER_FOR_PARTITION),
        (SINCE_2_4, False, DEBUGGING_CONSUMER, Errors.NOT_LEADER_FOR_PARTITION),
        (SINCE_2_4, True, DEBUGGING_CONSUMER, Errors.NONE),
    ],
)
def test_whom_it_answers(policies: BrokerPolicies, knows: bool, replica_id: int, answer: Errors) -> None:
    """ReplicaManager.fetchMessages: up to 2.3 who asks for it by the replica id, since then who knows Fetch 11."""
    assert errors(read(following(policies), 0, knows=knows, replica_id=replica_id)) == [answer]


@pytest.mark.parametrize(
    ("epoch", "answer"), [(1, Errors.FENCED_LEADER_EPOCH), (2, Errors.NONE), (3, Errors.UNKNOWN_LEADER_EPOCH)]
)
def test_who_names_an_epoch_has_to_know_the_followers(epoch: int, answer: Errors) -> None:
    assert errors(read(following(), 0, epoch=epoch)) == [answer]


def test_a_reader_that_is_ahead_of_its_log_is_out_of_range_and_one_ahead_of_its_high_watermark_waits() -> None:
    bench = following()
    assert errors(read(bench, 7)) == [Errors.OFFSET_OUT_OF_RANGE]
    assert not read(bench, 5).replies


@pytest.mark.parametrize("policies", [SINCE_2_4, SINCE_3_3])
def test_who_waits_is_answered_with_the_next_high_watermark_since_3_3_2(policies: BrokerPolicies) -> None:
    bench = following(policies)
    line = read(bench, 4)
    assert not line.replies
    learn(bench, 0, 6)
    assert not line.replies  # the fetcher's round goes on
    bench.wait(1)
    if policies is SINCE_3_3:
        assert bases(line.last) == [(0, [4])]
    else:
        assert not line.replies


def test_who_waits_learns_of_a_new_leader_epoch() -> None:
    bench = following()
    line = read(bench, 4, epoch=2)
    bench.follow(leader=2, epoch=3)
    assert errors(line) == [Errors.FENCED_LEADER_EPOCH]
