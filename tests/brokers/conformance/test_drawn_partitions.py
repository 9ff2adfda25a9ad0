"""Partitions, their copies, and changes of ISRs: cases drawn at random from PartitionTest, AlterIsrManagerTest and
AlterPartitionManagerTest (2.3.1 to 3.9.0)."""

import pytest

from brokers.replica_manager.alter_isr import INTERVAL_US
from emulator.protocol.alter_isr import AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench, state
from tests.brokers.replica_manager.test_alter_isr import OTHER, Desk, now
from tests.brokers.replica_manager.test_log_dir_moves import FIRST, SECOND, DirsBench

TEN = [TopicPartition("t", number) for number in range(10)]


@pytest.mark.parametrize("version", [1, 0])
def test_ignore_follower_partition_state_change_with_older_partition_epoch(version: int) -> None:
    """PartitionTest.testIgnoreFollowerPartitionStateChangeWithOlderPartitionEpoch: of the same leader epoch."""
    bench = Bench()
    assert bench.leader_and_isr(state(1, 8, version=1)).partitions == ((TP, Errors.NONE),)
    [(_, error)] = bench.leader_and_isr(state(1, 8, version=version)).partitions
    assert error is not Errors.NONE
    partition = bench.partition
    assert (partition.is_leader, partition.leader_epoch, partition.zk_version) == (False, 8, 1)


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
