"""Partitions, their copies, and changes of ISRs: cases drawn at random from PartitionTest, AlterIsrManagerTest and
AlterPartitionManagerTest (2.3.1 to 3.9.0)."""

import pytest
from attrs import evolve

from brokers.replica_manager.alter_isr import INTERVAL_US
from emulator.protocol.alter_isr import AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.zookeeper import ZkCode
from scenarios.profiles import PROFILES
from tests.brokers.bench import TP, Bench, batch, state
from tests.brokers.replica_manager.test_alter_isr import OTHER, Desk, NotedAlterIsr, asking, now
from tests.brokers.replica_manager.test_log_dir_moves import FIRST, SECOND, DirsBench

TEN = [TopicPartition("t", number) for number in range(10)]


@pytest.mark.parametrize("version", [1, 0])
@pytest.mark.parametrize("leader", [0, 1])
def test_ignore_partition_state_change_with_older_partition_epoch(version: int, leader: int) -> None:
    """PartitionTest.testIgnore(Leader|Follower)PartitionStateChangeWithOlderPartitionEpoch: of the same leader
    epoch."""
    bench = Bench()
    assert bench.leader_and_isr(state(leader, 8, version=1)).partitions == ((TP, Errors.NONE),)
    [(_, error)] = bench.leader_and_isr(state(leader, 8, version=version)).partitions
    assert error is not Errors.NONE
    partition = bench.partition
    assert (partition.is_leader, partition.leader_epoch, partition.zk_version) == (leader == 0, 8, 1)


@pytest.mark.parametrize("removed_first", [True, False])
def test_maybe_replace_current_with_future_replica(removed_first: bool) -> None:
    """PartitionTest.testMaybeReplaceCurrentWithFutureReplica: a removal and a replacement meet; in either order no
    future log is left."""
    bench = DirsBench()
    bench.lead()
    first = bench.home
    second = SECOND if first == FIRST else FIRST
    assert bench.alter(second) is Errors.NONE
    moves = bench.manager.moves
    if removed_first:
        assert bench.alter(first) is Errors.NONE
        assert TP not in moves.futures
    assert moves.replace(TP) is (not removed_first)
    if not removed_first:
        assert bench.alter(second) is Errors.NONE
    assert (TP in moves.futures, bench.home) == (False, first if removed_first else second)
    assert len(bench.described()) == 1


def test_one_in_flight() -> None:
    """AlterIsrManagerTest.testOneInFlight (2.8.2)."""

    async def test(desk: Desk) -> None:
        desk.wish()
        await desk.world.sleep(1)
        assert len(desk.asked) == 1
        desk.wish(OTHER)
        desk.wish(TEN[2])
        await desk.world.sleep(5 * INTERVAL_US)
        assert len(desk.asked) == 1
        await desk.answer((TP, Errors.NONE, now()))
        assert [[each.tp for each in request.partitions] for _, request in desk.asked] == [[TP], [OTHER, TEN[2]]]

    Desk(at_once=True).play(test)


def test_single_batch() -> None:
    """AlterPartitionManagerTest.testSingleBatch (3.3.2): a partition that the answer leaves out is asked for again,
    with those that have come meanwhile."""

    async def test(desk: Desk) -> None:
        for tp in TEN:
            desk.wish(tp)
        await desk.world.sleep(1)
        assert len(desk.asked[0][1].partitions) == 1
        desk.answers.put(AlterIsrResponse(Errors.NONE, ()))
        await desk.world.sleep(1)
        assert len(desk.asked) == 2
        assert [each.tp for each in desk.asked[1][1].partitions] == TEN

    Desk(at_once=True, awaits_answers=True, asks_again=True).play(test)


def test_retry_on_unsupported_version_error() -> None:
    """AlterPartitionManagerTest.testRetryOnUnsupportedVersionError: as after any error of the whole request, 50 ms."""

    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(1)
        desk.answers.put(AlterIsrResponse(Errors.UNSUPPORTED_VERSION, ()))
        await desk.world.sleep(2 * INTERVAL_US)
        assert (len(desk.asked), wish.outcome) == (2, None)
        await desk.answer((TP, Errors.NONE, now()))
        assert wish.outcome == ((0, 1), 8)

    Desk(at_once=True, awaits_answers=True, asks_again=True).play(test)


def test_overwrite_within_batch() -> None:
    """AlterIsrManagerTest.testOverwriteWithinBatch (2.8.2): a second change of a partition is not taken, and the first
    one is sent."""

    async def test(desk: Desk) -> None:
        desk.wish()
        assert not desk.manager.accepts(TP, list)
        await desk.world.sleep(1)
        [(_, request)] = desk.asked
        assert [(each.tp, each.isr) for each in request.partitions] == [(TP, (0, 1))]

    Desk(at_once=True, awaits_answers=True).play(test)


def test_alter_isr_new_leader_elected() -> None:
    """PartitionTest.testAlterIsrNewLeaderElected (3.3.2): the answer that the controller has elected another leader
    meanwhile. The leader does not ask again, and counts the follower until it learns more."""

    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(1)
        await desk.answer((TP, Errors.NEW_LEADER_ELECTED, None))
        await desk.world.sleep(5 * INTERVAL_US)
        assert (len(desk.asked), wish.outcome) == (1, "NEW_LEADER_ELECTED")

    Desk(at_once=True, awaits_answers=True, asks_again=True).play(test)


def test_initial_state_of_a_replica() -> None:
    """ReplicaTest.testInitialState: nothing is known of a follower's log, and it was never caught up (Kafka's 0
    is 1970, where virtual time begins)."""
    bench = Bench()
    bench.at(5_000_000)
    bench.lead(isr=(0,))
    remote = bench.remote(1)
    assert (remote.log_start_offset, remote.log_end_offset) == (-1, -1)
    assert remote.last_caught_up_us < 0


def test_high_watermark_advance_should_not_advance_when_under_min_isr() -> None:
    """PartitionTest.testHighWatermarkAdvanceShouldNotAdvanceWhenUnderMinISR (KAFKA-15583, 3.7): a replica whose joining
    has been asked for does not count before the answer."""
    policies = PROFILES["kafka-3.9"].policies.brokers
    noted = NotedAlterIsr()
    bench = Bench(evolve(policies, config=evolve(policies.config, min_insync_replicas=3)), alter_isr=noted)
    bench.lead(5, isr=(0, 1))
    bench.produce(count=10)
    bench.follower(1).at(10, 5)
    assert bench.partition.high_watermark == 0
    bench.follower(2).at(10, 5)
    assert (bench.partition.high_watermark, [sorted(isr) for isr in noted.isrs()]) == (0, [[0, 1, 2]])
    noted.wanted[0].taken((0, 1, 2), 2)
    assert bench.partition.high_watermark == 10


def test_fence_stale_updates() -> None:
    """ReplicaTest.testResetReplicaStateWhenLeaderIsReelectedAndReplicaIsNotInSync: a follower that is not in the ISR
    keeps what is known of its log, and counts as never caught up."""
    bench = Bench()
    bench.lead(0, isr=(0, 2))
    bench.produce(count=10)
    bench.follower(1).at(5)
    bench.lead(1, isr=(0, 2), version=1)
    remote = bench.remote(1)
    assert remote.log_end_offset == 5
    assert remote.last_caught_up_us <= 0


@pytest.mark.parametrize("error", [Errors.CLUSTER_AUTHORIZATION_FAILED, Errors.STALE_BROKER_EPOCH])
def test_retry_on_errors_of_the_request(error: Errors) -> None:
    """AlterIsrManagerTest.testRetryOnAuthenticationFailure and its siblings: after 50 ms."""

    async def test(desk: Desk) -> None:
        desk.wish()
        await desk.world.sleep(1)
        desk.answers.put(AlterIsrResponse(error, ()))
        await desk.world.sleep(INTERVAL_US - 10)
        assert len(desk.asked) == 1
        await desk.world.sleep(20)
        assert len(desk.asked) == 2

    Desk(at_once=True).play(test)


REFUSED = (
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.INVALID_UPDATE_VERSION, Errors.FENCED_LEADER_EPOCH, Errors.NOT_CONTROLLER,
)  # fmt: skip


@pytest.mark.parametrize("error", REFUSED)
def test_partition_errors(error: Errors) -> None:
    """AlterIsrManagerTest.testPartitionErrors (2.7.2): each is handed to the leader, and another change can be asked
    for."""

    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(INTERVAL_US)
        await desk.answer((TP, error, None))
        assert wish.outcome == error.name
        desk.wish()
        await desk.world.sleep(INTERVAL_US)
        assert len(desk.asked) == 2

    Desk().play(test)


@pytest.mark.parametrize(
    ("error", "again"),
    [(Errors.INVALID_UPDATE_VERSION, False), (Errors.INVALID_REQUEST, False), (Errors.UNKNOWN_SERVER_ERROR, True)],
)
def test_alter_isr_failures(error: Errors, again: bool) -> None:
    """PartitionTest.testAlterIsrInvalidVersion, testAlterIsrUnexpectedError,
    testInvalidAlterPartitionRequestsAreNotRetried (3.3.2): the ISR stays as it was, and the change counts until more is
    known; only an unknown error lets it be sent again."""

    async def test(desk: Desk) -> None:
        wish = desk.wish()
        await desk.world.sleep(1)
        await desk.answer((TP, error, None))
        await desk.world.sleep(2 * INTERVAL_US)
        assert (len(desk.asked), wish.outcome) == ((2, None) if again else (1, error.name))

    Desk(at_once=True, awaits_answers=True, asks_again=True).play(test)
    bench, noted = asking()
    partition = bench.lead(5, isr=(0,), replicas=(0, 1))
    bench.produce()
    bench.follower(1).at(1, 5)
    noted.wanted[0].refused(error.name, True)
    assert (partition.isr, partition.isr_state.maximal_isr) == ((0,), (0, 1))


def test_zk_isr_manager_async_callback() -> None:
    """PartitionTest.testZkIsrManagerAsyncCallback: the ISR is the larger one once ZooKeeper has answered."""
    bench = Bench()
    partition = bench.lead(5, isr=(0, 1, 2), replicas=(0, 1, 2, 3), version=1)
    bench.produce(count=10)
    assert partition.high_watermark == 0
    bench.follower(3).at(10, 5)
    bench.zk.answer(ZkCode.OK, version=2)
    assert (sorted(partition.isr), partition.isr_state.is_inflight, partition.zk_version) == ([0, 1, 2, 3], False, 2)


@pytest.mark.parametrize(
    ("epoch", "error"),
    [(-1, Errors.NONE), (5, Errors.NONE), (4, Errors.FENCED_LEADER_EPOCH), (6, Errors.UNKNOWN_LEADER_EPOCH)],
)
def test_leader_epoch_validation_on_leader(epoch: int, error: Errors) -> None:
    """PartitionTest.testLeaderEpochValidationOnLeader (3.3.2): of a follower's fetch."""
    bench = Bench()
    bench.lead(5, isr=(0, 1), replicas=(0, 1))
    answer = bench.follower(1).at(0, epoch)  # None: it waits for records
    found = [] if answer is None else [each.error for each in answer.partitions]
    assert found == ([] if error is Errors.NONE else [error])
    assert bench.remote(1).log_end_offset == (0 if error is Errors.NONE else -1)


def test_high_watermark_maintenance() -> None:
    """UnifiedLogTest.testHighWatermarkMaintenance: appends leave it; it is never beyond the end of the log, and goes
    back with it."""
    bench = Bench()
    partition = bench.follow()
    partition.append_as_follower((batch(0, count=3),), 1)
    assert partition.high_watermark == 1
    partition.append_as_follower((), 5)
    assert partition.high_watermark == 3
    partition.append_as_follower((batch(3, count=3),), 6)
    assert partition.high_watermark == 6
    partition.truncate_to(3)
    assert partition.high_watermark == 3
    partition.append_as_follower((batch(3, count=3),), 3)
    assert (partition.high_watermark, partition.log_end_offset, partition.log_start_offset) == (3, 6, 0)
    partition.truncate_fully_and_start_at(4)
    assert (partition.high_watermark, partition.log_end_offset, partition.log_start_offset) == (4, 4, 4)


def test_isr_not_expanded_if_replica_is_in_controlled_shutdown() -> None:
    """PartitionTest.testIsrNotExpandedIfReplicaIsInControlledShutdown (3.3.2; with ZooKeeper a leader knows only who is
    alive): refused, not asked for while it is gone, and taken in once it is back."""
    noted = NotedAlterIsr()
    bench = Bench(PROFILES["kafka-3.3"].policies.brokers, alter_isr=noted)
    partition = bench.lead(5, isr=(0,), replicas=(0, 1))
    bench.produce(count=10)
    follower = bench.follower(1)
    follower.at(10, 5)
    assert (partition.isr, sorted(partition.isr_state.maximal_isr), len(noted.wanted)) == ((0,), [0, 1], 1)
    noted.wanted[0].refused("INELIGIBLE_REPLICA", False)
    assert (partition.isr_state.maximal_isr, partition.isr_state.is_inflight) == ((0,), False)
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 2)))
    follower.at(10, 5)
    assert (len(noted.wanted), partition.isr_state.is_inflight) == (1, False)
    bench.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 1, 2)))
    follower.at(10, 5)
    assert (len(noted.wanted), partition.isr_state.is_inflight) == (2, True)
    noted.wanted[1].taken((0, 1), 1)
    assert (partition.isr, partition.isr_state.is_inflight) == ((0, 1), False)
