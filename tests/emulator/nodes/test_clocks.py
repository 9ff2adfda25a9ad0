"""Durations do not depend on the clock of the machine, whatever it is set to meanwhile."""

import pytest

from emulator.kernel import World
from emulator.kernel.foreground import PendingWork
from emulator.nodes import Node, Process
from emulator.trace import Trace

HOUR = 3_600_000_000


@pytest.mark.parametrize("skew_us", [0, HOUR, -HOUR])
def test_work_that_is_declared_keeps_the_world_unsettled_for_no_longer(skew_us: int) -> None:
    world = World(1)
    trace = Trace(world)
    settled: list[int] = []

    async def main() -> None:
        async with world.open_nursery() as nursery:
            node = Node(world, trace, 0, "broker-0", nursery)

            async def live(process: Process) -> None:
                work = PendingWork(process)
                work.hold(100)
                process.call_later(50, lambda _: work.hold(100))

            node.start(live)
            await world.sleep(60, background=True)
            node.skew_us = skew_us
            await world.settled()
            settled.append(world.now)
            nursery.cancel_scope.cancel()

    world.run(main)
    assert settled == [150]
