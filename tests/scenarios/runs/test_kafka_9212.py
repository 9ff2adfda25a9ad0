"""KAFKA-9212 as a consumer sees it."""

import pytest

from understudy.testing import cluster, in_virtual_time


@pytest.mark.parametrize(("profile", "starved"), [("kafka-1.1", False), ("kafka-2.3", True), ("kafka-2.4", False)])
@in_virtual_time(seed=1)
async def test_a_consumer_that_starts_during_a_move(profile: str, starved: bool) -> None:
    """Real Kafka 2.3.1: it reads nothing for 16 s and more, until the move ends (2 of 2 runs); 2.4.1: everything at
    once. The consumers of 1.1 do not name an epoch."""
    async with cluster(5, {"orders": [[0, 1, 2]]}, profile=profile) as c:
        await c.produce("orders-0", records=100)
        c.cut(3, 0)
        await c.reassign({"orders-0": [0, 1, 3]})
        await c.until(lambda: c.leader_epoch("orders-0") == 1)
        consumer = c.consumer("orders-0")
        await c.sleep("16s")
        assert len(consumer.offsets("orders-0")) == (0 if starved else 100)
        c.heal(3, 0)
        await c.until(lambda: c.replicas("orders-0") == [0, 1, 3])
        await c.until(lambda: len(consumer.offsets("orders-0")) == 100, within="1s")


@pytest.mark.parametrize(("profile", "starved"), [("kafka-2.3", True), ("kafka-2.4", False)])
@in_virtual_time(seed=1)
async def test_a_consumer_after_a_move_that_only_changes_the_order(profile: str, starved: bool) -> None:
    """The leader stays, and no ISR changes that could be announced: the old epoch stays in the metadata, until the next
    election."""
    async with cluster(4, {"orders": [[0, 1, 2]]}, profile=profile) as c:
        await c.produce("orders-0", records=100)
        await c.reassign({"orders-0": [0, 2, 1]})
        await c.settled()
        consumer = c.consumer("orders-0")
        await c.sleep("60s")
        assert len(consumer.offsets("orders-0")) == (0 if starved else 100)
        c.crash(0)
        await c.until(lambda: len(consumer.offsets("orders-0")) == 100)
