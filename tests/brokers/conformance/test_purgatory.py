"""Delayed requests, and roles that change: ReplicaManagerTest of Kafka 2.4.1; conformance C115 to C119. The responses
to waiting consumers are in ``test_consumer_fetch``, which has C113, too."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.produce import ProduceResponse
from tests.brokers.bench import TP, Bench
from tests.brokers.replica_manager.test_roles import stop


def test_C117_a_missed_update_of_the_same_leader_restarts_the_fetcher() -> None:
    bench = Bench()
    bench.follow(leader=1, epoch=1)
    bench.follow(leader=1, epoch=3)
    assert bench.fetchers.removed == [TP, TP]
    assert [start.leader_epoch for start in bench.fetchers.added] == [1, 3]


@pytest.mark.parametrize("how", ["follower", "stopped", "deleted"])
def test_C115_produce_requests_that_wait_for_acks_fail_at_once_when_leadership_is_gone(how: str) -> None:
    bench = Bench(BrokerPolicies(stop_answers_waiting=True))
    bench.lead(0)
    line = bench.produce(acks=-1)
    assert not line.replies
    if how == "follower":
        bench.follow(leader=1, epoch=1)
    else:
        stop(bench, how == "deleted")
    response: ProduceResponse = line.last
    assert response.partitions == ((TP, Errors.NOT_LEADER_FOR_PARTITION, 0),)


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ("follower", Errors.FENCED_LEADER_EPOCH),
        ("moved away", Errors.NOT_LEADER_FOR_PARTITION),
        ("deleted", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("led on", Errors.FENCED_LEADER_EPOCH),
    ],
)
def test_C115_C119_a_parked_fetch_learns_it_too(how: str, error: Errors) -> None:
    bench = Bench()
    bench.lead(0)
    follower = bench.follower(1)
    assert follower.at(0) is None
    if how == "follower":
        bench.follow(leader=1, epoch=1)
    elif how == "moved away":
        stop(bench, True)
    elif how == "deleted":
        bench.learn(TP, -2)
        stop(bench, True)
    else:
        bench.lead(1, version=1)
        bench.produce()
    answer = follower.answer(0)
    assert answer is not None
    assert [(found.tp, found.error, found.batches) for found in answer.partitions] == [(TP, error, ())]


def test_C119_acks_have_to_be_0_1_or_all() -> None:
    bench = Bench()
    bench.lead()
    line = bench.produce(acks=3)
    assert line.last.partitions == ((TP, Errors.INVALID_REQUIRED_ACKS, -1),)
    assert bench.partition.log_end_offset == 0
