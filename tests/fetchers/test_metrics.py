"""The metrics of fetchers."""

import pytest

from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved
from emulator.protocol.events import ConsumerLag
from emulator.protocol.types import TopicPartition
from fetchers.manager import AbstractFetcherManager
from fetchers.quota import QuotaManagers
from tests.fetchers.rig import KINDS, A, B, Rig, play, write

NO_LAG = -1


def lags(seen: list[ConsumerLag]) -> list[tuple[int, int]]:
    return [(event.partition, event.lag) for event in seen]


@KINDS
def test_an_idle_partition_has_a_lag_and_it_is_zero(kind: type[AbstractFetcherManager]) -> None:
    """KAFKA-7704: an answer without records showed the whole high watermark as lag."""

    async def scenario(rig: Rig) -> None:
        seen = rig.see(ConsumerLag)
        rig.leader.leads(A, 0, 0, 0)
        rig.replica(A, 0, 0, 0, high_watermark=3)
        rig.add(A)
        await rig.rest(2000)
        assert lags(seen) == [(0, 0)]

    play(scenario, kind=kind)


def test_the_lag_is_what_the_leader_had_committed_beyond_the_answer() -> None:
    async def scenario(rig: Rig) -> None:
        seen, maxima = rig.see(ConsumerLag), rig.see(GaugeSet)
        rig.leader.leads(A, *[0] * 200)
        rig.leader.leads(B, 0)
        rig.add(A, B)
        await rig.rest(150)
        assert lags(seen)[0][1] > 100, "two records with each answer"
        assert lags(seen)[1] == (1, 0)
        await rig.rest(2000)
        assert lags(seen)[-1] == (0, 0)
        values = [event.value for event in maxima if "MaxLag" in event.metric]
        assert values == [lag for partition, lag in lags(seen) if partition == 0]

    play(scenario)


def test_a_follower_ahead_of_the_leaders_high_watermark_has_no_lag() -> None:
    async def scenario(rig: Rig) -> None:
        seen = rig.see(ConsumerLag)
        rig.leader.leads(A, 0, 0, 0)
        rig.leader.marks[A] = 1
        rig.add(A)
        await rig.rest(2000)
        assert lags(seen) == [(0, 0)]

    play(scenario)


@KINDS
def test_a_partition_that_is_not_fetched_has_no_lag(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        seen = rig.see(ConsumerLag)
        rig.leader.leads(A, *[0] * 200)
        rig.add(A)
        await rig.rest(150)
        rig.manager.remove_fetcher_for_partitions([A])
        await rig.rest(200)
        assert lags(seen)[-1] == (0, NO_LAG)
        maximum = rig.manager.metrics._max_lag
        assert maximum.value == 0

    play(scenario, kind=kind)


def test_a_lag_that_comes_and_goes_between_two_instants_is_not_written() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest(2000 - rig.world.now // 1000)
        seen = rig.see(ConsumerLag)
        write(rig.leader.logs[A], *[0] * 6)
        await rig.rest(90)
        assert rig.equal(A)
        await rig.rest(200)
        assert seen == []

    play(scenario)


@KINDS
def test_requests_and_bytes_are_metered_until_the_thread_ends(kind: type[AbstractFetcherManager]) -> None:
    async def scenario(rig: Rig) -> None:
        registered, marked, removed = rig.see(MetricRegistered), rig.see(MeterMarked), rig.see(MetricRemoved)
        rig.leader.leads(A, *[0] * 7)
        rig.add(A)
        await rig.rest(1500)
        (name,) = (event.metric for event in registered if "BytesPerSec" in event.metric)
        thread = rig.thread.name
        broker = rig.source
        assert name == (
            f"kafka.server:type=FetcherStats,name=BytesPerSec,clientId={thread},brokerHost=broker-{broker},brokerPort=9092"
        )
        assert [event.total for event in marked if event.metric == name] == [700]
        rig.manager.remove_fetcher_for_partitions([A])
        rig.manager.shutdown_idle_fetcher_threads()
        assert name in [event.metric for event in removed]
        requests = [event.total for event in marked if "RequestsPerSec" in event.metric]
        assert requests[-1] >= 4

    play(scenario, kind=kind)


def test_a_request_that_is_not_answered_is_metered_too() -> None:
    """One in two back-offs (AbstractFetcherThread.processFetchRequest, 2.3)."""

    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A, 0)
        rig.add(A)
        await rig.rest(1_500)
        rig.leader.down = True
        await rig.rest(1_500)
        requests = rig.thread._metrics.requests
        before = requests.count
        await rig.rest(10_000)
        assert requests.count - before == 5

    play(scenario)


def test_idle_polls_are_counted_and_written_once_a_minute() -> None:
    async def scenario(rig: Rig) -> None:
        rig.leader.leads(A)
        rig.add(A)
        await rig.rest(2000)
        marked = rig.see(MeterMarked)
        await rig.rest(120_000)
        requests = [event for event in marked if "RequestsPerSec" in event.metric]
        assert len(requests) == 2
        assert requests[1].total - requests[0].total == pytest.approx(120, abs=2)

    play(scenario)


@pytest.mark.parametrize(("tp", "counted"), [(A, True), (B, False)])
def test_a_throttles_rate_is_written_while_bytes_of_listed_replicas_are_in_its_window(
    tp: TopicPartition, counted: bool
) -> None:
    async def scenario(rig: Rig) -> None:
        quotas, seen = QuotaManagers.windowed(1, 11, 1_000_000), rig.see(GaugeSet)
        quotas.show(rig.process)
        quotas.configured("topics/t", {"follower.replication.throttled.replicas": f"{A.partition}:1"})
        await rig.rest(500)
        quotas.follower.record(tp, False, 11_000, rig.process.clock_us)
        await rig.rest(3_600_000)
        values = [event.value for event in seen]
        assert values == ([11_000, 7_333, 4_400, 3_143, 2_444, 2_000, 1_692, 1_467, 1_294, 1_158, 1_048, 0] * counted)

    play(scenario)
