"""How a run ends when it does not return: deadlock, budget, Ctrl-C; and when it is settled."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from emulator.kernel import Backend, BudgetExceeded, Deadlock, Mailbox, Signal, World, WorldClock

ROOT = Path(__file__).parents[3]
both = pytest.mark.parametrize("backend", ["detached", "attached"])


@both
def test_a_deadlock_names_each_waiting_task_and_what_it_waits_for_since_when_and_where(backend: Backend) -> None:
    world = World(1, backend=backend)

    async def inner(box: Mailbox) -> None:
        await box.get()

    async def fetcher(box: Mailbox) -> None:
        await world.sleep(7)
        await inner(box)

    async def main() -> None:
        async with world.open_nursery() as nursery:
            world.spawn(nursery, fetcher, Mailbox(world, "answers"), name="fetcher-1")
            await world.sleep(20)
            await Signal(world, "never").wait()

    with pytest.raises(Deadlock) as raised:
        world.run(main)
    text = str(raised.value)
    assert "deadlock at 20 us: nothing is pending and 2 tasks wait" in text
    assert re.search(r"#1 main waits on Signal\(never\) since 20 us \(for 0 us\) at .*main \(", text)
    assert re.search(
        r"#2 fetcher-1 waits on Mailbox\(answers\) since 7 us \(for 13 us\)"
        r" at .*fetcher \(.*:\d+\) > .*inner \(",
        text,
    )


@both
def test_a_deadlock_names_tasks_that_wait_for_children(backend: Backend) -> None:
    world = World(1, backend=backend)

    async def stuck() -> None:
        await Signal(world, "never").wait()

    async def main() -> None:
        async with world.open_nursery() as nursery:
            world.spawn(nursery, stuck)

    with pytest.raises(Deadlock, match="main waits on its nursery's children"):
        world.run(main)


@both
def test_a_deadlock_lets_the_tasks_clean_up(backend: Backend) -> None:
    world = World(1, backend=backend)
    cleaned = []

    async def main() -> None:
        try:
            await Signal(world).wait()
        finally:
            cleaned.append(world.now)

    with pytest.raises(Deadlock):
        world.run(main)
    assert cleaned == [0]


STUBBORN = """
from emulator.kernel import Signal, World
world = World(1, backend={backend!r})
async def main():
    async with world.open_nursery() as nursery:
        nursery.cancel_scope.shield = True
        await Signal(world).wait()
world.run(main)
"""


@both
def test_a_task_that_holds_out_against_the_end_cannot_hang_the_run(backend: Backend) -> None:
    """Trio gives up for good, so in a process of its own."""
    program = STUBBORN.format(backend=backend)
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=20, check=False
    )
    assert "trio.TrioInternalError" in ran.stderr


@both
def test_the_budget_ends_a_livelock(backend: Backend) -> None:
    world = World(1, backend=backend, max_events=10_000)

    async def main() -> None:
        while True:
            await world.sleep(0)

    with pytest.raises(BudgetExceeded, match=r"max_events reached: 10,000 events by 0.000000 s"):
        world.run(main)


def test_a_livelock_at_one_instant_ends_without_a_budget(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emulator.kernel.world.LIVELOCK", 10_000)
    world = World(1, backend=backend)

    async def main() -> None:
        await world.sleep(7)
        while True:
            await world.sleep(0)

    with pytest.raises(BudgetExceeded, match=r"a livelock: more than 10,000 events at 0.000007 s"):
        world.run(main)


def test_the_budget_ends_a_livelock_of_events() -> None:
    world = World(1, max_events=10_000)

    def again(_: Any) -> None:
        world.call_later(0, again)

    async def main() -> None:
        again(None)
        await Signal(world).wait()

    with pytest.raises(BudgetExceeded):
        world.run(main)


LIVELOCK = """
from emulator.kernel import World
world = World(1, backend={backend!r})
async def spin():
    while True:
        await world.sleep({delay_us})
async def main():
    async with world.open_nursery() as nursery:
        for _ in range(3):
            world.spawn(nursery, spin)
        print("busy", flush=True)
world.run(main)
"""


@both
@pytest.mark.parametrize("delay_us", [0, 1000])
def test_ctrl_c_ends_a_busy_world(backend: Backend, delay_us: int) -> None:
    program = LIVELOCK.format(backend=backend, delay_us=delay_us)
    process = subprocess.Popen(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "busy\n"
    process.send_signal(signal.SIGINT)
    try:
        _out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode != 0
    assert err.rstrip().splitlines()[-1].startswith("KeyboardInterrupt")


# -- settled -------------------------------------------------------------------------------------------------


@both
async def test_settled_waits_for_the_foreground_only(world_clock: WorldClock) -> None:
    world = world_clock.world
    seen = []

    def tick(_: Any) -> None:
        seen.append(world.now)
        world.call_later(10, tick, background=True)

    tick(None)
    world.call_later(35, seen.append, "last")
    await world.settled()
    assert world.now == 35
    assert seen == [0, 10, 20, 30, "last"]


@both
async def test_a_cancelled_timer_is_not_waited_for(world_clock: WorldClock) -> None:
    world = world_clock.world
    timer = world.timer(1000, print)
    world.call_later(5, lambda _: timer.cancel())
    await world.settled()
    assert world.now == 5
    assert not timer.pending
    timer.cancel()
    await world.settled()
    assert world.foreground == 0


@both
async def test_a_cancelled_sleeper_is_not_waited_for(world_clock: WorldClock) -> None:
    world = world_clock.world
    async with world.open_nursery() as nursery:
        world.spawn(nursery, world.sleep, 1000)
        world.spawn(nursery, Mailbox(world).get_within, 2000, False)
        await world.sleep(5)
        nursery.cancel_scope.cancel()
    await world.settled()
    assert world.now == 5


@both
async def test_a_sleeper_is_waited_for_unless_in_the_background(world_clock: WorldClock) -> None:
    world = world_clock.world
    async with world.open_nursery() as nursery:
        world.spawn(nursery, world.sleep, 40)
        world.spawn(nursery, world.sleep, 70, True)
        await world.settled()
        assert world.now == 40
    assert world.now == 70


@both
async def test_a_foreground_wait_with_a_time_out_is_waited_for_no_longer_than_it_lasts(
    world_clock: WorldClock,
) -> None:
    world = world_clock.world
    box = Mailbox(world)
    async with world.open_nursery() as nursery:
        world.spawn(nursery, box.get_within, 1000, False)
        world.call_later(30, box.put, "item", True)
        await world.settled()
        assert world.now == 30


async def test_hooks_run_on_the_world_s_clock(world_clock: WorldClock) -> None:
    await world_clock.world.sleep(2_500_000)
    assert world_clock.current_time() == 2.5


@both
def test_a_cancellable_task_ends_alone_wherever_it_waits_and_whenever_it_is_cancelled(backend: Backend) -> None:
    world = World(1, backend=backend)
    said: list[tuple[int, str]] = []

    async def wait(name: str, for_us: int) -> None:
        said.append((world.now, f"{name} begins"))
        try:
            await world.sleep(for_us)
            said.append((world.now, f"{name} wakes"))
            await Signal(world, "never").wait()
        finally:
            said.append((world.now, f"{name} ends"))

    async def main() -> None:
        async with world.open_nursery() as nursery:
            at_once = world.spawn(nursery, wait, "at once", 10, cancellable=True)
            at_once.cancel()
            early = world.spawn(nursery, wait, "early", 10, cancellable=True)
            late = world.spawn(nursery, wait, "late", 1, cancellable=True)
            await world.sleep(5)
            early.cancel()
            early.cancel()
            await world.sleep(5)
            late.cancel()
            await world.sleep(5)
            at_once.cancel()

    world.run(main)
    assert said == [
        (0, "at once begins"), (0, "at once ends"), (0, "early begins"), (0, "late begins"), (1, "late wakes"),
        (5, "early ends"), (10, "late ends"),
    ]  # fmt: skip
    assert not world.tasks


def test_a_task_that_was_not_spawned_as_cancellable_cannot_be_cancelled() -> None:
    world = World(1)

    async def main() -> None:
        async with world.open_nursery() as nursery:
            world.spawn(nursery, world.sleep, 1).cancel()

    with pytest.raises(ExceptionGroup) as raised:
        world.run(main)
    assert raised.group_contains(AssertionError, match="not spawned as cancellable")
