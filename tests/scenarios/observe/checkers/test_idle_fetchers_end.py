"""F5: a fetcher thread without partitions ends."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.api import AbstractControlRequest
from emulator.protocol.control_requests import ControlHandled
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.update_metadata import UpdateMetadataRequest
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = "idle_fetchers_end"
THREAD = "ReplicaFetcherThread-0-0"
LEADER_AND_ISR = LeaderAndIsrRequest(3, 1, 1, (), (0, 1, 2))
STOP = StopReplicaRequest(3, 1, 1, False, (ORDERS_0,))
METADATA = UpdateMetadataRequest(3, 1, 1, (), (0, 1, 2))


class Broker1(WrittenHistory):
    """Broker 1 follows broker 0 in orders-0, by a thread."""

    def __init__(self, *, ends_failed_threads: bool = False) -> None:
        super().__init__(NAME, start=StartSettings(ends_failed_threads=ends_failed_threads))
        self.follows(1, 0, 0)
        self.emit(e.FetcherStarted, 1, THREAD, 0)

    def ends(self, reason: str = "idle") -> None:
        self.emit(e.FetcherStopped, 1, THREAD, 0, reason, "", -1, "")

    def fails(self) -> None:
        self.emit(e.PartitionFailed, 1, THREAD, *ORDERS_0, 0, "append: I/O", "DiskError")

    def carries_out(self, request: AbstractControlRequest, error: Errors = Errors.NONE) -> None:
        self.show(ControlHandled, 1, request, error)

    def states(self) -> list[str]:
        return [violation.state for violation in self.violations()]


def test_a_thread_that_fetches_stays() -> None:
    run = Broker1()
    run.carries_out(LEADER_AND_ISR)
    assert run.states() == []


@pytest.mark.parametrize("ends", [False, True])
def test_the_last_partition_goes_to_another_leader(ends: bool) -> None:
    run = Broker1()
    run.follows(1, 2, 1)
    if ends:
        run.ends()
    run.carries_out(LEADER_AND_ISR)
    kept = f"broker 1: {THREAD} goes on fetching from broker 0, and it follows that in no partition"
    assert run.states() == ([] if ends else [kept])


def test_the_last_partition_is_stopped() -> None:
    run = Broker1()
    run.emit(e.ReplicaStopped, 1, *ORDERS_0, 0, False)
    run.carries_out(STOP)
    assert len(run.states()) == 1


@pytest.mark.parametrize(
    ("request_", "error"), [(METADATA, Errors.NONE), (LEADER_AND_ISR, Errors.STALE_CONTROLLER_EPOCH)]
)
def test_other_requests_end_no_thread(request_: AbstractControlRequest, error: Errors) -> None:
    run = Broker1()
    run.follows(1, 2, 1)
    run.carries_out(request_, error)
    assert run.states() == []


def test_a_thread_that_has_died_is_not_noticed() -> None:
    run = Broker1()
    run.ends("died")
    run.follows(1, 2, 1)
    run.carries_out(LEADER_AND_ISR)
    assert run.states() == []


@pytest.mark.parametrize("at_once", [False, True])
def test_all_partitions_of_a_thread_have_failed(at_once: bool) -> None:
    """By KIP-461's text it ends at once; in the releases with the next request."""
    run = Broker1(ends_failed_threads=at_once)
    run.fails()
    run.checkers.look(run.world.now)
    kept = f"broker 1: {THREAD} goes on fetching from broker 0, and all partitions of it have failed"
    assert run.states() == [kept] * at_once
    run.carries_out(LEADER_AND_ISR)
    assert run.states() == [kept] * (1 + at_once)


def test_a_partition_that_has_failed_is_fetched_again_in_the_next_epoch() -> None:
    run = Broker1()
    run.fails()
    run.follows(1, 0, 1)
    run.carries_out(LEADER_AND_ISR)
    assert run.states() == []


def test_a_crash_ends_all_threads() -> None:
    run = Broker1()
    run.emit(e.NodeCrashed, 1, 0, "process")
    run.carries_out(LEADER_AND_ISR)
    assert run.states() == []
