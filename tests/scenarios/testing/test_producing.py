"""Producers of a test: batches under way, and numbered ones."""

from __future__ import annotations

import pytest

from emulator.protocol.errors import Errors
from scenarios.errors import BadInput
from scenarios.faults.actions.links import LinkCut, LinkHeal
from scenarios.testing import KafkaError, NotInTime, cluster, in_virtual_time

ORDERS = {"orders": [[0, 1, 2]]}


@in_virtual_time
async def test_a_batch_is_under_way_while_the_test_does_something_else() -> None:
    async with cluster(brokers=3, topics=ORDERS) as c:
        c.pause(0)
        handle = c.begin("orders-0", 5)
        await c.sleep("1s")
        assert not handle.done
        c.resume(0)
        assert await handle.result() == range(5)
        assert handle.partition == "orders-0"
        assert await handle.result() == range(5), "asked again, it says the same"


@in_virtual_time
async def test_what_a_handle_raises() -> None:
    async with cluster(brokers=3, topics=ORDERS, config={"min.insync.replicas": 3}) as c:
        c.crash(2)
        await c.until(lambda: c.isr("orders-0") == [0, 1])
        handle = c.begin("orders-0", within="2s")
        with pytest.raises(NotInTime, match="the batch to orders-0 has no answer within 1s"):
            await handle.result("1s")
        with pytest.raises(KafkaError, match="NOT_ENOUGH_REPLICAS"):
            await handle.result()


@in_virtual_time
async def test_a_numbered_batch_is_written_once() -> None:
    async with cluster(brokers=3, topics=ORDERS) as c:
        producer = c.producer(idempotent=True)
        handles = [producer.begin("orders-0", 2) for _ in range(3)]
        assert [await one.result() for one in handles] == [range(2), range(2, 4), range(4, 6)]
        assert (await c.list_offsets("orders-0")).end == 6


@in_virtual_time
async def test_a_batch_whose_answer_is_lost_is_written_once_if_it_is_numbered() -> None:
    written = {}
    for idempotent in (False, True):
        async with cluster(brokers=3, topics=ORDERS, checkers=()) as c:
            producer = c.producer(idempotent=idempotent)
            await producer.produce("orders-0")
            answers = {"peer": "clients", "direction": "from"}
            c.perform(LinkCut(**answers), 0)
            handle = producer.begin("orders-0", 2)
            await c.sleep("61s")
            c.perform(LinkHeal(**answers), 0)
            await handle.result()
            written[idempotent] = (await c.list_offsets("orders-0")).end
    assert written == {False: 5, True: 3}


@in_virtual_time
async def test_an_idempotent_producer_takes_no_other_acks() -> None:
    async with cluster(brokers=1, topics={"orders": [[0]]}) as c:
        with pytest.raises(BadInput, match="an idempotent producer sends to the leader with acks='all'"):
            c.producer(idempotent=True).begin("orders-0", acks="1")
        with pytest.raises(BadInput, match="records=0; write how many"):
            c.begin("orders-0", 0)


@in_virtual_time
async def test_offsets_and_reassignments() -> None:
    async with cluster(brokers=4, topics=ORDERS, profile="kafka-2.4") as c:
        await c.produce("orders-0", 3)
        assert await c.list_offsets("orders-0") == (0, 3)
        with c.gate("move.done", edge="before") as gate:
            await c.reassign({"orders-0": [1, 2, 3]})
            await gate.reached()
            assert await c.reassigning() == ["orders-0"]
            with pytest.raises(NotInTime, match="still being reassigned: orders-0"):
                await c.reassigned("1s")
        await c.reassigned()
        assert c.replicas("orders-0") == [1, 2, 3]
        for broker in (1, 2, 3):
            c.crash(broker)
        await c.until(lambda: c.leader("orders-0") == -1)
        with pytest.raises(KafkaError) as caught:
            await c.list_offsets("orders-0")
        assert caught.value.error is Errors.LEADER_NOT_AVAILABLE


@in_virtual_time
async def test_settings_are_removed_and_metrics_listed() -> None:
    async with cluster(brokers=1, topics={"orders": [[0]]}) as c:
        await c.alter_config({"retention.ms": 1000, "min.insync.replicas": 1}, topic="orders")
        await c.alter_config(remove=["retention.ms"], topic="orders")
        assert "retention.ms" not in (c.znode("/config/topics/orders") or "")
        assert "min.insync.replicas" in (c.znode("/config/topics/orders") or "")
        for wrong in ({}, {"remove": "retention.ms"}):
            with pytest.raises(BadInput, match="nothing is changed; write settings such as"):
                await c.alter_config(topic="orders", **wrong)  # type: ignore[arg-type]
        found = c.metrics(0)
        name = "kafka.server:type=ReplicaManager,name=LeaderCount"
        assert found[name] == c.metric(0, name) == 1
        assert list(found) == sorted(found)


@in_virtual_time
async def test_poll_counts_from_its_call_on_and_says_so() -> None:
    async with cluster(brokers=1, topics={"orders": [[0]]}) as c:
        consumer = c.consumer("orders-0")
        await c.produce("orders-0", 10)
        await c.until(lambda: consumer.records == 10)
        with pytest.raises(NotInTime, match=r"0 of 10 records .*c.until\(lambda: consumer.records == 20\) waits for a"):
            await consumer.poll(10, "1s")
