"""KIP-461, for replica fetchers: one bad partition leaves its thread, and how it comes back (readings, 7).

The kind of fetcher that moves replicas between log directories does not exist here: a broker has one log.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from brokers.log.epoch_cache import NO_EPOCHS
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    FetcherStarted,
    FetcherStopped,
    FetchPosition,
    PartitionFailed,
    PartitionUnfailed,
)
from fetchers import FetcherPolicies
from tests.fetchers.rig import A, B, Rig, play, write

ONE_ENDS = FetcherPolicies(end_thread_when_all_failed=True)
causes = pytest.mark.parametrize("cause", ["append", "truncate", "fenced fetch", "fenced epoch", "fenced offsets"])


async def fail(rig: Rig, cause: str = "append", *, alone: bool = False) -> None:
    """Partition A fails for ``cause``; B, unless ``alone``, has nothing to complain about."""
    replica = rig.replica(A, 0, 0, high_watermark=2)
    rig.leader.leads(A, 0, 0, 0)
    rig.leader.leads(B, 0)
    if cause in ("append", "truncate"):
        replica.log.fail_disk("I/O error", cause)
    elif cause == "fenced epoch":
        rig.leader.epochs[A] = 1
    elif cause == "fenced offsets":
        rig.leader.errors[A] = Errors.OFFSET_OUT_OF_RANGE
        replica.log.epochs = NO_EPOCHS
        rig.leader.epochs[A] = 1
        _let_go_after_the_fetch(rig)
    else:
        replica.log.epochs = NO_EPOCHS
        rig.leader.epochs[A] = 1
    rig.add(*((A,) if alone else (A, B)))
    await rig.rest()


def _let_go_after_the_fetch(rig: Rig) -> None:
    """OFFSET_OUT_OF_RANGE answers the fetch alone: what comes next sees the leader's real epoch."""
    position = rig.trace.fold

    def fetching(event: FetchPosition) -> None:
        if event.partition == A.partition and event.offset >= 0:
            rig.process.call_later(3_000, lambda _: rig.leader.errors.clear())

    position(FetchPosition, fetching)


@pytest.fixture
def logging() -> Iterator[None]:
    """Logs as they are without a run that has silenced them."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


@causes
@pytest.mark.usefixtures("logging")
def test_kip_461_error_logged_and_tracked(cause: str) -> None:
    async def scenario(rig: Rig) -> None:
        failures = rig.see(PartitionFailed)
        with capture_logs() as logs:
            await fail(rig, cause)
        errors = [log for log in logs if log["log_level"] == "error"]
        assert [(log["event"], log["partition"]) for log in errors] == [("partition failed", "t-0")]
        assert (A in rig.manager.failed, B in rig.manager.failed, len(rig.manager.failed)) == (True, False, 1)
        assert [(event.partition, event.fetcher) for event in failures] == [(0, "ReplicaFetcherThread-0-1")]

    play(scenario)


@causes
def test_kip_461_dropped_from_lag_and_states(cause: str) -> None:
    async def scenario(rig: Rig) -> None:
        positions = rig.see(FetchPosition)
        await fail(rig, cause)
        assert list(rig.thread.states) == [B]
        assert [event.offset for event in positions if event.partition == 0][-1:] in ([], [-1])
        asked = len(rig.leader.asked)
        await rig.rest(5_000)
        wanted = [wanted.tp for request in rig.leader.asked[asked:] for wanted in request.partitions]
        assert A not in wanted

    play(scenario)


@causes
def test_kip_461_others_continue(cause: str) -> None:
    async def scenario(rig: Rig) -> None:
        await fail(rig, cause)
        end = rig.replicas[A].log_end_offset
        write(rig.leader.logs[A], 0)
        write(rig.leader.logs[B], 0, 0, 0)
        await rig.rest()
        assert rig.equal(B)
        assert rig.replicas[A].log_end_offset == end

    play(scenario)


@pytest.mark.parametrize("at_once", [True, False])
def test_kip_461_all_failed_ends_thread(at_once: bool) -> None:
    """By the text at once, in 2.3 with the next sweep."""

    async def scenario(rig: Rig) -> None:
        stopped = rig.see(FetcherStopped)
        await fail(rig, alone=True)
        assert [event.reason for event in stopped] == (["all-failed"] if at_once else [])
        rig.manager.end_idle_threads()
        assert [event.reason for event in stopped] == (["all-failed"] if at_once else ["idle"])
        assert rig.manager.threads == {}
        asked = len(rig.leader.asked)
        await rig.rest(2_000)
        assert len(rig.leader.asked) == asked

    play(scenario, ONE_ENDS if at_once else None)


def test_kip_461_stop_replica_clears() -> None:
    async def scenario(rig: Rig) -> None:
        seen = rig.see(PartitionUnfailed)
        await fail(rig)
        rig.manager.remove([A], stopped=True)
        assert len(rig.manager.failed) == 0
        assert [(event.partition, event.reason) for event in seen] == [(0, "stop-replica")]
        await rig.rest(2_000)
        assert list(rig.thread.states) == [B]

    play(scenario)


@pytest.mark.parametrize("swept", [True, False])
def test_kip_461_next_epoch_clears_as_follower_on_a_new_thread(swept: bool) -> None:
    """Also where no sweep has taken the ended thread away."""

    async def scenario(rig: Rig) -> None:
        started, seen = rig.see(FetcherStarted), rig.see(PartitionUnfailed)
        await fail(rig, alone=True)
        failed = rig.thread
        if swept:
            rig.manager.end_idle_threads()
        rig.replicas[A].log._file.mend()
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        assert (rig.thread is failed, len(rig.manager.failed), len(started)) == (False, 0, 2)
        assert [(event.partition, event.reason) for event in seen] == [(0, "epoch")]
        assert rig.thread.states[A].truncating
        await rig.rest()
        assert rig.equal(A)

    play(scenario, ONE_ENDS)


def test_c97_next_epoch_clears_on_the_same_thread_where_others_are() -> None:
    async def scenario(rig: Rig) -> None:
        await fail(rig, "truncate")
        thread = rig.thread
        rig.replicas[A].log._file.mend()
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        assert rig.thread is thread
        assert (rig.thread.states[A].truncating, len(rig.manager.failed)) == (True, 0)
        await rig.rest(600)
        assert rig.equal(A)

    play(scenario)


def test_kip_461_next_epoch_clears_as_leader() -> None:
    """A leader removes its fetcher and adds none."""

    async def scenario(rig: Rig) -> None:
        seen = rig.see(PartitionUnfailed)
        await fail(rig)
        rig.manager.remove([A])
        assert (len(rig.manager.failed), list(rig.thread.states)) == (0, [B])
        assert [event.reason for event in seen] == ["epoch"]

    play(scenario)


@pytest.mark.parametrize(
    "error",
    [
        Errors.CORRUPT_MESSAGE,
        Errors.UNKNOWN_LEADER_EPOCH,
        Errors.NOT_LEADER_FOR_PARTITION,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.KAFKA_STORAGE_ERROR,
    ],
)
def test_other_errors_only_delay(error: Errors) -> None:
    async def scenario(rig: Rig) -> None:
        failures = rig.see(PartitionFailed)
        rig.leader.leads(A, 0)
        rig.leader.leads(B, 0)
        rig.add(A, B)
        await rig.rest()
        rig.leader.errors[A] = error
        write(rig.leader.logs[A], 0)
        write(rig.leader.logs[B], 0)
        await rig.rest(600)
        assert rig.equal(B)
        assert rig.thread.states[A].delayed_until_us > 0
        write(rig.leader.logs[B], 0)
        await rig.rest()
        assert rig.equal(B)
        rig.leader.errors.clear()
        await rig.rest(1_600)
        assert rig.equal(A)
        assert not failures

    play(scenario)


def test_an_append_that_does_not_fit_the_log_fails_the_partition() -> None:
    async def scenario(rig: Rig) -> None:
        failures: list[Any] = rig.see(PartitionFailed)
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        write(rig.replicas[A].log, 0)
        write(rig.leader.logs[A], 0)
        await rig.rest()
        assert [event.reason for event in failures] == ["append: t-0: batch at 1, log ends at 2"]

    play(scenario)
