"""A small cluster whose brokers a test asks for something, as an admin client does."""

from collections.abc import Awaitable, Callable
from typing import Any

from emulator.kernel import World
from emulator.protocol.api import Request
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.cluster import Cluster
from scenarios.cluster.from_scenario import cluster_setup
from scenarios.language import Scenario

SCENARIO = """
title = "admin"
profile = "{profile}"
[cluster]
brokers = 3
controller = 0
[cluster.config]
"min.insync.replicas" = 2
[[topics]]
name = "orders"
assignment = [[0, 1], [1, 2]]
"""

Ask = Callable[..., Awaitable[Any]]
"""Send a request to the controller, or to a broker, and return the response."""


def asking(drive: Callable[[Ask, Cluster], Awaitable[Any]], profile: str = "kafka-2.4") -> Any:
    """Run ``drive(ask, cluster)`` in a cluster of three brokers, 0 the controller, and return what it returns."""
    world, scenario = World(7), Scenario.loads(SCENARIO.format(profile=profile))
    cluster = Cluster(world, cluster_setup(scenario))

    async def as_operator(operator: Operator) -> Any:
        async def ask(request: Request, broker: int = 0) -> Any:
            return await operator.admin.ask_broker(broker, request, 100_000_000)

        return await drive(ask, cluster)

    found = list[Any]()

    async def main(cluster: Cluster) -> None:
        found.append(await cluster.operate(as_operator))

    world.run(cluster.run, main)
    return found[0]
