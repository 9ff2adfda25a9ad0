"""Truncation on fetch (KIP-595): a thread that asks no questions; answers to fetches say where the logs diverge."""

from brokers.log.leader_epoch_cache import NO_EPOCHS
from emulator.disks import DiskFault
from emulator.protocol.events import FetchPosition
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, OffsetsForLeaderEpochRequest
from fetchers.manager import AbstractFetcherManager, ReplicaAlterLogDirsManager
from fetchers.policies import FetcherPolicies
from fetchers.truncation import Kip101, OnFetch
from tests.fetchers.rig import KINDS, A, B, Rig, play

ON_FETCH = FetcherPolicies(truncation=OnFetch())


def test_a_new_partition_is_fetched_at_once_from_its_end_on() -> None:
    async def scenario(rig: Rig) -> None:
        positions = rig.see(rig.manager.records.position)
        rig.replica(A, 0, 0, high_watermark=1)
        rig.leader.leads(A, 0, 0, 0)
        rig.add(A)
        assert not rig.thread.states[A].truncating
        await rig.rest()
        assert rig.equal(A)
        assert [event.offset for event in positions] == [2]
        assert not rig.leader.requests(OffsetsForLeaderEpochRequest)

    play(scenario, ON_FETCH)


@KINDS
def test_the_logs_part_several_epochs_ago(kind: type[AbstractFetcherManager]) -> None:
    """C89's logs: each answer takes the follower back by an epoch. Copies ask about epochs as before (2.8)."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 2, 4)
        rig.leader.leads(A, 1, 3, 5, epoch=5)
        rig.add(A, epoch=5)
        assert rig.thread.states[A].truncating == (kind is ReplicaAlterLogDirsManager)
        await rig.rest(100)
        assert rig.replicas[A].cuts == [2, 1, 0]
        assert rig.equal(A)
        assert not rig.leader.requests(OffsetsForLeaderEpochRequest)

    play(scenario, ON_FETCH, kind)


def test_fetches_name_the_epoch_of_what_was_fetched_last() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0)
        rig.leader.leads(A, 0, 1, epoch=1)
        rig.add(A, epoch=1)
        await rig.rest()
        named = [wanted for request in rig.leader.requests(FetchRequest) for wanted in request.partitions]
        assert [(wanted.fetch_offset, wanted.last_fetched_epoch) for wanted in named] == [(1, 0), (2, 1)]

    play(scenario, ON_FETCH)


def test_a_log_without_epochs_is_cut_at_its_high_watermark_first() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 0, high_watermark=1).log.epochs = NO_EPOCHS
        rig.leader.leads(A, 0, 0)
        rig.add(A)
        assert rig.thread.states[A].truncating
        await rig.rest()
        assert rig.replicas[A].cuts == [1]
        assert rig.equal(A)

    play(scenario, ON_FETCH)


def test_an_epoch_that_the_leader_cannot_place_is_out_of_range() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 4)
        rig.leader.leads(A, 0, epoch=5)
        rig.add(A, epoch=5)
        await rig.rest()
        assert rig.leader.requests(ListOffsetsRequest)
        assert rig.equal(A)

    play(scenario, ON_FETCH)


def test_a_cut_that_fails_fails_the_partition() -> None:
    async def scenario(rig: Rig) -> None:
        positions = rig.see(FetchPosition)
        rig.replica(A, 0, 2).log.fail_disk(DiskFault("I/O error", ("truncate",)))
        rig.leader.leads(A, 0, 1, 3, epoch=3)
        rig.leader.leads(B, 0)
        rig.add(A, epoch=3)
        rig.add(B)
        await rig.rest()
        assert A in rig.manager.failed
        assert [event.offset for event in positions if event.partition == 0] == [2, -1]
        assert rig.equal(B)

    play(scenario, ON_FETCH)


@KINDS
def test_kafka_9654_a_fetch_fenced_for_an_epoch_that_has_passed_fails_nothing(
    kind: type[AbstractFetcherManager],
) -> None:
    """2.5 looks whether the request's epoch is still the partition's; here a new epoch makes earlier answers void."""

    async def scenario(rig: Rig) -> None:
        failed = rig.see(rig.manager.records.failed)
        rig.replica(A, 0, 2).log.epochs = NO_EPOCHS  # it asks nothing before it fetches
        rig.leader.leads(A, 0, 1, 3, epoch=4)
        rig.add(A, epoch=3)
        await rig.world.sleep(1_000)  # the fetch is on its way
        rig.add(A, epoch=4)
        await rig.rest()
        assert rig.equal(A)
        assert not failed

    play(scenario, ON_FETCH, kind)


def test_until_2_1_an_answer_counted_whatever_epoch_it_was_asked_under() -> None:
    """KIP-320 compares; 1.1 only looked whether the partition was still there (AbstractFetcherThread)."""
    for policies, cuts in ((FetcherPolicies(truncation=Kip101()), [1]), (FetcherPolicies(), [])):

        async def scenario(rig: Rig, cuts: list[int] = cuts) -> None:
            rig.replica(A, 0, 0, 0)
            rig.leader.leads(A, 0)
            rig.add(A)
            await rig.world.sleep(1_000)  # the question is on its way
            rig.add(A, epoch=1)
            await rig.world.sleep(1_001)
            assert rig.replicas[A].cuts == cuts

        play(scenario, policies)
