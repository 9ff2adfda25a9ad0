"""Where a follower cuts its log under a new leader (kafka-behaviour §8.3; KIP-279)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brokers.log.directory import LogDirectory
from brokers.log.leader_epoch_cache import NO_EPOCHS
from brokers.log.log import Log
from emulator.disks import Disk, DiskError
from emulator.kernel import Signal
from emulator.protocol.errors import Errors
from emulator.protocol.events import FetchPosition, PartitionFailed
from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset, OffsetsForLeaderEpochRequest
from fetchers.manager import AbstractFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.truncation import Cut, Kip101, Kip279, OnFetch, TruncationRule
from tests.fetchers.rig import KINDS, LATENCY_US, MS, A, B, Replica, Rig, play, write


def answer(epoch: int, offset: int) -> EpochEndOffset:
    return EpochEndOffset(A, Errors.NONE, epoch, offset)


def replica(*epochs: int) -> Replica:
    return Replica(write(Log(LogDirectory(Disk()), A), *epochs))


@pytest.mark.parametrize(
    ("epochs", "answered", "cut"),
    [
        # C99: LEO 200, all under epoch 5: the leader's offset, or our own end
        ([5] * 200, (5, 156), Cut(156, True)),
        ([5] * 200, (5, 172), Cut(172, True)),
        ([4] * 200, (4, 156), Cut(156, True)),
        ([4] * 200, (4, 202), Cut(200, True)),
        # C101: an old leader names no epoch; an undefined offset leaves the high watermark
        ([5] * 200, (-1, 155), Cut(155, True)),
        ([5] * 200, (-1, 300), Cut(200, True)),
        ([5] * 200, (-1, -1), Cut(120, True)),
        # our epoch ends earlier than the leader's
        ([3] * 10 + [4] * 10, (3, 15), Cut(10, True)),
        # an epoch we do not know: the end of the one before it, and ask again
        ([2] * 10 + [5] * 10, (4, 15), Cut(10, False)),
        # all of ours are newer: such an epoch ends where ours begin
        ([5] * 20, (3, 8), Cut(0, True)),
        # we know of no epoch
        ([], (3, 8), Cut(0, True)),
    ],
)
def test_C99_C101_the_cut_for_an_answer(epochs: list[int], answered: tuple[int, int], cut: Cut) -> None:
    assert Kip279().cut(replica(*epochs), answer(*answered), 120) == cut


@pytest.mark.parametrize(("offset", "cut"), [(155, 155), (300, 200), (-1, 120)])
def test_C101_an_old_follower_uses_the_offset_alone(offset: int, cut: int) -> None:
    """Inter-broker protocol 0.11 (KIP-101): 155 at once, no further than its end, its high watermark if undefined."""
    for epoch in (-1, 3, 5):
        assert Kip101().cut(replica(*[5] * 200), answer(epoch, offset), 120) == Cut(cut, True)


@pytest.mark.parametrize(("offset", "cut"), [(156, 156), (202, 200)])
def test_C99_a_follower_that_has_no_more_epochs_uses_the_offset(offset: int, cut: int) -> None:
    """ReplicaFetcherThreadTest.shouldTruncateToOffsetSpecifiedInEpochOffsetResponseIfFollowerHasNoMoreEpochs."""
    follower = replica(*[5] * 200)
    follower.log.epochs = NO_EPOCHS
    assert Kip279().cut(follower, answer(4, offset), 120) == Cut(cut, True)


def test_a_high_watermark_beyond_the_end_cuts_nothing() -> None:
    assert Kip279().cut(replica(1, 1), answer(-1, -1), 9) == Cut(2, True)


@KINDS
@pytest.mark.parametrize("question", ["epoch request", "fetch", "list offsets"])
def test_C87_fenced(kind: type[AbstractFetcherManager], question: str) -> None:
    """The leader is at a later epoch than the follower: the partition leaves its thread, and its log is as it was."""

    async def scenario(rig: Rig) -> None:
        failed = rig.see(rig.manager.records.failed)
        replica = rig.replica(A, 0, 0, high_watermark=2)
        rig.leader.leads(A, 0, 0, 0, epoch=1)
        if question != "epoch request":
            replica.log.epochs = NO_EPOCHS  # it asks nothing before it fetches
        if question == "list offsets":
            rig.leader.fetch_errors[A] = Errors.OFFSET_OUT_OF_RANGE
        rig.add(A)
        await rig.rest()
        assert (list(rig.thread.states), A in rig.manager.failed) == ([], True)
        assert replica.log_end_offset == 2
        assert [event.reason for event in failed] == ["FENCED_LEADER_EPOCH"]

    play(scenario, kind=kind)


def test_C89_asks_again_until_both_agree_and_ends_with_the_leaders_log() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 2, 4)
        rig.leader.leads(A, 1, 3, 5, epoch=5)
        rig.add(A, epoch=5)
        await rig.rest()
        asked = [request.partitions[0].leader_epoch for request in rig.leader.requests(OffsetsForLeaderEpochRequest)]
        assert asked == [4, 2, 0]
        assert rig.replicas[A].cuts == [2, 1, 0]
        assert rig.equal(A)

    play(scenario)


def test_a_log_without_epochs_is_cut_at_the_high_watermark_without_a_question() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 1, 1, 1, high_watermark=1).log.epochs = NO_EPOCHS
        rig.leader.leads(A, 1, 1, 1, 1)
        rig.add(A)
        await rig.rest()
        assert not rig.leader.requests(OffsetsForLeaderEpochRequest)
        assert rig.replicas[A].cuts == [1]
        assert rig.equal(A)

    play(scenario)


def test_an_undefined_answer_in_a_later_round_leaves_what_the_earlier_one_cut() -> None:
    """2.3 falls back to the fetch offset, which is the high watermark only until the first cut."""

    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 0, 0, 5, 5, high_watermark=1)
        log = rig.leader.leads(A, 0, 0, 0, 3, 6, epoch=6)
        rig.leader.hold = Signal(rig.world)
        rig.add(A, epoch=6)
        await rig.rest()
        rig.leader.hold.set()
        rig.leader.hold = None
        await rig.world.sleep(LATENCY_US // 2)
        log.epochs = NO_EPOCHS
        await rig.rest()
        assert rig.replicas[A].cuts[0] == 3
        assert 1 not in rig.replicas[A].cuts

    play(scenario)


def test_C101_errors_are_asked_again_for_ever() -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, 0, 0)
        rig.leader.leads(A, 0, 0)
        rig.leader.errors[A] = Errors.NOT_LEADER_FOR_PARTITION
        rig.add(A)
        await rig.rest(30_500)
        questions = len(rig.leader.requests(OffsetsForLeaderEpochRequest))
        assert 29 <= questions <= 31  # a back-off of a second each
        del rig.leader.errors[A]
        await rig.rest(1_100)
        assert rig.equal(A)

    play(scenario)


@pytest.mark.parametrize("answered", [Errors.NONE, Errors.FENCED_LEADER_EPOCH])
def test_C95_an_answer_for_an_epoch_that_has_passed_is_ignored(answered: Errors) -> None:
    async def scenario(rig: Rig) -> None:
        failures = rig.see(PartitionFailed)
        rig.replica(A, 0, 0, 0)
        rig.leader.leads(A, 0, 1, epoch=0)
        rig.leader.hold = hold = Signal(rig.world)
        if answered:
            rig.leader.errors[A] = answered
        rig.add(A, epoch=0)
        await rig.rest()
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        hold.set()
        await rig.world.sleep(0)
        rig.leader.hold = Signal(rig.world)
        rig.leader.errors.clear()
        await rig.rest()
        state = rig.thread.states[A]
        assert (state.leader_epoch, state.truncating, rig.replicas[A].cuts, failures) == (1, True, [], [])
        rig.leader.hold.set()
        await rig.rest()
        assert rig.equal(A)

    play(scenario)


def test_C91_a_partition_removed_before_it_is_cut_at_its_high_watermark_is_not() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.replica(tp, 0, 0, 0, high_watermark=1).log.epochs = NO_EPOCHS
            rig.leader.leads(tp, 0)
        rig.add(A, B)
        rig.manager.remove_fetcher_for_partitions([A])
        await rig.rest()
        assert (rig.replicas[A].cuts, rig.replicas[B].cuts) == ([], [1])
        assert list(rig.thread.states) == [B]

    play(scenario)


def test_C91_a_partition_removed_meanwhile_is_not_cut() -> None:
    async def scenario(rig: Rig) -> None:
        positions = rig.see(FetchPosition)
        rig.replica(A, 0, 0, 0)
        rig.replica(B, 0, 0, 0)
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        rig.leader.hold = Signal(rig.world)
        rig.add(A, B)
        await rig.rest()
        rig.manager.remove_fetcher_for_partitions([A])
        rig.leader.hold.set()
        await rig.rest()
        assert (rig.replicas[A].cuts, rig.replicas[B].cuts) == ([], [1])
        assert list(rig.thread.states) == [B]
        assert {position.partition for position in positions} == {1}

    play(scenario)


@pytest.mark.parametrize(
    ("leader_start", "leader_epochs", "cuts"),
    [
        (0, [], [0]),  # high: the leader's log is empty
        (2, [0], [2]),  # low: it begins beyond our end
    ],
)
def test_C93_a_fetch_out_of_range_goes_to_the_leaders_end_or_start(
    leader_start: int, leader_epochs: list[int], cuts: list[int]
) -> None:
    async def scenario(rig: Rig) -> None:
        rig.replica(A, 0, high_watermark=1).log.epochs = NO_EPOCHS
        log = rig.leader.leads(A)
        log.start_offset = log.end_offset = leader_start
        write(log, *leader_epochs)
        rig.add(A)
        await rig.rest()
        assert rig.replicas[A].cuts[1:] == cuts
        assert rig.replicas[A].log_start_offset == leader_start
        assert rig.equal(A)

    play(scenario)


def test_C103_a_follower_knows_an_epoch_from_its_first_record_on() -> None:
    """Write, let the follower be added again, write, change the leader, write: an entry for each, with the record."""

    async def scenario(rig: Rig) -> None:
        log = rig.leader.leads(A)
        known = []
        for epoch in range(3):
            rig.leader.epochs[A] = epoch
            rig.add(A, epoch=epoch)
            await rig.rest()
            known.append(rig.replicas[A].log.epochs.entries)
            write(log, epoch)
            await rig.rest()
            assert rig.replicas[A].log.epochs.entries == log.epochs.entries
        assert known == [(), ((0, 0),), ((0, 0), (1, 1))]
        assert log.epochs.entries == ((0, 0), (1, 1), (2, 2))

    play(scenario)


class SecondCutFails(Replica):
    """The disk refuses the second truncation: the first comes before any fetch, and would fail the partition."""

    def truncate_to(self, offset: int) -> None:
        if len(self.cuts) == 1:
            self.cuts.append(-1)
            raise DiskError("I/O error")
        super().truncate_to(offset)


def test_an_out_of_range_read_whose_cut_fails_is_tried_again() -> None:
    async def scenario(rig: Rig) -> None:
        failures = rig.see(PartitionFailed)
        log = rig.replica(A, 0, 0, high_watermark=2).log
        log.epochs = NO_EPOCHS
        rig.replicas[A] = SecondCutFails(log, 2)
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest(500)
        assert rig.thread.states[A].delayed_until_us > 0
        await rig.rest(1_000)
        assert rig.replicas[A].cuts == [2, -1, 1]
        assert rig.equal(A)
        assert not failures

    play(scenario)


HISTORY = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3), st.integers(0, 3)), min_size=1, max_size=8)
"""Terms of two brokers: which leads, how many records it writes, how many of them the other gets."""


@pytest.mark.parametrize("rule", [Kip279(), OnFetch()], ids=lambda rule: type(rule).__name__)
@given(terms=HISTORY, last=st.integers(0, 1))
def test_logs_of_any_history_of_leaders_agree_in_the_end(
    rule: TruncationRule, terms: list[tuple[int, int, int]], last: int
) -> None:
    """Without a high watermark to keep (all at 0), the log of the last leader is copied exactly."""

    async def scenario(rig: Rig) -> None:
        logs = [Log(LogDirectory(Disk()), A), Log(LogDirectory(Disk()), A)]
        for epoch, (leader, records, copied) in enumerate(terms):
            mine, other = logs[leader], logs[1 - leader]
            shared = 0
            while shared < min(mine.end_offset, other.end_offset) and mine.batches[shared] is other.batches[shared]:
                shared += 1
            mine.begin_epoch(epoch, mine.end_offset)
            for _ in range(records):
                write(mine, epoch)
            if copied:
                other.truncate_to(shared)
                for batch in mine.batches[shared : shared + copied]:
                    other.append(batch)
        epoch = len(terms)
        leading = rig.leader.logs[A] = logs[last]
        leading.begin_epoch(epoch, leading.end_offset)
        rig.leader.epochs[A] = epoch
        rig.replicas[A] = Replica(logs[1 - last])
        rig.add(A, epoch=epoch)
        await rig.rest(500)
        assert rig.equal(A)
        assert write(leading, epoch)
        await rig.world.sleep(600 * MS)
        assert rig.equal(A)

    play(scenario, FetcherPolicies(truncation=rule))
