"""Copies between log directories: one partition at a time, until each takes the current log's place (KIP-113; Kafka's
ReplicaAlterLogDirsThread and ReplicaAlterLogDirsManager, 2.3)."""

from collections.abc import Awaitable, Callable

from emulator.kernel import Signal
from emulator.protocol.errors import Errors
from emulator.protocol.events import CopyFailed, CopyPosition, FetcherStopped
from fetchers.manager import ReplicaAlterLogDirsManager
from tests.fetchers.rig import LATENCY_US, ME, MS, A, B, Rig, write
from tests.fetchers.rig import play as play_kind


def play(scenario: Callable[[Rig], Awaitable[object]]) -> None:
    play_kind(scenario, kind=ReplicaAlterLogDirsManager)


def test_a_copy_is_done_when_it_holds_what_the_current_log_holds() -> None:
    async def scenario(rig: Rig) -> None:
        positions, stopped = rig.see(CopyPosition), rig.see(FetcherStopped)
        rig.leader.leads(A, 0, 0, 0)
        rig.leader.swaps = True
        rig.add(A)
        assert list(rig.manager.threads) == [(ME, 0)]
        await rig.rest()
        assert rig.equal(A)
        assert rig.leader.swapped == [A]
        assert rig.thread.states == {}
        assert [event.offset for event in positions] == [0, -1]
        rig.manager.shutdown_idle_fetcher_threads()
        assert [(event.fetcher, event.reason) for event in stopped] == [("ReplicaAlterLogDirsThread-0", "idle")]

    play(scenario)


def test_one_partition_at_a_time_lowest_first() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, *[0] * 10)
        rig.leader.swaps = True
        rig.add(B, A)
        await rig.rest(100)
        assert rig.leader.swapped == [A, B]
        assert rig.leader.fetched() == [A] * 5 + [B] * 5

    play(scenario)


def test_a_copy_in_progress_is_not_left_for_a_lower_one() -> None:
    async def scenario(rig: Rig) -> None:
        for tp in (A, B):
            rig.leader.leads(tp, *[0] * 10)
        rig.leader.swaps = True
        rig.add(B)
        await rig.rest(LATENCY_US // MS + 1)
        rig.add(A)
        await rig.rest(100)
        assert rig.leader.swapped == [B, A]

    play(scenario)


def test_after_a_partition_that_cannot_be_read_the_next_one_is_copied() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        rig.leader.swaps = True
        rig.leader.fetch_errors[A] = Errors.KAFKA_STORAGE_ERROR
        rig.add(A, B)
        await rig.rest()
        assert rig.leader.swapped == [B]
        assert rig.thread.states[A].delayed_until_us > 0
        rig.leader.fetch_errors.clear()
        await rig.rest(1_100)
        assert rig.leader.swapped == [B, A]

    play(scenario)


def test_a_log_that_cannot_take_the_others_place_fails_its_copy() -> None:
    async def scenario(rig: Rig) -> None:
        failed = rig.see(CopyFailed)
        rig.leader.leads(A, 0)
        rig.leader.swaps = True
        rig.leader.copies = {}
        rig.add(A)
        await rig.rest()
        assert [event.partition for event in failed] == [0]
        assert A in rig.manager.failed

    play(scenario)


def test_the_current_log_is_cut_and_the_copy_after_it() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0, 1, 1)
        rig.add(A)
        await rig.rest()
        assert rig.equal(A)
        rig.leader.logs[A].truncate_to(2)
        write(rig.leader.logs[A], 2, 2, 2)
        assert isinstance(rig.manager, ReplicaAlterLogDirsManager)
        rig.manager.truncated(A, 2)
        assert rig.thread.states[A].truncating
        await rig.rest()
        assert rig.equal(A)
        assert rig.replicas[A].cuts[-1] == 2

    play(scenario)


def test_a_cut_while_a_read_is_under_way_makes_its_answer_void() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0, 0, 1, 1)
        rig.leader.hold = hold = Signal(rig.world)
        rig.add(A)
        await rig.rest()
        assert isinstance(rig.manager, ReplicaAlterLogDirsManager)
        rig.manager.truncated(A, 0)
        rig.manager.truncated(B, 0)  # one that is not copied
        rig.leader.hold = None
        hold.set()
        await rig.world.sleep(0)
        assert rig.replicas[A].log_end_offset == 0
        await rig.rest()
        assert rig.equal(A)

    play(scenario)
