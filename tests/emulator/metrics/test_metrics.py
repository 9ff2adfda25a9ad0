"""The events that a registry writes, and when."""

from typing import Any

import pytest

from emulator.kernel import DeadIncarnation
from emulator.metrics import mbean
from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated
from emulator.nodes import Process
from tests.emulator.network.site import Site, on_site

SECOND = 1_000_000
LEADERS = mbean("kafka.server", "ReplicaManager", "LeaderCount")
SHRINKS = mbean("kafka.server", "ReplicaManager", "IsrShrinksPerSec")
MAX_LAG = mbean("kafka.server", "ReplicaFetcherManager", "MaxLag", clientId="Replica")
QUEUE_TIME = mbean("kafka.controller", "ControllerEventManager", "EventQueueTimeMs")


def kept(site: Site, *kinds: type) -> list[tuple[Any, ...]]:
    """Time and fields of every later event of these kinds."""
    events: list[tuple[Any, ...]] = []
    for kind in kinds:
        site.trace.fold(kind, lambda event: events.append((event.t_us, *event[4:])))
    return events


def test_names_are_kafkas() -> None:
    assert MAX_LAG == "kafka.server:type=ReplicaFetcherManager,name=MaxLag,clientId=Replica"
    assert mbean("kafka.server", "BrokerTopicMetrics", "BytesInPerSec", topic="") == (
        "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec"
    )


def test_a_metric_exists_from_its_registration_until_it_is_removed() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, MetricRegistered, MetricRemoved)
        gauge = process.metrics.gauge(LEADERS)
        process.metrics.meter(SHRINKS)
        process.metrics.timer(QUEUE_TIME)
        process.metrics.remove(gauge)
        assert [fields[1:] for fields in events] == [
            ("gauge", LEADERS), ("meter", SHRINKS), ("timer", QUEUE_TIME), (LEADERS,),
        ]  # fmt: skip

    on_site(body)


def test_a_gauge_is_written_at_once_and_only_when_it_changes() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, GaugeSet)
        gauge = process.metrics.gauge(LEADERS)
        for value in (0, 3, 3, 2):
            gauge.set(value)
        now = site.world.now
        assert events == [(now, LEADERS, 3), (now, LEADERS, 2)]

    on_site(body)


def test_a_sampled_gauge_is_read_at_the_next_instant_of_the_grid() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, GaugeSet)
        lag = [0]
        gauge = process.metrics.sampled(MAX_LAG, lambda: lag[0])
        await site.world.sleep(250_000 - site.world.now)
        for lag[0] in (5, 9, 7):
            gauge.changed()
        await site.world.sleep(SECOND)
        gauge.changed()  # and is what it was
        await site.world.sleep(SECOND)
        assert events == [(300_000, MAX_LAG, 7)]

    on_site(body)


def test_a_meter_is_written_once_a_second_while_it_counts() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, MeterMarked)
        meter = process.metrics.meter(SHRINKS)
        for _ in range(15):
            meter.mark(2)
            await site.world.sleep(100_000)
        await site.world.sleep(10 * SECOND)
        meter.mark()
        await site.world.sleep(SECOND)
        assert events == [
            (SECOND, SHRINKS, 20, 0), (2 * SECOND, SHRINKS, 30, SECOND), (12 * SECOND, SHRINKS, 31, 11_500_000),
        ]  # fmt: skip

    on_site(body)


def test_what_an_idle_cluster_counts_is_written_once_a_minute() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, MeterMarked)
        meter = process.metrics.meter(SHRINKS)
        for _ in range(180):
            meter.mark_idly()
            await site.world.sleep(500_000)
        meter.mark()
        await site.world.sleep(60 * SECOND)
        assert events == [(60 * SECOND, SHRINKS, 120, 0), (91 * SECOND, SHRINKS, 181, 60 * SECOND)]

    on_site(body)


def test_a_timer_is_written_each_time() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, TimerUpdated)
        timer = process.metrics.timer(QUEUE_TIME)
        timer.update(1500)
        timer.update(1500)
        assert [fields[1:] for fields in events] == [(QUEUE_TIME, 1500)] * 2

    on_site(body)


@pytest.mark.parametrize("lacking", ["LeaderCount", "ReplicaManager"], ids=["name", "type"])
def test_what_the_release_lacks_is_measured_and_not_shown(lacking: str) -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, MetricRegistered, GaugeSet, MetricRemoved)
        process.metrics.lacks = (lacking,)
        gauge = process.metrics.gauge(LEADERS)
        gauge.set(3)
        process.metrics.remove(gauge)
        assert (events, gauge.value) == ([], 3)

    on_site(body)


def test_an_idle_process_waits_for_no_instant() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        meter = process.metrics.meter(SHRINKS)
        meter.mark()
        await site.world.sleep(2 * SECOND)
        seq, events = site.trace.seq, site.world.events
        await site.world.sleep(3600 * SECOND)
        assert site.trace.seq == seq
        assert site.world.events - events <= 1, "nothing but this sleep happened in an hour"

    on_site(body)


def test_a_crash_ends_the_metrics() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events = kept(site, GaugeSet, MeterMarked)
        gauge, meter = process.metrics.gauge(LEADERS), process.metrics.meter(SHRINKS)
        meter.mark()
        process.node.crash()
        await site.world.sleep(2 * SECOND)
        assert events == []
        with pytest.raises(DeadIncarnation):
            gauge.set(1)
        with pytest.raises(DeadIncarnation):
            meter.write()

    on_site(body)


def test_a_paused_process_writes_when_it_goes_on() -> None:
    async def body(site: Site) -> None:
        process: Process = await site.process(0)
        events = kept(site, MeterMarked)
        meter = process.metrics.meter(SHRINKS)
        meter.mark()
        process.pause()
        await site.world.sleep(5 * SECOND)
        assert events == []
        process.resume()
        assert events == [(site.world.now, SHRINKS, 1, 0)]

    on_site(body)
