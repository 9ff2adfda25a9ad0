"""ReplicaManagerTest of Kafka 2.7.2: fetches of followers and consumers, copies under new leader epochs, StopReplica
with leader epochs."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchPartition, FetchRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench, state
from tests.brokers.replica_manager.test_log_dir_moves import FIRST, SECOND, DirsBench
from tests.brokers.replica_manager.test_roles import stop
from tests.brokers.requests.clients import at, fetch

OTHER = TopicPartition("t", 1)
DELETION, UNSTATED = -2, -1
"""The leader epochs of a StopReplica that deletes a topic, and of one from before KIP-570."""


def ends(bench: Bench, broker: int) -> tuple[int, int]:
    """Where the leader thinks the follower's log ends; and the high watermark."""
    return bench.remote(broker).log_end_offset, bench.partition.high_watermark


# -- fetches ----------------------------------------------------------------------------------------------------------


def test_fetch_beyond_high_watermark() -> None:
    """testFetchBeyondHighWatermark: a follower may, a consumer gets nothing, and no error."""
    bench = Bench()
    bench.lead()
    for _ in range(2):
        bench.produce()
    answer = bench.follower(1).at(1)
    assert answer is not None
    assert [batch.base_offset for batch in answer.partitions[0].batches] == [1]
    answers = fetch(bench, at(1), max_wait_us=0).last.partitions
    assert [(each.error, each.batches) for each in answers] == [(Errors.NONE, ())]


@pytest.mark.parametrize(
    ("epoch", "last_epoch", "error"),
    [(4, -1, Errors.FENCED_LEADER_EPOCH), (6, -1, Errors.UNKNOWN_LEADER_EPOCH), (5, 4, Errors.NONE)],
)
def test_follower_state_not_updated_if_log_read_fails(epoch: int, last_epoch: int, error: Errors) -> None:
    """testFollowerStateNotUpdatedIfLogReadFails: nor where the follower's log diverges (KAFKA-13141)."""
    bench = Bench(BrokerPolicies(refused_fetch_forgets=False))
    bench.lead(5, isr=(0, 1), replicas=(0, 1))
    for _ in range(5):
        bench.produce()
    bench.follower(1).at(0, 5)
    assert ends(bench, 1) == (0, 0)
    wanted = FetchPartition(TP, epoch, 3, 0, last_epoch)
    [answer] = bench.send(FetchRequest(1, 0, 0, 0, 0, 10_000, 1_000, (wanted,), ())).last.partitions
    assert answer.error is error
    assert ends(bench, 1) == (0, 0)


def test_fetch_messages_when_not_follower_for_one_partition() -> None:
    """testFetchMessagesWhenNotFollowerForOnePartition: the other one is not affected, and its high watermark moves."""
    bench = Bench()
    bench.lead(isr=(0, 1), replicas=(0, 1))
    bench.lead(tp=OTHER, isr=(0, 2), replicas=(0, 2))
    for _ in range(2):
        bench.produce(TP, OTHER)
    answer = bench.follower(1).fetch((TP, 0, 1), (OTHER, 0, 1))
    assert answer is not None
    found = {each.tp: (each.error, len(each.batches)) for each in answer.partitions}
    assert found == {TP: (Errors.NONE, 1), OTHER: (Errors.NONE, 0)}
    assert [bench.manager.partitions[tp].high_watermark for tp in (TP, OTHER)] == [1, 0]


# -- copies between log directories -----------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [0, 1, 10])
def test_fenced_error_caused_by_become_leader(changes: int) -> None:
    """testFencedErrorCausedByBecomeLeader: the copy survives all of them, and the next one can begin."""
    bench = DirsBench(BrokerPolicies(copies_follow_epochs=True))
    bench.lead()
    for _ in range(3):
        bench.produce()
    first = bench.partition.log.directory.name
    second = SECOND if first == FIRST else FIRST
    assert bench.alter(second) is Errors.NONE
    for epoch in range(1, changes + 1):
        bench.lead(epoch, version=epoch)
    assert [start.leader_epoch for start in bench.copies.added][-1] == changes
    while not bench.copy():
        pass
    assert bench.partition.log.directory.name == second
    assert not bench.manager.moves.futures
    assert bench.alter(first) is Errors.NONE


# -- StopReplica ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delete", [False, True])
@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (2, Errors.NONE), (0, Errors.FENCED_LEADER_EPOCH), (1, Errors.FENCED_LEADER_EPOCH),
        (DELETION, Errors.NONE), (UNSTATED, Errors.NONE),
    ],
)  # fmt: skip
def test_stop_replica_with_existing_partition(epoch: int, error: Errors, delete: bool) -> None:
    """testStopReplicaWith(DeletePartitionAnd)ExistingPartitionAnd(Newer|Older|Equal)LeaderEpoch, ...AndDeleteSentinel,
    ...AndLeaderEpochNotProvided: the replica goes with a deletion alone."""
    bench = Bench()
    bench.lead(1)
    bench.produce()
    assert stop(bench, delete, leader_epochs=(epoch,)).partitions == ((TP, error),)
    gone = delete and error is Errors.NONE
    assert (TP in bench.manager.partitions) is not gone
    assert bench.node.disk.exists(f"logs/{TP}") is not gone


def test_stop_replica_with_stale_controller_epoch() -> None:
    """testStopReplicaWithStaleControllerEpoch: nothing happens at all."""
    bench = Bench()
    bench.leader_and_isr(state(0, 1), controller_epoch=10)
    response = bench.send(StopReplicaRequest(9, 9, -1, True, (TP,), (2,))).last
    assert (response.error, response.partitions) == (Errors.STALE_CONTROLLER_EPOCH, ())
    assert TP in bench.manager.partitions
