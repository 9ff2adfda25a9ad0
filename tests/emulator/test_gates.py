"""Gates hold, crash and pause a process that reaches them, and cost nothing where none is armed."""

from typing import Any

import pytest
import trio

from emulator.gates import Gates, Visit
from emulator.kernel import Signal
from emulator.nodes import Process
from tests.emulator.network.site import Site, on_site

both = pytest.mark.parametrize("backend", ["detached", "attached"])


async def walker(site: Site, gates: Gates, log: list[str]) -> Process:
    """A process that passes ``step`` after 10 us and records how far it came."""
    process = await site.process(0)

    async def walk() -> None:
        try:
            await site.world.sleep(10)
            await gates.reach(process, "step", "before", topic="orders", partition=3)
            log.append(f"did it at {site.world.now}")
            await gates.reach(process, "step", "after", topic="orders", partition=3)
            log.append(f"passed at {site.world.now}")
        except trio.Cancelled:
            log.append("killed")
            raise

    process.spawn(walk)
    return process


@both
def test_killed_at_its_own_gate_it_goes_no_further(backend: Any) -> None:
    async def body(site: Site) -> list[str]:
        gates, log = Gates(), list[str]()

        def crash(visit: Visit) -> None:
            visit.process.node.crash()
            visit.process.node.start(lambda _process: site.world.sleep(50))

        gates.arm("step", "after", crash)
        process = await walker(site, gates, log)
        await site.world.sleep(1000)
        assert process.node.incarnations == 2
        return log

    assert on_site(body, backend=backend) == ["did it at 10", "killed"]


@both
def test_a_signal_holds_the_visitor(backend: Any) -> None:
    async def body(site: Site) -> list[str]:
        gates, log, go = Gates(), list[str](), Signal(site.world)
        gates.arm("step", "before", lambda _visit: go)
        await walker(site, gates, log)
        site.world.call_later(500, go.set)
        await site.world.sleep(1000)
        return log

    assert on_site(body, backend=backend) == ["did it at 500", "passed at 500"]


@both
def test_killed_while_held(backend: Any) -> None:
    async def body(site: Site) -> list[str]:
        gates, log, go = Gates(), list[str](), Signal(site.world)
        gates.arm("step", "before", lambda _visit: go)
        process = await walker(site, gates, log)
        site.world.call_later(300, lambda _: process.node.crash())
        site.world.call_later(300, go.set)
        await site.world.sleep(1000)
        return log

    assert on_site(body, backend=backend) == ["killed"]


@both
def test_paused_at_its_gate_it_goes_on_when_it_resumes(backend: Any) -> None:
    async def body(site: Site) -> list[str]:
        gates, log = Gates(), list[str]()

        def pause(visit: Visit) -> None:
            visit.process.pause()
            site.world.call_later(700, lambda _: visit.process.resume())

        gates.arm("step", "before", pause)
        await walker(site, gates, log)
        await site.world.sleep(1000)
        return log

    assert on_site(body, backend=backend) == ["did it at 710", "passed at 710"]


def test_a_hook_sees_the_visit_in_the_order_of_arming_until_it_is_disarmed() -> None:
    async def body(site: Site) -> list[tuple[int, str, str, int, int]]:
        gates = Gates()
        seen: list[tuple[int, str, str, int, int]] = []

        def first(visit: Visit) -> None:
            seen.append((1, visit.step, visit.topic, visit.partition, visit.seq))
            gates.disarm("step", "before", first)

        def second(visit: Visit) -> None:
            seen.append((2, visit.step, visit.topic, visit.partition, visit.seq))

        gates.arm("step", "before", first)
        gates.arm("step", "before", second)
        process = await site.process(0)
        for _ in range(2):
            await gates.reach(process, "step", "before", topic="orders", partition=3)
        return seen

    assert on_site(body) == [
        (1, "step", "orders", 3, 1),
        (2, "step", "orders", 3, 1),
        (2, "step", "orders", 3, 2),
    ]


def test_an_open_gate_only_leaves_an_event() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        events, handled = site.trace.seq, site.world.now
        await Gates().reach(process, "step", "before")
        assert site.trace.seq == events + 1
        assert site.trace.cause == site.trace.seq
        assert site.world.now == handled

    on_site(body)
