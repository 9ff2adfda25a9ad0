"""Failures of a partition, or of its thread, and what follows: kafka-behaviour §8.4, row by row, and the rules
before KIP-461. Both kinds of fetcher have the same."""

from collections.abc import Callable
from typing import Any

import pytest

from brokers.log.leader_epoch_cache import NO_EPOCHS
from brokers.log.log import OffsetMismatch
from emulator.disks import DiskError
from emulator.protocol.errors import Errors
from emulator.protocol.events import FetcherStarted, FetcherStopped
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.protocol.shown import FetchMisanswered
from emulator.protocol.types import Batch, TopicPartition
from fetchers.failures import KIP_461, STORAGE_TOLERATED, THREAD_DIES, CorruptBatch, FailureRule, StorageError, Verdict
from fetchers.manager import AbstractFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.truncation import Kip101, Kip279, TruncationRule
from tests.fetchers.rig import KINDS, LATENCY_US, A, B, Replica, Rig, play, write

C, D = TopicPartition("t", 2), TopicPartition("t", 3)
BEFORE = FetcherPolicies(failures=STORAGE_TOLERATED)


class Broken(Replica):
    """A replica whose log fails with ``error`` in ``doing``, until ``doing`` is emptied."""

    error: Exception
    doing: str

    def break_in(self, doing: str, error: Exception) -> None:
        self.doing, self.error = doing, error

    def check(self, doing: str) -> None:
        if doing == self.doing:
            raise self.error

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        self.check("append")
        return super().append_as_follower(batches, leader_high_watermark)

    def truncate_to(self, offset: int) -> None:
        self.check("truncation")
        super().truncate_to(offset)

    @property
    def latest_epoch(self) -> int:
        self.check("lookup")
        return super().latest_epoch


async def broken(rig: Rig, doing: str, error: Exception) -> Broken:
    """A is broken and B is not. A copy goes on until it is done: there B's turn comes only if A gives its own up."""
    for tp in (A, B):
        rig.leader.leads(tp, 0)
    replica = Broken(rig.replica(A).log)
    replica.break_in(doing, error)
    rig.replicas[A] = replica
    rig.add(A, B)
    await rig.rest()
    return replica


async def goes_on(rig: Rig, tp: TopicPartition) -> bool:
    """Whether ``tp`` still has what its leader writes."""
    write(rig.leader.logs[tp], 0)
    await rig.rest(600)
    return rig.equal(tp)


ERRORS: list[Exception] = [DiskError("I/O"), StorageError("offline"), OffsetMismatch("gap"), RuntimeError("gone")]


@KINDS
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("doing", ["append", "truncation"])
def test_any_error_while_truncating_or_appending_fails_the_partition(
    kind: type[AbstractFetcherManager], doing: str, error: Exception
) -> None:
    async def scenario(rig: Rig) -> None:
        failed = rig.see(rig.manager.records.failed)
        await broken(rig, doing, error)
        name = type(error).__name__
        assert [(event.partition, event.reason, event.error) for event in failed] == [(0, f"{doing}: {error}", name)]
        assert (A in rig.manager.failed, list(rig.thread.states)) == (True, [B])
        assert await goes_on(rig, B)
        assert rig.dead_threads == rig.manager.metrics.dead.value == 0

    play(scenario, kind=kind)


@KINDS
def test_a_damaged_batch_delays(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        replica = await broken(rig, "append", CorruptBatch("crc"))
        assert len(rig.manager.failed) == 0
        assert rig.thread.states[A].delayed_until_us > 0
        assert await goes_on(rig, B)
        rig.leader.swaps = True  # a copy goes on until it is done
        replica.break_in("", CorruptBatch())
        await rig.rest(1_100)
        assert rig.equal(A)

    play(scenario, kind=kind)


@KINDS
@pytest.mark.parametrize("failing", ["answer", "cut"])
def test_an_out_of_range_read_that_cannot_be_handled_delays(kind: type[AbstractFetcherManager], failing: str) -> None:
    async def scenario(rig: Rig) -> None:
        replica = Broken(rig.replica(A, 0, 0).log, 2)
        rig.replicas[A] = replica
        replica.break_in("", DiskError("I/O"))
        replica.log.epochs = NO_EPOCHS
        rig.leader.leads(A, 0)
        rig.leader.swaps = True
        if failing == "answer":
            rig.leader.fetch_errors[A] = Errors.OFFSET_OUT_OF_RANGE
            rig.leader.errors[A] = Errors.NOT_LEADER_FOR_PARTITION
        rig.trace.fold(rig.manager.records.position, lambda _: replica.break_in("truncation", DiskError("I/O")))
        rig.add(A)
        await rig.rest()
        assert len(rig.manager.failed) == 0
        assert rig.thread.states[A].delayed_until_us > 0
        replica.break_in("", DiskError())
        rig.leader.fetch_errors.clear()
        rig.leader.errors.clear()
        await rig.rest(1_100)
        assert rig.equal(A)

    play(scenario, kind=kind)


# -- the thread dies -----------------------------------------------------------------------------------------------


@KINDS
def test_an_epoch_that_cannot_be_looked_up_ends_the_thread(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        stopped = rig.see(FetcherStopped)
        await broken(rig, "lookup", RuntimeError("no replica"))
        assert [event[-4:] for event in stopped] == [("died", *A, "RuntimeError")]
        assert (rig.dead_threads, len(rig.manager.failed)) == (1, 0)
        assert not await goes_on(rig, B)

    play(scenario, kind=kind)


def test_an_epoch_answer_for_what_was_not_asked_ends_the_thread() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0)
        rig.leader.leads(A, 0)
        rig.leader.mistakes[A] = B
        rig.add(A)
        await rig.rest()
        assert rig.leader.requests(OffsetsForLeaderEpochRequest)
        assert rig.dead_threads == rig.manager.metrics.dead.value == 1

    play(scenario)


@pytest.mark.parametrize(("truncation", "cuts"), [(Kip279(), ([], [])), (Kip101(), ([1], [0]))])
def test_a_thread_that_an_answer_ends_has_truncated_nothing(
    truncation: TruncationRule, cuts: tuple[list[int], list[int]]
) -> None:
    """All answers are looked at before the first log is truncated, and logs without epochs come last
    (AbstractFetcherThread.truncateToEpochEndOffsets, 2.3.1). Up to 2.1.0 such an answer was left out."""

    async def scenario(rig: Rig) -> None:
        longer, empty = rig.replica(A, 0, 0), rig.replica(C)
        rig.replica(B, 0)
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.leader.leads(C)
        rig.leader.mistakes[B] = D
        rig.add(A, B, C)
        await rig.rest()
        assert rig.thread.dead is not truncation.takes_late_answers
        assert (longer.cuts, empty.cuts) == cuts

    play(scenario, FetcherPolicies(truncation=truncation))


@KINDS
def test_a_dead_thread_stays_and_never_fetches_what_it_is_given(kind: type[AbstractFetcherManager]) -> None:
    """DeadThreadCount counts it (KAFKA-7981). A sweep that finds it without partitions makes room for another."""

    async def scenario(rig: Rig) -> None:
        started, stopped = rig.see(FetcherStarted), rig.see(FetcherStopped)
        replica = await broken(rig, "lookup", RuntimeError("no replica"))
        replica.break_in("", RuntimeError())
        rig.manager.remove_fetcher_for_partitions([B])
        rig.leader.epochs[B] = 1
        rig.add(B, epoch=1)
        rig.manager.shutdown_idle_fetcher_threads()
        assert (rig.dead_threads, len(started)) == (1, 1)
        await rig.rest(5_000)
        assert not rig.equal(B)
        rig.manager.remove_fetcher_for_partitions([A, B])
        rig.manager.shutdown_idle_fetcher_threads()
        assert rig.dead_threads == rig.manager.metrics.dead.value == 0
        rig.add(B, epoch=1)
        await rig.rest()
        assert rig.equal(B)
        assert (len(started), [event.reason for event in stopped]) == (2, ["died"])

    play(scenario, kind=kind)


# -- before KIP-461 ------------------------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("error", [OffsetMismatch("gap"), RuntimeError("gone")], ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("doing", ["append", "truncation"])
def test_kafka_8346_an_unexpected_error_ended_the_thread_silently(
    kind: type[AbstractFetcherManager], doing: str, error: Exception
) -> None:
    async def scenario(rig: Rig) -> None:
        failed = rig.see(rig.manager.records.failed)
        await broken(rig, doing, error)
        assert (rig.dead_threads, len(rig.manager.failed), failed) == (1, 0, [])
        assert list(rig.thread.states) == [A, B]
        assert not await goes_on(rig, B)

    play(scenario, BEFORE, kind)


@KINDS
@pytest.mark.parametrize("doing", ["append", "truncation"])
def test_before_kip_461_a_storage_error_delayed(kind: type[AbstractFetcherManager], doing: str) -> None:
    async def scenario(rig: Rig) -> None:
        await broken(rig, doing, StorageError("offline"))
        assert (rig.dead_threads, len(rig.manager.failed)) == (0, 0)
        assert rig.thread.states[A].delayed_until_us > 0
        assert await goes_on(rig, B)

    play(scenario, BEFORE, kind)


def test_before_kip_112_a_storage_error_halted_the_broker() -> None:
    async def scenario(rig: Rig) -> None:
        await broken(rig, "append", DiskError("I/O"))
        assert not rig.process.alive
        assert rig.replicas[B].log_end_offset == 0, "nothing goes on in a broker that has halted"

    play(scenario, FetcherPolicies(failures=THREAD_DIES))


def test_a_partition_that_is_removed_while_another_ones_error_is_handled_is_passed_over() -> None:
    """Not taken for one that the fetch session does not have."""

    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, 0)
        rig.add(A, B)
        await rig.rest()
        misanswered = rig.see(FetchMisanswered)
        rig.leader.fetch_errors[A] = Errors.OFFSET_OUT_OF_RANGE
        write(rig.leader.logs[B], 0)
        while not rig.leader.requests(ListOffsetsRequest):
            await rig.world.sleep(LATENCY_US // 2)
        rig.manager.remove_fetcher_for_partitions([B])
        await rig.rest()
        assert misanswered == []
        assert rig.replicas[B].log_end_offset == 1

    play(scenario)


@pytest.mark.parametrize(
    ("rule", "verdicts"),
    [
        (KIP_461, [Verdict.FAIL, Verdict.FAIL, Verdict.DELAY]),
        (STORAGE_TOLERATED, [Verdict.DELAY, Verdict.DIE, Verdict.DELAY]),
        (THREAD_DIES, [Verdict.HALT, Verdict.DIE, Verdict.DELAY]),
    ],
)
def test_the_rules(rule: FailureRule, verdicts: list[Verdict]) -> None:
    assert [rule.judge(error) for error in (DiskError(), KeyError(), CorruptBatch())] == verdicts


def _fenced(rig: Rig) -> None:
    rig.leader.leads(A, 0, epoch=1)


def _failed(rig: Rig) -> None:
    rig.leader.leads(A, 0)
    replica = Broken(rig.replica(A).log)
    replica.break_in("truncation", RuntimeError("gone"))
    rig.replicas[A] = replica


@KINDS
@pytest.mark.parametrize("cause", [_fenced, _failed])
def test_the_same_epoch_again_does_not_bring_it_back_by_itself(
    kind: type[AbstractFetcherManager], cause: Callable[[Rig], Any]
) -> None:
    """A LeaderAndIsr with an equal epoch never reaches the fetchers: only one with a higher epoch does."""

    async def scenario(rig: Rig) -> None:
        cause(rig)
        rig.add(A)
        await rig.rest(10_000)
        assert A in rig.manager.failed
        rig.manager.shutdown_idle_fetcher_threads()
        assert A in rig.manager.failed
        rig.manager.add_fetcher_for_partitions([InitialFetchState(B, rig.source, 0, 0, rig.replica(B))])
        assert A in rig.manager.failed

    play(scenario, kind=kind)
