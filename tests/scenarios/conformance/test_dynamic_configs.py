"""Cases of DynamicBrokerReconfigurationTest, DynamicConfigChangeTest and DynamicConfigTest (2.3.1 and 2.7.2) about
settings that replication depends on, changed while the cluster runs."""

import pytest

from understudy.protocol import Errors, TopicPartition
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

RELEASES = pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7"])
TP = TopicPartition("t", 0)
UNCLEAN = "unclean.leader.election.enable"


async def produce_fails(c: ClusterInstance, tp: TopicPartition) -> bool:
    try:
        await c.produce(tp, retries=False)
    except KafkaError as error:
        return error.error is Errors.NOT_ENOUGH_REPLICAS
    return False


@RELEASES
@in_virtual_time
async def test_default_topic_config(release: str) -> None:
    """testDefaultTopicConfig: existing logs take what all brokers get; what a topic has of its own stays."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, checkers=False) as c:
        await c.create_topic("own", [[0, 1]], {"min.insync.replicas": 1})
        await c.settled()
        own = TopicPartition("own", 0)
        await c.stop(1)
        await c.settled()
        assert not await produce_fails(c, TP)
        await c.alter_config({"min.insync.replicas": 2})
        await c.settled()
        assert await produce_fails(c, TP)
        assert not await produce_fails(c, own)
        await c.alter_config({"min.insync.replicas": 1}, broker=0)
        await c.settled()
        assert not await produce_fails(c, TP)
        await c.alter_config({"min.insync.replicas": 2}, topic="own")
        await c.settled()
        assert await produce_fails(c, own)


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.4", "kafka-2.5", "kafka-2.6", "kafka-2.7"])
@in_virtual_time
async def test_unclean_leader_election_enable(release: str) -> None:
    """testUncleanLeaderElectionEnable: for all brokers. The new leader lacks what only the old one had."""
    async with cluster(3, {"t": [[1, 2]]}, profile=release, controller=0, checkers=False) as c:
        await c.produce(TP, 10)
        await c.settled()
        await c.stop(2)
        await c.produce(TP, 10)
        await c.stop(1)
        c.start(2)
        await c.settled()
        assert c.leader(TP) == -1
        await c.alter_config({UNCLEAN: True})
        await c.until(lambda: c.leader(TP) == 2)
        await c.settled()
        assert list(await c.produce(TP, 10)) == list(range(10, 20))
        c.start(1)
        await c.until(lambda: sorted(c.isr(TP)) == [1, 2])
        logs = [c.log(broker, TP) for broker in (1, 2)]
        contents = [(log.batches, log.epochs) for log in logs if log is not None]
        assert contents == [contents[0]] * 2


@RELEASES
@in_virtual_time
async def test_thread_pool_resize(release: str) -> None:
    """testThreadPoolResize and verifyMarkPartitionsForTruncation: fetchers that change their number under load lose
    nothing, and each partition is fetched on."""
    tps = [TopicPartition("t", number) for number in range(8)]
    async with cluster(3, {"t": [[0, 1, 2]] * 8}, profile=release, controller=2) as c:
        written = 0
        for number in (2, 4, 3, 1):
            await c.alter_config({"num.replica.fetchers": number})
            for tp in tps:
                await c.produce(tp, 3)
            written += 3
            await c.settled()
            for tp in tps:
                ends = [log.end_offset for log in (c.log(broker, tp) for broker in range(3)) if log is not None]
                assert ends == [written] * 3
                assert sorted(c.isr(tp)) == [0, 1, 2]


@RELEASES
@in_virtual_time
async def test_dynamic_topic_config_change(release: str) -> None:
    """testConfigChange, testDynamicTopicConfigChange: the size of segments, on leader and followers."""
    config = {"log.retention.check.interval.ms": 1000, "log.segment.delete.delay.ms": 1000}
    async with cluster(3, {}, profile=release, controller=2, config=config) as c:
        await c.create_topic("t", [[0, 1]], {"segment.bytes": 1_000_000, "retention.bytes": 5_000})
        await c.settled()
        for _ in range(20):
            await c.produce(TP, 1, size=1_000)
        await c.sleep("40s")
        assert [log.start_offset for log in (c.log(0, TP), c.log(1, TP)) if log is not None] == [0, 0]
        await c.alter_config({"segment.bytes": 2_000}, topic="t")
        for _ in range(5):
            await c.produce(TP, 1, size=1_000)
        await c.sleep("40s")
        starts = [log.start_offset for log in (c.log(0, TP), c.log(1, TP)) if log is not None]
        assert [start >= 20 for start in starts] == [True, True]
        assert list(await c.produce(TP)) == [25]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.7"])
@in_virtual_time
async def test_config_change_reaches_brokers_that_start_later(release: str) -> None:
    """DynamicConfigChangeTest.testQuotaInitialization and testProcessNotification, for the settings of topics: a broker
    that was down reads them as it starts."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, checkers=False) as c:
        await c.stop(0)
        await c.alter_config({"min.insync.replicas": 2}, topic="t")
        await c.settled()
        c.start(0)
        await c.until(lambda: len(c.isr(TP)) == 2)
        await c.elect_preferred()
        await c.until(lambda: c.leader(TP) == 0)
        await c.settled()
        assert not await produce_fails(c, TP)
        await c.stop(1)
        await c.settled()
        assert await produce_fails(c, TP)


@RELEASES
@in_virtual_time
async def test_a_topic_comes_back_without_the_settings_that_it_had(release: str) -> None:
    """DeleteTopicTest.testRecreateTopicAfterDeletion, and what TopicCommandTest expects of a topic's settings."""
    async with cluster(3, {"u": [[0, 1]]}, profile=release, controller=2, checkers=False) as c:
        own = TopicPartition("own", 0)
        await c.create_topic("own", [[0]], {"min.insync.replicas": 2, "retention.ms": 1000})
        await c.settled()
        assert await produce_fails(c, own)
        await c.delete_topic("own")
        await c.until(lambda: c.znode("/brokers/topics/own") is None and not c.children("/admin/delete_topics"))
        assert c.znode("/config/topics/own") is None
        await c.create_topic("own", [[0]])
        await c.settled()
        assert not await produce_fails(c, own)
        await c.sleep("10m")
        log = c.log(0, own)
        assert log is not None
        assert (log.start_offset, log.end_offset) == (0, 1)


@RELEASES
@in_virtual_time
async def test_log_retention_of_all_brokers(release: str) -> None:
    """testDefaultTopicConfig for log.retention.ms: what there is goes by the new setting, on leaders and followers."""
    config = {"log.retention.check.interval.ms": 1000, "log.roll.ms": 2000}
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, config=config) as c:
        for _ in range(3):
            await c.produce(TP)
            await c.sleep("3s")
        await c.sleep("1m")
        assert [log.start_offset for log in (c.log(0, TP), c.log(1, TP)) if log is not None] == [0, 0]
        await c.alter_config({"log.retention.ms": 10_000})
        await c.sleep("10s")
        assert [log.start_offset for log in (c.log(0, TP), c.log(1, TP)) if log is not None] == [3, 3]
        assert list(await c.produce(TP)) == [3]
