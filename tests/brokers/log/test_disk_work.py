"""Disks that take time: what waits for them, and in which order they work."""

from typing import Any

import pytest

from emulator.disks import Disk, DiskSpeed, Pace
from emulator.protocol.errors import Errors
from tests.brokers.bench import ME, MS, TP, Bench


def bench_with(speed: DiskSpeed, isr: tuple[int, ...] = (ME,)) -> Bench:
    bench = Bench()
    bench.node.disks = (Disk(pace=Pace(speed)),)
    bench.restart()
    bench.lead(isr=isr)
    return bench


def test_a_disk_works_in_order() -> None:
    pace = Pace(DiskSpeed(read=1_000, write=500, latency_us=10))
    assert pace.write(0, 1).done_us == 2_010
    assert pace.read(5, 1).done_us == 2_010 + 1_010
    assert pace.write(10_000, 0).done_us == 10_010
    assert Pace(DiskSpeed()).write(7, 1 << 30).done_us == 7


def test_what_is_under_way_goes_on_at_the_speed_of_now() -> None:
    pace = Pace(DiskSpeed(write=1_000))
    done, first, second = pace.write(0, 1), pace.write(0, 10), pace.write(0, 10)
    pace.change(DiskSpeed(write=100), 6_000)
    assert (done.done_us, first.done_us, second.done_us) == (1_000, 56_000, 156_000)
    pace.change(DiskSpeed(write=1_000), 31_000)
    assert (first.done_us, second.done_us, pace.free_us) == (33_500, 43_500, 43_500)
    pace.change(DiskSpeed(), 32_000)
    assert (first.done_us, second.done_us) == (32_000, 32_000)


@pytest.mark.parametrize(("write", "answered_ms"), [(None, 5), (20_000, 7), (5_000, 15)])
def test_an_answer_follows_the_speed_of_its_disk(write: int | None, answered_ms: int) -> None:
    bench = bench_with(DiskSpeed(write=10_000))  # a batch takes 10 ms

    async def body() -> None:
        line = bench.produce(TP, acks=1)
        await bench.world.sleep(5 * MS)
        bench.node.disks[0].take_time(None if write is None else DiskSpeed(write=write), bench.world.now)
        await bench.world.sleep((answered_ms - 5) * MS)
        assert line.replies == [] or write is None
        await bench.world.sleep(MS)
        assert len(line.replies) == 1

    bench.world.run(body)


def test_a_fetcher_waits_for_what_the_disks_have_in_hand_once() -> None:
    bench = bench_with(DiskSpeed(write=10_000))
    work, pace = bench.manager.logs.work, bench.node.disks[0].pace
    found: list[Any] = []

    async def body() -> None:
        assert pace is not None
        found.append(work.take_signal())
        bench.produce(TP, acks=0)
        work.wrote(pace, 100)
        signal = work.take_signal()
        found.append(work.take_signal())
        assert signal is not None
        await signal.wait()
        found.append(bench.world.now)

    bench.world.run(body)
    assert found == [None, None, 20 * MS]


@pytest.mark.parametrize("acks", [1, -1])
def test_a_producer_is_answered_when_its_batch_is_written(acks: int) -> None:
    bench = bench_with(DiskSpeed(write=10_000))
    lines = []

    async def body() -> None:
        for _ in range(2):
            lines.append(bench.produce(TP, acks=acks))
        await bench.world.sleep(10 * MS - 1)
        assert [len(line.replies) for line in lines] == [0, 0]
        await bench.world.sleep(2)
        assert [len(line.replies) for line in lines] == [1, 0]
        await bench.world.sleep(10 * MS)

    bench.world.run(body)
    assert [line.last.partitions[0][1] for line in lines] == [Errors.NONE] * 2
    assert bench.partition.high_watermark == 2


def test_a_follower_is_answered_when_its_batches_are_read() -> None:
    bench = bench_with(DiskSpeed(read=100_000, latency_us=MS))
    follower = bench.follower(1)

    async def body() -> None:
        bench.produce()
        await bench.world.sleep(5 * MS)
        assert follower.at(0) is None
        await bench.world.sleep(2 * MS - 1)
        assert follower.line.replies == []
        await bench.world.sleep(2)
        assert len(follower.line.last.partitions[0].batches) == 1

    bench.world.run(body)
