"""Cases of AbstractFetcherThreadTest, ReplicaFetcherThreadTest (2.4.1) and ReplicaAlterLogDirsThreadTest (2.7.2)."""

import pytest

from brokers.log.leader_epoch_cache import NO_EPOCHS
from emulator.kernel import Signal
from emulator.protocol.errors import Errors
from emulator.protocol.events import FetcherStarted
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.protocol.types import Batch, TopicPartition
from fetchers.assignment import fetcher_id
from fetchers.failures import CorruptBatch
from fetchers.manager import AbstractFetcherManager, ReplicaAlterLogDirsManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.state import NO_LAG
from fetchers.truncation import Kip279, OnFetch
from tests.fetchers.rig import KINDS, A, B, Replica, Rig, new_log, play, write

BACK_OFF_MS = 1_000


def epochs_asked(rig: Rig) -> list[int]:
    """The epochs of A that the leader was asked about."""
    asked = [each for request in rig.leader.requests(OffsetsForLeaderEpochRequest) for each in request.partitions]
    return [query.leader_epoch for query in asked if query.tp == A]


@KINDS
def test_unknown_leader_epoch_in_truncation(kind: type[AbstractFetcherManager]) -> None:
    """testUnknownLeaderEpochInTruncation: the leader is behind; the follower asks again until it is not."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0)
        rig.leader.leads(A, 0, 0, epoch=0)
        rig.add(A, epoch=1)
        await rig.rest()
        state = rig.thread.states[A]
        assert (state.truncating, rig.replicas[A].log_end_offset, A in rig.manager.failed) == (True, 1, False)
        rig.leader.epochs[A] = 1
        await rig.rest(BACK_OFF_MS)
        assert not state.truncating
        assert rig.equal(A)

    play(scenario, kind=kind)


@KINDS
def test_unknown_leader_epoch_while_fetching(kind: type[AbstractFetcherManager]) -> None:
    """testUnknownLeaderEpochWhileFetching: it stays where it is, and goes on once the leader knows the epoch again."""

    async def scenario(rig: Rig) -> None:
        log = rig.leader.leads(A, 0, epoch=1)
        rig.add(A, epoch=1)
        await rig.rest()
        state = rig.thread.states[A]
        rig.leader.epochs[A] = 0
        write(log, 0)
        await rig.rest(BACK_OFF_MS)
        assert (state.truncating, rig.replicas[A].log_end_offset, A in rig.manager.failed) == (False, 1, False)
        rig.leader.epochs[A] = 1
        await rig.rest(BACK_OFF_MS)
        assert rig.equal(A)

    play(scenario, kind=kind)


@KINDS
def test_truncation_skipped_if_no_epoch_change(kind: type[AbstractFetcherManager]) -> None:
    """testTruncationSkippedIfNoEpochChange: added again under its epoch, at whatever offset, it fetches on."""

    async def scenario(rig: Rig) -> None:
        log = rig.leader.leads(A, 1, 3, epoch=5)
        rig.add(A, epoch=5)
        await rig.rest()
        cuts = list(rig.replicas[A].cuts)
        rig.manager.add_fetcher_for_partitions([InitialFetchState(A, rig.source, 5, 9, rig.replicas[A])])
        write(log, 5)
        await rig.rest(BACK_OFF_MS)
        assert (rig.replicas[A].cuts, rig.thread.states[A].offset) == (cuts, 3)
        assert rig.equal(A)

    play(scenario, kind=kind)


def test_retry_after_unknown_leader_epoch_in_latest_offset_fetch() -> None:
    """testRetryAfterUnknownLeaderEpochInLatestOffsetFetch: a follower that is out of range and gets no answer where the
    leader's log begins and ends tries again."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0)
        log = rig.leader.leads(A, epoch=0)
        log.truncate_fully_and_start_at(2)
        write(log, 4)
        rig.leader.hold = hold = Signal(rig.world)
        rig.add(A)
        await rig.rest()
        hold.set()
        rig.leader.hold = None
        while not rig.leader.requests(ListOffsetsRequest):
            await rig.world.sleep(1)
        rig.leader.errors[A] = Errors.UNKNOWN_LEADER_EPOCH
        await rig.rest()
        assert (rig.thread.states[A].truncating, rig.replicas[A].log_end_offset) == (False, 1)
        del rig.leader.errors[A]
        await rig.rest(BACK_OFF_MS)
        assert (rig.replicas[A].log_start_offset, rig.equal(A)) == (2, True)

    play(scenario)


def test_fetch_leader_epoch_on_first_fetch_only_if_leader_epoch_known_to_both() -> None:
    """ReplicaFetcherThreadTest.shouldFetchLeaderEpochOnFirstFetchOnlyIfLeaderEpochKnownToBoth."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 5, 5)
        log = rig.leader.leads(A, 5, 5, 5, epoch=5)
        rig.add(A, epoch=5)
        await rig.rest()
        for _ in range(3):
            write(log, 5)
            await rig.rest(BACK_OFF_MS)
        assert (epochs_asked(rig), rig.equal(A)) == ([5], True)

    play(scenario)


def test_fetch_leader_epoch_second_time_if_leader_replies_with_epoch_not_known_to_follower() -> None:
    """ReplicaFetcherThreadTest.shouldFetchLeaderEpochSecondTimeIfLeaderRepliesWithEpochNotKnownToFollower: the leader
    answers with epoch 4, of which the follower has nothing; it then asks about 3, its own one before."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 3, 3, 5, 5)
        rig.leader.leads(A, 3, 4, 4, 6, epoch=6)
        rig.add(A, epoch=6)
        await rig.rest()
        assert epochs_asked(rig) == [5, 3]
        assert (rig.replicas[A].cuts, rig.equal(A)) == ([2, 1], True)

    play(scenario)


def test_move_partitions_out_of_truncating_log_state() -> None:
    """ReplicaFetcherThreadTest.shouldMovePartitionsOutOfTruncatingLogState: all at once, after one answer."""

    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.replica(tp, 4)
            rig.leader.leads(tp, 4, epoch=4)
        rig.leader.hold = hold = Signal(rig.world)
        rig.add(A, B, epoch=4)
        await rig.rest()
        assert [state.truncating for state in rig.thread.states.values()] == [True, True]
        hold.set()
        await rig.rest()
        assert [state.truncating for state in rig.thread.states.values()] == [False, False]
        assert len(rig.leader.requests(OffsetsForLeaderEpochRequest)) == 1

    play(scenario)


# -- copies between log directories (ReplicaAlterLogDirsThreadTest) --------------------------------------------------


def test_a_copy_is_truncated_to_the_end_of_the_largest_common_epoch() -> None:
    """shouldTruncateToEndOffsetOfLargestCommonEpoch: two rounds; shouldTruncateToReplicaOffset."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 3, 3, 3, 5)
        rig.leader.leads(A, 3, 3, 4, 4, 6, epoch=6)
        rig.add(A, epoch=6)
        await rig.rest()
        assert rig.replicas[A].cuts == [3, 2]
        assert rig.equal(A)

    play(scenario, kind=ReplicaAlterLogDirsManager)


def test_a_copy_polls_until_the_replica_is_available() -> None:
    """shouldPollIndefinitelyIfReplicaNotAvailable."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 1, 1)
        rig.leader.leads(A, 1, 1, 1, epoch=1)
        rig.leader.errors[A] = Errors.REPLICA_NOT_AVAILABLE
        rig.add(A, epoch=1)
        await rig.rest(3 * BACK_OFF_MS)
        assert (rig.replicas[A].cuts, A in rig.manager.failed) == ([], False)
        del rig.leader.errors[A]
        await rig.rest(BACK_OFF_MS)
        assert rig.equal(A)

    play(scenario, kind=ReplicaAlterLogDirsManager)


@pytest.mark.parametrize("epochs", [[], [4]])
def test_update_leader_epoch_after_fenced_epoch_error(epochs: list[int]) -> None:
    """shouldUpdateLeaderEpochAfterFencedEpochError, shouldReplaceCurrentLogDirWhenCaughtUp: a copy that was fenced
    has failed; added under the new epoch it goes on, and takes the place of the current log."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, *epochs)
        rig.leader.leads(A, *epochs, epoch=5)
        rig.leader.swaps = True
        rig.add(A, epoch=4)
        await rig.rest()
        assert (A in rig.manager.failed, rig.leader.swapped) == (True, [])
        rig.manager.add_fetcher_for_partitions([InitialFetchState(A, rig.source, 5, 0, rig.replicas[A])])
        await rig.rest()
        assert (A in rig.manager.failed, rig.leader.swapped, list(rig.thread.states)) == (False, [A], [])

    play(scenario, kind=ReplicaAlterLogDirsManager)


@KINDS
def test_add_and_remove_partition(kind: type[AbstractFetcherManager]) -> None:
    """AbstractFetcherManagerTest.testAddAndRemovePartition: the thread is started once, and has the partition until it
    is removed."""

    async def scenario(rig: Rig) -> None:
        started = rig.see(FetcherStarted)
        rig.leader.leads(A, *[15] * 10, epoch=15)
        rig.replica(A, *[15] * 10, high_watermark=10)
        rig.add(A, epoch=15)
        assert [(state.offset, state.leader_epoch) for state in rig.thread.states.values()] == [(10, 15)]
        rig.manager.remove_fetcher_for_partitions([A])
        assert A not in rig.thread.states
        assert len(started) == 1

    play(scenario, kind=kind)


@pytest.mark.parametrize(("before", "after"), [(10, 50), (50, 10)])
def test_resize_thread_pool(before: int, after: int) -> None:
    """AbstractFetcherManagerTest.testExpandThreadPool, testShrinkThreadPool: 100 partitions, each with the thread that
    its name and the new number give."""
    tps = [TopicPartition("topic", number) for number in range(100)]

    async def scenario(rig: Rig) -> None:
        for tp in tps:
            rig.leader.leads(tp)
        rig.add(*tps)
        rig.manager.resize_thread_pool(after)
        owners = {tp: number for (_, number), thread in rig.manager.threads.items() for tp in thread.states}
        assert owners == {tp: fetcher_id(tp, after) for tp in tps}

    play(scenario, FetcherPolicies(num_replica_fetchers=before))


@KINDS
def test_corrupt_message(kind: type[AbstractFetcherManager]) -> None:
    """AbstractFetcherThreadTest.testCorruptMessage: the first answer is damaged, the next one is not."""

    async def scenario(rig: Rig) -> None:
        log = rig.leader.leads(A, 0, 0)
        rig.replicas[A] = replica = Checking(new_log())
        replica.log.directory = rig.disk
        log.corrupt(0)
        rig.add(A)
        await rig.rest()
        assert replica.log_end_offset == 0
        rig.leader.logs[A] = write(new_log(), 0, 0)
        await rig.rest(2 * BACK_OFF_MS)
        assert replica.log_end_offset == 2

    play(scenario, kind=kind)


class Checking(Replica):
    """A follower's replica that refuses a damaged batch."""

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        if any(batch.corrupt for batch in batches):
            raise CorruptBatch("crc")
        return super().append_as_follower(batches, leader_high_watermark, leader_log_start)


def test_simple_fetch() -> None:
    """AbstractFetcherThreadTest.testSimpleFetch."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0)
        rig.leader.marks[A] = 2
        rig.add(A)
        await rig.rest()
        assert (rig.replicas[A].log_end_offset, rig.replicas[A].high_watermark) == (2, 2)

    play(scenario)


def test_build_fetch() -> None:
    """ReplicaFetcherThreadTest.testBuildFetch (but for topic ids, limits.md): the first request of a session names all
    partitions, the next one what has changed, and what is gone."""
    tps = [TopicPartition("t", number) for number in range(3)]

    async def scenario(rig: Rig) -> None:
        for number, tp in enumerate(tps):
            rig.leader.leads(tp, *[1] * (2 + number), epoch=1)
            rig.replica(tp, *[1] * (2 + number), high_watermark=2 + number)
        rig.add(*tps, epoch=1)
        await rig.rest()
        first, *_ = rig.leader.requests(FetchRequest)
        assert {each.tp: (each.leader_epoch, each.fetch_offset) for each in first.partitions} == {
            tp: (1, 2 + number) for number, tp in enumerate(tps)
        }
        assert first.forgotten == ()
        rig.manager.remove_fetcher_for_partitions([tps[0]])
        write(rig.leader.logs[tps[2]], 1)
        await rig.rest(600)
        later = rig.leader.requests(FetchRequest)[1:]
        assert {tp for request in later for tp in request.forgotten} == {tps[0]}
        assert {each.tp for request in later for each in request.partitions} <= {tps[2]}

    play(scenario)


def test_partitions_in_error() -> None:
    """AbstractFetcherThreadTest.testPartitionsInError (3.3.2): only the partitions with errors wait."""
    tps = [TopicPartition(f"topic{number}", 0) for number in (1, 2, 3)]

    async def scenario(rig: Rig) -> None:
        for tp in tps:
            rig.leader.leads(tp, 0)
        rig.leader.fetch_errors = {tps[0]: Errors.UNKNOWN_TOPIC_ID, tps[1]: Errors.INCONSISTENT_TOPIC_ID}
        rig.add(*tps)
        await rig.rest()
        assert [rig.thread.states[tp].delayed_until_us > 0 for tp in tps] == [True, True, False]
        assert rig.equal(tps[2])

    play(scenario)


def test_lag_is_updated_when_no_records() -> None:
    """ReplicaFetcherThreadTest.testLagIsUpdatedWhenNoRecords (3.9): it is not known before the first answer, and 0
    after one without records."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A)
        rig.add(A)
        assert rig.thread.states[A].lag == NO_LAG
        await rig.rest(600)
        assert rig.rounds.thread.states[A].lag == 0

    play(scenario)


def test_truncate_to_epoch_end_offsets_during_remove_partitions() -> None:
    """AbstractFetcherThreadTest.testTruncateToEpochEndOffsetsDuringRemovePartitions: a partition is removed while the
    leader is asked for the end of its epoch; the answer does nothing, and the thread goes on."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        replica = rig.replica(A, 0, 0)
        rig.leader.hold = Signal(rig.world)
        rig.add(A, B)
        await rig.rest(10)
        rig.manager.remove_fetcher_for_partitions([A])
        rig.leader.hold.set()
        rig.leader.hold = None
        await rig.rest()
        assert (A in rig.thread.states, replica.cuts) == (False, [])
        assert rig.equal(B)

    play(scenario, FetcherPolicies(truncation=Kip279()))


def test_an_exception_while_epochs_are_asked_for() -> None:
    """ReplicaFetcherThreadTest.shouldHandleExceptionFromBlockingSend: no epoch is known then; it is asked again."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0)
        rig.replica(A, 0)
        rig.leader.down = True
        rig.add(A)
        await rig.rest(BACK_OFF_MS)
        assert rig.replicas[A].cuts == []
        rig.leader.down = False
        await rig.rest(2 * BACK_OFF_MS)
        assert rig.equal(A)

    play(scenario, FetcherPolicies(truncation=Kip279()))


def test_issues_epoch_request_from_local_replica() -> None:
    """ReplicaAlterLogDirsThreadTest.issuesEpochRequestFromLocalReplica: of two partitions, each cut where the current
    log's epoch ends."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, *[2] * 3, epoch=2)
        rig.leader.leads(B, *[5] * 4, epoch=5)
        rig.replica(A, *[2] * 5)
        rig.replica(B, *[5] * 6)
        rig.add(A, epoch=2)
        rig.add(B, epoch=5)
        await rig.rest()
        assert [rig.replicas[tp].cuts[:1] for tp in (A, B)] == [[3], [4]]

    play(scenario, FetcherPolicies(truncation=Kip279()), kind=ReplicaAlterLogDirsManager)


def test_truncate_to_high_watermark_if_leader_epoch_info_not_available() -> None:
    """AbstractFetcherThreadTest.testTruncateToHighWatermarkIfLeaderEpochInfoNotAvailable: a log without epochs is cut
    at its high watermark, and fetched from there."""

    async def scenario(rig: Rig) -> None:
        replica = rig.replica(A, 0, 2, 4, high_watermark=2)
        replica.log.epochs = NO_EPOCHS
        rig.leader.leads(A, 0, 2, epoch=5)
        rig.add(A, epoch=5)
        await rig.rest()
        state = rig.thread.states[A]
        assert (replica.cuts[:1], replica.log_end_offset, state.offset, state.truncating) == ([2], 2, 2, False)

    play(scenario, FetcherPolicies(truncation=Kip279()))


def test_leader_epoch_change_during_successful_fetch_epochs_from_leader() -> None:
    """AbstractFetcherThreadTest.testLeaderEpochChangeDuringSuccessfulFetchEpochsFromLeader: the answer to a question
    under an epoch that is over meanwhile does nothing; the next one does."""

    async def scenario(rig: Rig) -> None:
        replica = rig.replica(A, 0, 0, 0)
        log = rig.leader.leads(A, 0, epoch=0)
        rig.leader.hold = Signal(rig.world)
        rig.add(A)
        await rig.rest(10)
        rig.manager.add_fetcher_for_partitions([InitialFetchState(A, rig.source, 1, 0, replica)])
        rig.leader.hold.set()
        rig.leader.hold = None
        await rig.rest(10)
        assert (replica.cuts, rig.thread.states[A].truncating) == ([], True)
        write(log, 1)
        rig.leader.epochs[A] = 1
        await rig.rest(2 * BACK_OFF_MS)
        assert rig.equal(A)

    play(scenario, FetcherPolicies(truncation=Kip279()))


def test_should_filter_partitions_made_leader_during_leader_epoch_request() -> None:
    """ReplicaFetcherThreadTest.shouldFilterPartitionsMadeLeaderDuringLeaderEpochRequest: of two partitions one is led
    here before the answer comes; the other alone is cut."""

    async def scenario(rig: Rig) -> None:
        for tp, kept in ((A, 3), (B, 1)):
            rig.replica(tp, *[5] * 4)
            rig.leader.leads(tp, *[5] * kept, epoch=5)
        rig.leader.hold = Signal(rig.world)
        rig.add(A, B, epoch=5)
        await rig.rest(10)
        rig.manager.remove_fetcher_for_partitions([A])
        rig.leader.hold.set()
        rig.leader.hold = None
        await rig.rest()
        assert (rig.replicas[A].cuts, rig.replicas[B].cuts) == ([], [1])

    play(scenario, FetcherPolicies(truncation=Kip279()))


def test_diverging_epochs() -> None:
    """AbstractFetcherThreadTest.testDivergingEpochs, ReplicaFetcherThreadTest
    .shouldNotFetchLeaderEpochOnFirstFetchWithTruncateOnFetch: answers to fetches take the follower to where the logs
    part, and no question is asked."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 2, 4)
        rig.leader.leads(A, 0, 2, 5, epoch=5)
        rig.add(A, epoch=5)
        await rig.rest(2 * BACK_OFF_MS)
        named = [each.last_fetched_epoch for one in rig.leader.requests(FetchRequest) for each in one.partitions]
        assert (list(dict.fromkeys(named)), rig.equal(A)) == ([4, 2, 5], True)
        assert epochs_asked(rig) == []

    play(scenario, FetcherPolicies(truncation=OnFetch()))
