"""ReassignPartitionsClusterTest of 2.4.1 with real brokers and the operator's tool."""

from typing import Literal

import pytest

from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.tools.command_outcome import DONE
from scenarios.cluster.clients.tools.reassign import check
from scenarios.cluster.clients.tools.throttle import LISTS, throttled_lists
from understudy.events import MoveStarted
from understudy.testing import KafkaError, cluster, in_virtual_time


@pytest.mark.parametrize("via", ["zk", "api"])
@in_virtual_time(seed=1)
async def test_C57_hw_after_partition_reassignment(via: Literal["zk", "api"]) -> None:
    """RS [100], its log truncated fully to start at 100; move to [101, 102]: the high watermark is 100 on both, not 0.
    The brokers' numbers are 0, 1 and 2 here."""

    async with cluster(4, {"orders": [[0]]}, profile="kafka-2.4", controller=3) as c:
        c.truncate_fully(0, "orders-0", start_at=100)
        before = c.log(0, "orders-0")
        assert before is not None
        assert (before.start_offset, before.end_offset) == (100, 100)
        await c.reassign({"orders-0": [1, 2]}, via=via)
        await c.settled()
        logs = {broker: c.log(broker, "orders-0") for broker in c.up()}
        assert {broker: log.high_watermark for broker, log in logs.items() if log is not None} == {1: 100, 2: 100}
        assert (c.replicas("orders-0"), c.leader("orders-0")) == ([1, 2], 1)


def test_C61_only_throttle_moving_replicas() -> None:
    """Kafka's six brokers, 0 to 5 here, and two topics: of the plan's partitions the third of each stays in place."""
    old, new = {"topic1": (0, 1), "topic2": (4, 5)}, {"topic1": (0, 2), "topic2": (3, 5)}
    tps = [TopicPartition(topic, partition) for topic in old for partition in (0, 1, 2)]
    before = {tp: old[tp.topic] if tp.partition < 2 else (3, 4) for tp in tps}
    moves = {tp: new[tp.topic] if tp.partition < 2 else (3, 4) for tp in tps}
    assert throttled_lists(before, moves) == {
        "topic1": dict(zip(LISTS, ("0:0,0:1,1:0,1:1", "0:2,1:2"), strict=True)),
        "topic2": dict(zip(LISTS, ("0:4,0:5,1:4,1:5", "0:3,1:3"), strict=True)),
    }


ZERO, ONE = TopicPartition("orders", 0), TopicPartition("orders", 1)
EXISTING = {ZERO: (0,)}
BAD_PLANS: dict[str, tuple[dict[TopicPartition, tuple[int, ...]], str]] = {
    "nothing": ({}, "moves nothing: INVALID_REPLICA_ASSIGNMENT"),
    "does not match existing": ({ONE: (1,)}, "no such partitions: orders-1: UNKNOWN_TOPIC_OR_PARTITION"),
    "has empty replica list": ({ZERO: ()}, "the replica list of orders-0 is empty: INVALID_REPLICA_ASSIGNMENT"),
    "has invalid broker id": ({ZERO: (1, 2)}, "no such brokers now: 2: INVALID_REPLICA_ASSIGNMENT"),
    "has a replica twice": ({ZERO: (1, 1)}, "orders-0 names a broker twice: [1, 1]: INVALID_REPLICA_ASSIGNMENT"),
}


@pytest.mark.parametrize("case", BAD_PLANS)
def test_C63_fail_if_proposed(case: str) -> None:
    """The tool's own error text, before it writes anything."""
    plan, words = BAD_PLANS[case]
    [line] = check(plan, EXISTING, (0, 1)).lines
    assert words in line
    assert check({ZERO: (1,)}, EXISTING, (0, 1)) is DONE


@in_virtual_time(seed=1)
async def test_C63_a_dead_broker_does_not_exist_to_the_tool_and_nothing_is_written() -> None:
    async with cluster(5, {"orders": [[0]]}, profile="kafka-2.4", controller=4) as c:
        await c.stop(3)
        with pytest.raises(KafkaError, match=r"^INVALID_REPLICA_ASSIGNMENT: no such brokers now: 3$"):
            await c.reassign({"orders-0": [1, 3]}, via="zk")
        await c.settled()
        assert c.znode("/admin/reassign_partitions") is None
        assert c.events(MoveStarted) == []


@in_virtual_time(seed=1)
async def test_C63_nor_does_a_topic_that_is_created_only_later() -> None:
    async with cluster(5, {"orders": [[0]]}, profile="kafka-2.4", controller=4) as c:
        with pytest.raises(KafkaError, match=r"^UNKNOWN_TOPIC_OR_PARTITION: no such partitions: late-5$"):
            await c.reassign({"late-5": [1, 2]}, via="zk")
        await c.create_topic("late", [[0]] * 6)
        await c.settled()
        assert c.znode("/admin/reassign_partitions") is None
        assert c.replicas("late-5") == [0]
        assert c.events(MoveStarted) == []
