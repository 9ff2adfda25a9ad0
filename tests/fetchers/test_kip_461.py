"""KIP-461, for both kinds of fetcher: one bad partition leaves its thread, and how it comes back (readings §7)."""

from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from brokers.log.leader_epoch_cache import NO_EPOCHS
from emulator.disks import DiskFault
from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    FetcherStarted,
    FetcherStopped,
)
from fetchers.manager import AbstractFetcherManager, ReplicaAlterLogDirsManager, ReplicaFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from tests.fetchers.rig import KINDS, A, B, Rig, play, write

ONE_ENDS = FetcherPolicies(end_thread_when_all_failed=True)
NAMES = {
    ReplicaFetcherManager: "ReplicaFetcherThread-0-1",
    ReplicaAlterLogDirsManager: "ReplicaAlterLogDirsThread-0",
}
TAGS: dict[type[AbstractFetcherManager], str] = {
    ReplicaFetcherManager: "Replica",
    ReplicaAlterLogDirsManager: "ReplicaAlterLogDirs",
}
causes = pytest.mark.parametrize("cause", ["append", "truncate", "fenced fetch", "fenced epoch", "fenced offsets"])


async def fail(rig: Rig, cause: str = "append", *, alone: bool = False) -> None:
    """Partition A fails for ``cause``; B, unless ``alone``, does not fail."""
    replica = rig.replica(A, 0, 0, high_watermark=2)
    rig.leader.leads(A, 0, 0, 0)
    rig.leader.leads(B, 0)
    if cause in ("append", "truncate"):
        replica.log.fail_disk(DiskFault("I/O error", (cause,)))
    elif cause == "fenced epoch":
        rig.leader.epochs[A] = 1
    elif cause == "fenced offsets":
        rig.leader.fetch_errors[A] = Errors.OFFSET_OUT_OF_RANGE
        replica.log.epochs = NO_EPOCHS
        rig.leader.epochs[A] = 1
    else:
        replica.log.epochs = NO_EPOCHS
        rig.leader.epochs[A] = 1
    rig.add(*((A,) if alone else (A, B)))
    await rig.rest()


@pytest.fixture
def logging() -> Iterator[None]:
    """Logs as they are without a run that has silenced them."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


@causes
@pytest.mark.usefixtures("logging")
@KINDS
def test_kip_461_error_logged_and_tracked(kind: type[AbstractFetcherManager], cause: str) -> None:
    async def scenario(rig: Rig) -> None:
        failures = rig.see(rig.manager.records.failed)
        with capture_logs() as logs:
            await fail(rig, cause)
        errors = [log for log in logs if log["log_level"] == "error"]
        assert [(log["event"], log["partition"]) for log in errors] == [("partition failed", "t-0")]
        assert (A in rig.manager.failed, B in rig.manager.failed, len(rig.manager.failed)) == (True, False, 1)
        assert [(event.partition, event.fetcher) for event in failures] == [(0, NAMES[kind])]

    play(scenario, kind=kind)


@causes
@KINDS
def test_kip_461_dropped_from_lag_and_states(kind: type[AbstractFetcherManager], cause: str) -> None:
    async def scenario(rig: Rig) -> None:
        positions = rig.see(rig.manager.records.position)
        await fail(rig, cause)
        assert list(rig.thread.states) == [B]
        assert [event.offset for event in positions if event.partition == 0][-1:] in ([], [-1])
        fetched = len(rig.leader.fetched())
        await rig.rest(5_000)
        assert A not in rig.leader.fetched()[fetched:]

    play(scenario, kind=kind)


@causes
@KINDS
def test_kip_461_others_continue(kind: type[AbstractFetcherManager], cause: str) -> None:
    async def scenario(rig: Rig) -> None:
        await fail(rig, cause)
        end = rig.replicas[A].log_end_offset
        write(rig.leader.logs[A], 0)
        write(rig.leader.logs[B], 0, 0, 0)
        await rig.rest()
        assert rig.equal(B)
        assert rig.replicas[A].log_end_offset == end

    play(scenario, kind=kind)


@pytest.mark.parametrize("at_once", [True, False])
@KINDS
def test_kip_461_all_failed_ends_thread(kind: type[AbstractFetcherManager], at_once: bool) -> None:
    """By the text at once, in 2.3 with the next sweep."""

    async def scenario(rig: Rig) -> None:
        stopped = rig.see(FetcherStopped)
        await fail(rig, alone=True)
        assert [event.reason for event in stopped] == (["all-failed"] if at_once else [])
        rig.manager.shutdown_idle_fetcher_threads()
        assert [event.reason for event in stopped] == (["all-failed"] if at_once else ["idle"])
        assert rig.manager.threads == {}
        asked = len(rig.leader.asked)
        await rig.rest(2_000)
        assert len(rig.leader.asked) == asked

    play(scenario, ONE_ENDS if at_once else None, kind=kind)


@KINDS
def test_kip_461_stop_replica_clears(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        seen = rig.see(rig.manager.records.failure_cleared)
        await fail(rig)
        rig.manager.remove_fetcher_for_partitions([A], stopped=True)
        assert len(rig.manager.failed) == 0
        assert [(event.partition, event.reason) for event in seen] == [(0, "stop-replica")]
        await rig.rest(2_000)
        assert list(rig.thread.states) == [B]

    play(scenario, kind=kind)


@pytest.mark.parametrize("swept", [True, False])
@KINDS
def test_kip_461_next_epoch_clears_as_follower_on_a_new_thread(kind: type[AbstractFetcherManager], swept: bool) -> None:
    """Also where no sweep has taken the ended thread away."""

    async def scenario(rig: Rig) -> None:
        started, seen = rig.see(FetcherStarted), rig.see(rig.manager.records.failure_cleared)
        await fail(rig, alone=True)
        failed = rig.thread
        if swept:
            rig.manager.shutdown_idle_fetcher_threads()
        rig.replicas[A].log.fail_disk(None)
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        assert (rig.thread is failed, len(rig.manager.failed), len(started)) == (False, 0, 2)
        assert [(event.partition, event.reason) for event in seen] == [(0, "epoch")]
        assert rig.thread.states[A].truncating
        await rig.rest()
        assert rig.equal(A)

    play(scenario, ONE_ENDS, kind=kind)


@KINDS
@pytest.mark.parametrize("cause", ["append", "truncate"])
def test_C97_next_epoch_clears_on_the_same_thread_where_others_are(
    kind: type[AbstractFetcherManager], cause: str
) -> None:
    async def scenario(rig: Rig) -> None:
        await fail(rig, cause)
        thread = rig.thread
        rig.replicas[A].log.fail_disk(None)
        rig.leader.epochs[A] = 1
        rig.add(A, epoch=1)
        assert rig.thread is thread
        rig.leader.swaps = True  # a copy goes on until it is done
        assert (rig.thread.states[A].truncating, len(rig.manager.failed)) == (True, 0)
        await rig.rest(600)
        assert rig.equal(A)

    play(scenario, kind=kind)


@KINDS
def test_fetching_again_clears_without_a_removal_before(kind: type[AbstractFetcherManager]) -> None:
    """addFetcherForPartitions takes out of failedPartitions what it adds (2.3)."""

    async def scenario(rig: Rig) -> None:
        await fail(rig)
        replica = rig.replicas[A]
        replica.log.fail_disk(None)
        rig.leader.epochs[A] = 1
        rig.manager.add_fetcher_for_partitions([InitialFetchState(A, rig.source, 1, replica.high_watermark, replica)])
        assert (len(rig.manager.failed), list(rig.thread.states)) == (0, [B, A])

    play(scenario, kind=kind)


@KINDS
def test_kip_461_next_epoch_clears_as_leader(kind: type[AbstractFetcherManager]) -> None:
    """A leader removes its fetcher and adds none."""

    async def scenario(rig: Rig) -> None:
        seen = rig.see(rig.manager.records.failure_cleared)
        await fail(rig)
        rig.manager.remove_fetcher_for_partitions([A])
        assert (len(rig.manager.failed), list(rig.thread.states)) == (0, [B])
        assert [event.reason for event in seen] == ["epoch"]

    play(scenario, kind=kind)


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
@KINDS
def test_other_errors_only_delay(kind: type[AbstractFetcherManager], error: Errors) -> None:
    async def scenario(rig: Rig) -> None:
        failures = rig.see(rig.manager.records.failed)
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
        rig.leader.swaps = True  # a copy goes on until it is done
        await rig.rest(1_600)
        assert rig.equal(A)
        assert not failures

    play(scenario, kind=kind)


@KINDS
def test_an_append_that_does_not_fit_the_log_fails_the_partition(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        failures: list[Any] = rig.see(rig.manager.records.failed)
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest()
        write(rig.replicas[A].log, 0)
        write(rig.leader.logs[A], 0)
        await rig.rest()
        assert [event.reason for event in failures] == ["append: t-0: batch at 1, log ends at 2"]

    play(scenario, kind=kind)


@KINDS
def test_kip_461_gauge_tagged_by_client_id(kind: type[AbstractFetcherManager]) -> None:
    """FailedPartitionsCount of each kind of fetcher. The managers do not see each other's failures."""

    async def scenario(rig: Rig) -> None:
        shown = rig.see(GaugeSet)
        await fail(rig)
        others = [rig.make(other) for other in TAGS if other is not kind]
        name = f"kafka.server:type={kind.__name__},name=FailedPartitionsCount,clientId={TAGS[kind]}"
        counts = [(event.metric, event.value) for event in shown if "FailedPartitionsCount" in event.metric]
        assert counts == [(name, 1)]
        assert [len(other.failed) for other in others] == [0]
        rig.manager.remove_fetcher_for_partitions([A])
        assert shown[-1].metric == name
        assert shown[-1].value == 0

    play(scenario, kind=kind)
