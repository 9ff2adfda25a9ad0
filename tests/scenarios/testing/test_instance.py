"""An instance: what a test can read of a cluster, and do to it."""

from collections.abc import Callable
from contextlib import nullcontext

import pytest

from emulator.protocol.events import BrokerRegistered, ControllerResigned, LeaderElected
from scenarios.language.actions import Action
from understudy import BadInput
from understudy.actions import (
    BrokerControlledShutdown,
    BrokerCrash,
    BrokerFailStartReplica,
    BrokerPause,
    DiskFail,
    FetcherFailPartition,
    Heal,
)
from understudy.protocol import Errors, LeaderAndIsrPartition, LeaderAndIsrRequest, MetadataRequest, TopicPartition
from understudy.testing import ClusterInstance, KafkaError, NotInTime, cluster, in_virtual_time

UNDER_REPLICATED = "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"
ORDERS = {"orders": [[0, 1, 2]]}


# -- state ------------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_state_is_what_zookeeper_and_brokers_have() -> None:
    async with cluster(topics={"orders": [[0, 1, 2], [1, 2, 0]]}, controller=2) as c:
        assert c.partitions() == ["orders-0", "orders-1"]
        assert (c.leader("orders-1"), c.isr("orders-1"), c.replicas("orders-1")) == (1, [1, 2, 0], [1, 2, 0])
        assert (c.leader_epoch("orders-0"), c.controller(), c.controller_epoch()) == (0, 2, 1)
        assert c.children("/brokers/ids") == ("0", "1", "2")
        assert c.znode("/controller_epoch") == "1"
        assert c.znode("/admin/reassign_partitions") is None
        known = c.metadata(0)
        assert (known.controller, known.live_brokers) == (2, (0, 1, 2))
        assert (known.leader("orders-1"), known.isr("orders-1"), known.offline_replicas("orders-1")) == (
            1,
            [1, 2, 0],
            [],
        )
        assert known.partitions == c.partitions()


@in_virtual_time
async def test_a_log_can_be_read_while_its_broker_is_down() -> None:
    async with cluster(topics=ORDERS) as c:
        await c.produce("orders-0", records=5)
        await c.settled()
        running = c.log(1, "orders-0")
        c.crash(1)
        stored = c.log(1, "orders-0")
    assert running is not None
    assert stored is not None
    assert (running.start_offset, running.end_offset, running.high_watermark) == (0, 5, 5)
    assert (stored.start_offset, stored.end_offset, stored.high_watermark) == (0, 5, None)
    assert stored.epochs == running.epochs == ((0, 0),)
    assert stored.batches == running.batches


@in_virtual_time
async def test_a_broker_without_the_replica_has_no_log() -> None:
    async with cluster(brokers=4, topics=ORDERS) as c:
        assert c.log(3, "orders-0") is None


@in_virtual_time
async def test_metrics_have_the_values_of_now() -> None:
    """Also those of requests, which are written every five seconds."""
    async with cluster(1, {"t": [[0]]}) as c:
        produced = "kafka.server:type=BrokerTopicMetrics,name=TotalProduceRequestsPerSec,topic=t"
        await c.produce("t-0")
        assert c.metric(0, produced) == 1
        await c.produce("t-0")
        assert c.metric(0, produced) == 2
        assert c.metric(0, "kafka.network:type=RequestMetrics,name=ErrorsPerSec,request=Produce,error=NONE") == 2


@in_virtual_time
async def test_metrics_have_kafka_s_names() -> None:
    async with cluster(topics=ORDERS) as c:
        assert c.metric(0, UNDER_REPLICATED) == 0
        c.crash(2)
        await c.until(lambda: c.metric(0, UNDER_REPLICATED) == 1)
        assert c.metric(0, "kafka.server:type=ReplicaManager,name=IsrShrinksPerSec") == 0
        assert c.metric(c.controller(), "kafka.controller:type=ControllerStats,name=LeaderElectionRateAndTimeMs") > 0


# -- clients ----------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_produce_returns_offsets_and_consume_reads_them() -> None:
    async with cluster(topics=ORDERS) as c:
        assert await c.produce("orders-0", records=3) == range(3)
        assert await c.produce("orders-0", records=2, acks=1) == range(3, 5)
        assert list(await c.produce("orders-0", acks="0")) == []
        assert await c.consume("orders-0", 6) == [0, 1, 2, 3, 4, 5]


@in_virtual_time
async def test_produce_follows_the_leader() -> None:
    async with cluster(topics=ORDERS) as c:
        await c.produce("orders-0")
        c.crash(0)
        assert await c.produce("orders-0") == range(1, 2)
        assert c.leader("orders-0") == 1


@in_virtual_time
async def test_produce_raises_kafka_s_error() -> None:
    async with cluster(topics=ORDERS, config={"min.insync.replicas": 3}) as c:
        with pytest.raises(KafkaError, match=r"^NOT_LEADER_FOR_PARTITION: produce to orders-0$") as caught:
            await c.produce("orders-0", broker=1, retries=False)
        assert caught.value.error is Errors.NOT_LEADER_FOR_PARTITION
        c.crash(2)
        await c.until(lambda: len(c.isr("orders-0")) == 2)
        with pytest.raises(KafkaError, match=r"^NOT_ENOUGH_REPLICAS: produce to orders-0 after \d+ attempts in 9"):
            await c.produce("orders-0", within="10s")


@in_virtual_time
async def test_a_consumer_that_starts_in_the_middle() -> None:
    async with cluster(topics=ORDERS) as c:
        await c.produce("orders-0", records=3)
        consumer = c.consumer("orders-0", offset_reset="latest")
        await c.sleep("1s")
        await c.produce("orders-0", records=2)
        await consumer.poll(2)
        assert consumer.offsets("orders-0") == [3, 4]
        consumer.close()
        with pytest.raises(NotInTime, match="the consumer got 0 of 1 records within 1s, 2 in all"):
            await consumer.poll(1, within="1s")


@in_virtual_time
async def test_a_workload_runs_in_the_background() -> None:
    load = {"topic": "orders", "producerRate": 100, "acks": "all"}
    async with cluster(topics=ORDERS, workloads=[load]) as c:
        await c.until(lambda: len(((log := c.log(2, "orders-0")) and log.batches) or ()) > 10)


# -- faults -----------------------------------------------------------------------------------------------------------


@in_virtual_time
async def test_a_broker_crashes_and_comes_back() -> None:
    async with cluster(topics=ORDERS, controller=1) as c:
        before = c.broker_epoch(0)
        c.crash(0)
        assert c.up() == [1, 2]
        await c.until(lambda: c.leader("orders-0") == 1)
        assert c.broker_epoch(0) == -1
        c.start(0)
        await c.until(lambda: c.isr("orders-0") == [1, 2, 0])
        assert c.broker_epoch(0) > before


@in_virtual_time
async def test_a_controlled_shutdown_moves_the_leader_first() -> None:
    async with cluster(topics=ORDERS, controller=1) as c:
        await c.stop(0)
        assert (c.leader("orders-0"), c.up()) == (1, [1, 2])
        [moved] = c.events(LeaderElected, lambda event: event.leader == 1)
        assert moved.t_us / 1e6 < c.now


@in_virtual_time
async def test_a_paused_broker_loses_its_session() -> None:
    async with cluster(topics=ORDERS, controller=1) as c:
        c.pause(0)
        await c.until(lambda: c.leader("orders-0") == 1)
        c.resume(0)
        await c.until(lambda: len(c.isr("orders-0")) == 3)


@in_virtual_time
async def test_an_expired_session_is_registered_again() -> None:
    async with cluster(topics=ORDERS) as c:
        c.expire(1)
        await c.until(lambda: len(c.events(BrokerRegistered, lambda event: event.node == 1)) == 2)


@in_virtual_time
async def test_links_are_cut_and_healed() -> None:
    async with cluster(topics=ORDERS, controller=0) as c:
        c.cut(1, 0)
        await c.produce("orders-0", acks="1")
        await c.until(lambda: c.isr("orders-0") == [0, 2], within="1m")
        c.heal(1, 0)
        await c.until(lambda: sorted(c.isr("orders-0")) == [0, 1, 2])
        c.cut(2, "zookeeper")
        await c.until(lambda: c.metadata(0).live_brokers == (0, 1), within="1m")


@in_virtual_time
async def test_every_action_of_a_scenario_can_be_performed() -> None:
    async with cluster(topics=ORDERS, controller=2) as c:
        c.perform(DiskFail(), "leader(orders-0)")
        await c.produce("orders-0")
        await c.until(lambda: c.leader("orders-0") == 1)


@in_virtual_time
async def test_the_controller_s_thread_can_be_held() -> None:
    async with cluster(topics=ORDERS, controller=0) as c:
        with c.hold_controller():
            c.crash(2)
            await c.produce("orders-0", acks="1")
            await c.create_topic("late", [[0, 1]])
            await c.sleep("1m")
            assert c.leader("late-0") == -1
            assert c.isr("orders-0") == [0, 1], "the leader's own shrink"
            assert c.metadata(1).live_brokers == (0, 1, 2)
        await c.until(lambda: c.leader("late-0") == 0 and c.metadata(1).live_brokers == (0, 1))


@in_virtual_time
async def test_a_step_is_held_at_its_gate() -> None:
    async with cluster(brokers=4, topics=ORDERS, profile="kafka-2.4", controller=3) as c:
        with c.gate("kip-455.B3", edge="before", partition="orders-0") as gate:
            await c.reassign({"orders-0": [1, 2, 3]})
            visit = await gate.reached()
            assert visit.process.node.id == c.controller() == 3
            await c.sleep("1m")
            assert c.replicas("orders-0") == [1, 2, 3, 0]
        await c.until(lambda: c.replicas("orders-0") == [1, 2, 3])


# -- requests and tools -----------------------------------------------------------------------------------------------


@in_virtual_time
async def test_any_request_can_be_sent() -> None:
    async with cluster(topics=ORDERS, controller=0) as c:
        response = await c.send(1, MetadataRequest(None))
        assert response.live_brokers == (0, 1, 2)
        stale = LeaderAndIsrRequest(0, c.controller_epoch() - 1, c.broker_epoch(1), (), ())
        assert (await c.send(1, stale)).error is Errors.STALE_CONTROLLER_EPOCH
        c.crash(1)
        with pytest.raises(KafkaError, match="REQUEST_TIMED_OUT: broker 1 has not answered within 2 s"):
            await c.send(1, MetadataRequest(None), within="2s")


@in_virtual_time
async def test_topics_are_created_enlarged_and_deleted() -> None:
    async with cluster(config={"delete.topic.enable": True}) as c:
        await c.create_topic("orders", [[0, 1]], {"min.insync.replicas": 2})
        await c.until(lambda: c.leader("orders-0") == 0)
        await c.create_partitions("orders", 2, [[1, 2]])
        await c.until(lambda: c.leader("orders-1") == 1)
        with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS: orders"):
            await c.create_topic("orders", [[0]])
        await c.delete_topic("orders")
        await c.until(lambda: c.znode("/brokers/topics/orders") is None)
        assert (c.leader("orders-0"), c.replicas("orders-0")) == (-1, [])


@in_virtual_time
async def test_a_reassignment_that_is_refused_raises_the_error() -> None:
    async with cluster(topics=ORDERS, profile="kafka-2.6") as c:
        with pytest.raises(KafkaError, match="INVALID_REPLICA_ASSIGNMENT"):
            await c.reassign({"orders-0": [0, 7]})
        with pytest.raises(KafkaError, match="NO_REASSIGNMENT_IN_PROGRESS"):
            await c.cancel_reassignment()


@in_virtual_time
async def test_preferred_replicas_are_elected() -> None:
    async with cluster(topics=ORDERS, controller=1) as c:
        await c.stop(0)
        c.start(0)
        await c.until(lambda: 0 in c.isr("orders-0"))
        await c.elect_preferred("orders-0")
        await c.until(lambda: c.leader("orders-0") == 0)


@in_virtual_time
async def test_settings_change_while_it_runs() -> None:
    async with cluster(topics=ORDERS, controller=1) as c:
        await c.alter_config({"min.insync.replicas": 3}, topic="orders")
        c.crash(2)
        await c.until(lambda: len(c.isr("orders-0")) == 2)
        with pytest.raises(KafkaError, match="NOT_ENOUGH_REPLICAS"):
            await c.produce("orders-0", retries=False)


@pytest.mark.parametrize(
    ("action", "refused"),
    [
        (Heal(), ""),
        (DiskFail(partition="orders-0"), "broker 0 has no replica of orders-0"),
        (FetcherFailPartition(partition="orders-0"), "broker 0 has no replica of orders-0"),
        (BrokerFailStartReplica(partition="orders-0"), "broker 0 was started at this very instant"),
        (BrokerControlledShutdown(), ""),
        (BrokerPause(), ""),
        (BrokerCrash(), ""),
    ],
)
@in_virtual_time
async def test_a_broker_that_was_just_started_can_be_acted_on(action: Action, refused: str) -> None:
    async with cluster(topics=ORDERS, controller=1) as c:
        c.crash(0)
        await c.until(lambda: c.leader("orders-0") == 1)
        c.start(0)
        with pytest.raises(BadInput, match=refused) if refused else nullcontext():
            c.perform(action, None if isinstance(action, Heal) else 0)
        c.perform(Heal())
        await c.until(lambda: c.isr("orders-0") == [1, 2, 0])


@in_virtual_time
async def test_znodes_are_written_by_hand() -> None:
    async with cluster(topics=ORDERS, controller=0) as c:
        await c.zk.delete("/controller")
        await c.until(lambda: c.controller_epoch() == 2)
        assert c.events(ControllerResigned, lambda event: event.node == 0) or c.controller() == 0


# -- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "ask"),
    [
        ("unknown partition 'ordres-0'; did you mean 'orders-0'?", lambda c: c.leader("ordres-0")),
        ("unknown partition 'orders-3'; did you mean 'orders-0'?", lambda c: c.isr(TopicPartition("orders", 3))),
        ("'orders' is no partition name; write it as \"topic-number\"", lambda c: c.replicas("orders")),
        ("unknown broker 7; the brokers are 0 to 2", lambda c: c.crash(7)),
        ("broker.start: broker 1 is not down", lambda c: c.start(1)),
        ("did you mean 'kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions'?",
         lambda c: c.metric(0, "UnderReplicatedPartition")),
        ("unknown step 'kip-455.B99'; ", lambda c: c.gate("kip-455.B99")),
        ("strategy 'wiki', that of profile 'kafka-2.3', has no step 'kip-455.B3'", lambda c: c.gate("kip-455.B3")),
    ],
)  # fmt: skip
@in_virtual_time
async def test_unknown_names_are_refused_in_one_line(words: str, ask: Callable[[ClusterInstance], object]) -> None:
    async with cluster(topics=ORDERS, profile="kafka-2.3") as c:
        with pytest.raises(BadInput) as caught:
            ask(c)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@in_virtual_time
async def test_a_broker_that_is_down_shows_nothing() -> None:
    async with cluster() as c:
        c.crash(1)
        with pytest.raises(BadInput, match="broker 1 is down"):
            c.metadata(1)


@in_virtual_time
async def test_an_unknown_setting_is_refused_at_once() -> None:
    with pytest.raises(BadInput, match=r"cluster\.config.*did you mean 'min.insync.replicas'"):
        cluster(config={"min.insync.replica": 2})


@in_virtual_time
async def test_requests_of_the_protocol_can_be_built() -> None:
    async with cluster(topics=ORDERS, controller=0, checkers=False) as c:
        tp = TopicPartition("orders", 0)
        state = LeaderAndIsrPartition(tp, 1, 1, 5, (0, 1, 2), 0, (0, 1, 2), False)
        request = LeaderAndIsrRequest(0, 1, c.broker_epoch(1), (state,), (0, 1, 2))
        response = await c.send(1, request)
        assert (response.error, response.partitions) == (Errors.NONE, ((tp, Errors.NONE),))
