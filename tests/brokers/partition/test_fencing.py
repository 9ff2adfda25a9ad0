"""Requests with another leader epoch than the replica's (Partition.getLocalReplica, 2.3.1; KIP-320)."""

import pytest

from brokers.broker_policies import BrokerPolicies
from brokers.replica_manager.log_dir_moves import CurrentLogs
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, NO_EPOCH
from emulator.protocol.offsets_for_leader_epoch import EpochQuery, ListOffsetsRequest, OffsetsForLeaderEpochRequest
from tests.brokers.bench import TP, Bench, Line

FENCED, UNKNOWN = Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH
NOT_LEADER, NONE = Errors.NOT_LEADER_FOR_PARTITION, Errors.NONE

ROWS = [(4, FENCED, FENCED), (6, UNKNOWN, UNKNOWN), (5, NONE, NOT_LEADER), (NO_EPOCH, NONE, NOT_LEADER)]
"""The epoch that the reader knows, and what it gets of a leader and of a follower of epoch 5."""
rows = pytest.mark.parametrize(("epoch", "of_leader", "of_follower"), ROWS)
readers = pytest.mark.parametrize("reader", [1, CONSUMER], ids=["follower", "consumer"])


def benches(policies: BrokerPolicies | None = None) -> tuple[Bench, Bench]:
    """A leader under epoch 5, and a follower under it."""
    leading, following = Bench(policies), Bench(policies)
    leading.lead(5)
    following.lead(4)
    following.follow(1, epoch=5)
    for bench in (leading, following):
        bench.world.now += 1
    return leading, following


def fetched(bench: Bench, reader: int, epoch: int) -> Errors:
    answer = bench.follower(reader, max_wait_us=0, min_bytes=0).at(0, epoch)
    assert answer is not None
    return answer.partitions[0].error if answer.partitions else NONE


@readers
@rows
def test_a_fetch(reader: int, epoch: int, of_leader: Errors, of_follower: Errors) -> None:
    assert tuple(fetched(bench, reader, epoch) for bench in benches()) == (of_leader, of_follower)


@readers
@rows
def test_a_question_for_offsets(reader: int, epoch: int, of_leader: Errors, of_follower: Errors) -> None:
    for bench, error in zip(benches(), (of_leader, of_follower), strict=True):
        line = Line()
        bench.send(ListOffsetsRequest(TP, epoch, reader), line)
        assert line.last.error is error


@readers
@rows
def test_a_question_for_the_end_of_an_epoch(reader: int, epoch: int, of_leader: Errors, of_follower: Errors) -> None:
    for bench, error in zip(benches(), (of_leader, of_follower), strict=True):
        line = Line()
        request = OffsetsForLeaderEpochRequest(reader, (EpochQuery(TP, epoch, 4),))
        bench.send(request, line)
        assert line.last.partitions[0].error is error


@rows
def test_a_copy_between_directories_may_read_from_a_follower(
    epoch: int, of_leader: Errors, of_follower: Errors
) -> None:
    """fetchOnlyFromLeader is false for it."""
    for bench in benches():
        logs = CurrentLogs(
            bench.process, bench.manager.logs.work, bench.manager.partitions, bench.manager.offline, lambda tp: False
        )
        assert logs.offsets(TP, epoch).error is of_leader
        assert logs.epoch_end(EpochQuery(TP, epoch, 4)).error is of_leader


@readers
@pytest.mark.parametrize("epoch", [4, 6])
def test_before_kip_320_epochs_are_not_compared(reader: int, epoch: int) -> None:
    assert tuple(fetched(bench, reader, epoch) for bench in benches(BrokerPolicies(checks_epochs=False))) == (
        NONE,
        NOT_LEADER,
    )
