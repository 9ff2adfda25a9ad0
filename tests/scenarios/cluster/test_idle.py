"""Idle partitions cost nothing: virtual time passes without a line of code executed for each of them.

``python -m benchmarks.idle`` measures it; lines do not depend on the machine.
"""

import sys
from types import FrameType
from typing import Any

from emulator.kernel import World
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

STARTED_US = 30_000_000
REST_US = 330_000_000
"""Longer than the longest period of anything (leader.imbalance.check.interval.seconds and log retention: 300 s)."""


def lines_at_rest(partitions: int) -> int:
    """The lines of Python that a cluster goes through in ``REST_US``, ``partitions`` in it."""
    lines = 0

    def trace(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    assignment = {number: tuple((number + k) % 3 for k in range(3)) for number in range(partitions)}
    world = World(1)
    cluster = Cluster(world, ClusterSetup(3, topics=(TopicSetup("orders", assignment, size=1024),)))

    async def drive(_: Cluster) -> None:
        await world.sleep(STARTED_US, background=True)
        before = sys.gettrace()
        sys.settrace(trace)
        try:
            await world.sleep(REST_US, background=True)
        finally:
            sys.settrace(before)

    world.run(cluster.run, drive)
    return lines


def test_idle_partitions_cost_nothing() -> None:
    few, many = lines_at_rest(3), lines_at_rest(1500)
    assert few > 1000
    assert many - few < 1500  # not one line for each of those that are more
