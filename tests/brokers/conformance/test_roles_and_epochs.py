"""PartitionTest, ReplicaTest, ReplicaManagerTest and DelayedFetchTest (2.3.1 to 3.9.0): what a leader and a follower
answer to leader epochs, and what a leader remembers of its followers."""

from typing import Any

import pytest
from attrs import evolve

from emulator.disks import DiskFault
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER, FetchPartition, FetchRequest
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.offsets_for_leader_epoch import EpochQuery, ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.zookeeper import ZkCode
from scenarios.profiles import PROFILES
from tests.brokers.bench import LAG, ME, MS, TP, Bench, batch, config, lag_bench, state
from tests.brokers.partition.test_isr import written
from tests.brokers.test_metrics import Watched

EPOCH = 5
NOT_LEADER, FENCED, UNKNOWN = (
    Errors.NOT_LEADER_FOR_PARTITION, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH,
)  # fmt: skip
RELEASES = pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.7", "kafka-3.3", "kafka-3.9"])


def bench_of(release: str, **changes: Any) -> Bench:
    return Bench(evolve(PROFILES[release].policies.brokers, **changes))


# -- epochs -----------------------------------------------------------------------------------------------------------


def asked(bench: Bench, api: str, epoch: int, reader: int) -> Errors:
    """The error for the partition in the answer to a reader that states a leader epoch."""
    if api == "fetch":
        wanted = (FetchPartition(TP, epoch, 0, 0),)
        answer = bench.send(FetchRequest(reader, 0, -1, 0, 0, 1000, 1000, wanted, ())).last.partitions[0]
    elif api == "epochs":
        answer = bench.send(OffsetsForLeaderEpochRequest(reader, (EpochQuery(TP, epoch, 0),))).last.partitions[0]
    else:
        answer = bench.send(ListOffsetsRequest(TP, epoch, reader)).last
    return Errors(answer.error)


@pytest.mark.parametrize("api", ["fetch", "epochs", "offsets"])
@pytest.mark.parametrize("leads", [True, False])
@RELEASES
def test_epoch_validation(release: str, leads: bool, api: str) -> None:
    """testReadRecordEpochValidationFor(Leader|Follower), testOffsetForLeaderEpochValidationFor...,
    testFetchOffsetForTimestampEpochValidationFor..., testLeaderEpochValidationOn..., testReplicaFetchToFollower: the
    epoch is looked at before the role."""
    bench = bench_of(release)
    if leads:
        bench.lead(EPOCH, isr=(ME,))
    else:
        bench.follow(1, EPOCH)
    here = Errors.NONE if leads else NOT_LEADER
    expected = {-1: here, EPOCH: here, EPOCH - 1: FENCED, EPOCH + 1: UNKNOWN}
    for reader in (CONSUMER, 2):
        assert {epoch: asked(bench, api, epoch, reader) for epoch in expected} == expected


def test_delayed_fetch_with_fenced_epoch() -> None:
    """DelayedFetchTest.testFetchWithFencedEpoch, testNotLeaderOrFollower: see also C115."""
    bench = Bench()
    bench.lead(EPOCH)
    follower = bench.follower(1)
    assert follower.at(0, EPOCH) is None
    bench.follow(2, EPOCH + 1)
    answer = follower.answer(0)
    assert answer is not None
    assert [one.error for one in answer.partitions] == [FENCED]


@pytest.mark.parametrize(
    ("release", "known", "error"),
    [
        ("kafka-2.7", EPOCH, Errors.NONE), ("kafka-3.0", -1, Errors.NONE),
        ("kafka-3.3", EPOCH, UNKNOWN), ("kafka-3.3", -1, NOT_LEADER), ("kafka-3.9", EPOCH, UNKNOWN),
    ],
)  # fmt: skip
def test_fetch_from_unrecognized_follower(release: str, known: int, error: Errors) -> None:
    """testFetchFromUnrecognizedFollower (3.3.2): a broker that the leader does not know as a replica; before, it
    got no records and no error."""
    bench = bench_of(release)
    bench.lead(EPOCH, isr=(ME, 1), replicas=(ME, 1))
    bench.produce()
    answers = [asked(bench, "fetch", known, broker) for broker in (2, 3)]
    assert answers == [error] * 2
    assert set(bench.partition.remotes) == {1}
    bench.lead(EPOCH + 1, isr=(ME, 1), replicas=(ME, 1, 2, 3), version=1)
    assert [asked(bench, "fetch", EPOCH + 1, broker) for broker in (2, 3)] == [Errors.NONE] * 2
    assert {broker: remote.log_end_offset for broker, remote in bench.partition.remotes.items()}[2] == 0


# -- LeaderAndIsr -----------------------------------------------------------------------------------------------------


@RELEASES
def test_fetchers_are_not_restarted_if_leader_epoch_is_not_bumped(release: str) -> None:
    """ReplicaManagerTest.testFetcherAreNotRestartedIfLeaderEpochIsNotBumpedWithZkPath (3.3.2)."""
    bench = bench_of(release)
    bench.follow(1, 0)
    bench.leader_and_isr(state(1, 0, (0, 1), version=1, replicas=(0, 1, 2)))
    assert ([one.leader_epoch for one in bench.fetchers.added], bench.partition.leader_epoch) == ([0], 0)
    bench.leader_and_isr(state(2, 1, (0, 1, 2), version=2))
    assert [(one.leader, one.leader_epoch) for one in bench.fetchers.added] == [(1, 0), (2, 1)]


@RELEASES
def test_make_leader_updates_epoch_cache(release: str) -> None:
    """testMakeLeaderUpdatesEpochCache, testDoNotUpdateEpochStartOffsetIfLeaderEpochIsNotBumped."""
    bench = bench_of(release)
    bench.follow().append_as_follower((batch(0, 1), batch(1, 2), batch(2, 2), batch(3, 3)), 0)
    bench.lead(EPOCH, isr=(ME,))
    log = bench.partition.log
    assert log.epochs.end_offset_for(4, log.end_offset) == (3, 4)
    bench.produce()
    assert log.epochs.entries == ((1, 0), (2, 1), (3, 3), (5, 4))
    bench.leader_and_isr(state(ME, EPOCH, (ME,), version=2))
    assert log.epochs.entries[-1] == (5, 4)
    bench.lead(6, isr=(ME,), version=2)
    assert log.epochs.entries[-1] == (6, 5)


@RELEASES
def test_follower_should_not_have_any_remote_replica_states(release: str) -> None:
    """testFollowerShouldNotHaveAnyRemoteReplicaStates, testUpdateAssignmentAndIsr."""
    bench = bench_of(release)
    bench.lead(1)
    assert (sorted(bench.partition.remotes), bench.partition.isr) == ([1, 2], (0, 1, 2))
    bench.lead(2, isr=(0, 2), replicas=(0, 2, 3), version=1)
    assert (sorted(bench.partition.remotes), bench.partition.isr) == ([2, 3], (0, 2))
    bench.follow(1, 3)
    assert (sorted(bench.partition.remotes), bench.partition.isr) == ([], ())


@pytest.mark.parametrize("becomes_leader", [True, False])
@RELEASES
def test_partition_marked_offline_if_log_cant_be_created(release: str, becomes_leader: bool) -> None:
    """ReplicaManagerTest.testPartitionMarkedOfflineIfLogCantBeCreated (3.3.2)."""
    bench = bench_of(release)
    disk = bench.node.disks[0]
    disk.fail(DiskFault("I/O error", report=disk.report))
    response = bench.leader_and_isr(state(ME if becomes_leader else 1, 0))
    assert response.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)
    assert list(bench.manager.offline) == [TP]


# -- ReplicaTest ------------------------------------------------------------------------------------------------------


def remembered(bench: Bench) -> tuple[int, int | None]:
    """Where the leader thinks that follower 1 ends, and when it was caught up, in ms; None: long ago."""
    remote = bench.remote(1)
    return remote.log_end_offset, None if remote.last_caught_up_us < 0 else remote.last_caught_up_us // MS


@pytest.mark.parametrize(
    ("again", "in_sync", "expected"),
    [
        (True, True, (5, 5_300)),  # testResetReplicaStateWhenLeaderIsReelectedAndReplicaIsInSync
        (True, False, (5, None)),  # ...WhenLeaderIsReelectedAndReplicaIsNotInSync
        (False, True, (-1, 5_300)),  # ...WhenNewLeaderIsElectedAndReplicaIsInSync
        (False, False, (-1, None)),  # ...WhenNewLeaderIsElectedAndReplicaIsNotInSync
    ],
)
def test_reset_replica_state(again: bool, in_sync: bool, expected: tuple[int, int | None]) -> None:
    """What a leader thinks of a follower that has fetched up to 5 at 5.2 s, once it leads again at 5.3 s, in turn or
    after having followed."""
    bench = Bench(evolve(PROFILES["kafka-3.9"].policies.brokers, config=config(replica_lag_time_max_us=LAG).config))
    bench.at(5_000 * MS)
    bench.lead(1, isr=(0, 1))
    for _ in range(5):
        bench.produce()
    bench.at(5_200 * MS)
    bench.follower(1).at(5, 1)
    assert remembered(bench) == (5, 5_200)
    bench.at(5_300 * MS)
    if not again:
        bench.follow(2, 2)
    bench.lead(3, isr=(0, 1) if in_sync else (0,), version=3)
    assert remembered(bench) == expected


def test_is_caught_up() -> None:
    """testIsCaughtUpWhenReplicaIsCaughtUpToLogEnd, ...IsNotCaughtUpToLogEnd, testUpdateFetchState."""
    bench = lag_bench()
    bench.lead(0, isr=(0, 1))
    bench.follower(1).at(0)
    bench.at(bench.world.now + 10 * LAG)
    out = bench.partition.get_out_of_sync_replicas
    assert out(bench.world.now) == ()
    bench.produce()
    assert out(bench.world.now) == (1,)
    bench.follower(1).at(0)
    assert out(bench.world.now) == (1,)
    bench.follower(1).at(1)
    assert (out(bench.world.now), remembered(bench)[0]) == ((), 1)


# -- ISR --------------------------------------------------------------------------------------------------------------


def test_should_not_shrink_isr_while_one_is_in_flight() -> None:
    """testSingleInFlightAlterIsr, testRetryShrinkIsr, by ZooKeeper: one write at a time, and again after a failure."""
    bench = lag_bench()
    bench.lead(5, isr=(0, 1, 2), version=1, replicas=(0, 1, 2, 3))
    bench.produce(count=10)
    bench.follower(3).at(10, 5)
    assert len(bench.zk.waiting) == 1
    bench.at(bench.world.now + LAG + MS)
    bench.expire_isrs()
    assert len(bench.zk.waiting) == 1
    bench.zk.answer(ZkCode.OK, version=2)
    bench.expire_isrs()
    assert written(bench) == (0, 3)


def test_under_replicated_partitions_correct_semantics() -> None:
    """testUnderReplicatedPartitionsCorrectSemantics: a leader counts its partition, a follower does not; an ISR that is
    larger than the assignment is no reason."""
    bench = Watched(config(replica_lag_time_max_us=LAG))
    under = ("UnderReplicatedPartitions",)
    bench.lead(1, isr=(0, 1))
    assert bench.gauges(*under) == (1,)
    bench.follow(1, 2)
    assert bench.gauges(*under) == (0,)
    bench.lead(3, isr=(0, 1, 2, 3), version=1)
    assert bench.gauges(*under) == (0,)


def test_leader_and_isr_of_a_stale_controller_changes_nothing() -> None:
    """LeaderElectionTest.testLeaderElectionWithStaleControllerEpoch, on the broker."""
    bench = Bench()
    bench.leader_and_isr(state(ME, 1), controller_epoch=2)
    answer = bench.send(LeaderAndIsrRequest(9, 1, -1, (state(1, 2),), ())).last
    assert (answer.error, answer.partitions) == (Errors.STALE_CONTROLLER_EPOCH, ())
    assert (bench.partition.leader_epoch, bench.fetchers.added) == (1, [])
