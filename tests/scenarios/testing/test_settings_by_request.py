"""The public requests about settings: what a client that adapts a throttle sends."""

from __future__ import annotations

from understudy.protocol import (
    AlterConfigOp,
    AlterConfigsRequest,
    DescribeConfigsRequest,
    Errors,
    IncrementalAlterConfigsRequest,
    OpType,
    Resource,
    ResourceType,
)
from understudy.testing import ClusterInstance, cluster, in_virtual_time

RATE, THREADS = "leader.replication.throttled.rate", "num.replica.fetchers"
BROKER = Resource(ResourceType.BROKER, "0")


async def alter(c: ClusterInstance, name: str, value: str) -> Errors:
    """Change one setting of broker 0, by itself."""
    request = IncrementalAlterConfigsRequest(((BROKER, (AlterConfigOp(name, OpType.SET, value),)),))
    code: Errors = (await c.send(0, request)).resources[0][1].code
    return code


@in_virtual_time
async def test_a_client_reads_and_changes_settings() -> None:
    async with cluster(1, {"t": [[0]]}, profile="kafka-2.5") as c:
        assert await alter(c, RATE, "5000000") is Errors.NONE
        await c.settled()
        described = await c.send(0, DescribeConfigsRequest(((BROKER, (RATE, THREADS)),)))
        found = {entry.name: entry.value for entry in described.resources[0].entries}
        assert found == {RATE: "5000000", THREADS: "1"}
        replaced = await c.send(0, AlterConfigsRequest(((BROKER, ((RATE, "6000000"),)),)))
        assert replaced.resources[0][1].code is Errors.NONE


@in_virtual_time
async def test_a_running_broker_refuses_what_it_cannot_change() -> None:
    """DynamicBrokerConfig.validateConfigs, DynamicThreadPool.validateReconfiguration (1.1 to 2.7)."""
    async with cluster(1, {"t": [[0]]}) as c:
        for name, value in (
            ("broker.id", "7"), ("log.dirs", "/elsewhere"), ("replica.lag.time.max.ms", "1"), (THREADS, "3"),
            ("log.cleaner.threads", "many"), ("background.threads", "4"),
        ):  # fmt: skip
            assert await alter(c, name, value) is Errors.INVALID_REQUEST
        for name, value in (("acme.colour", "red"), (THREADS, "2"), ("background.threads", "5")):
            assert await alter(c, name, value) is Errors.NONE
        assert c.znode("/config/brokers/0") is not None
