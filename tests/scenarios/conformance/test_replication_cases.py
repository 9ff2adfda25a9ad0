"""Replication, logs and moves as Kafka's integration and system tests have them (1.1.1 to 3.9.0), by the public API:
LogDirFailureTest, ServerShutdownTest, LeaderEpochIntegrationTest, ReplicaFetchTest, ReplicaManagerConcurrencyTest,
ReassignPartitionsIntegrationTest, TopicCommandTest, DeleteTopicTest, and tests/kafkatest."""

import pytest

from tests.scenarios.conformance.releases import RELEASES, WITH_API
from understudy.actions import DiskFail, HostIsolate, HostReconnect, LogDirOffline, ZooKeeperStart, ZooKeeperStop
from understudy.protocol import (
    EpochQuery,
    Errors,
    FetchPartition,
    FetchRequest,
    ListPartitionReassignmentsRequest,
    OffsetsForLeaderEpochRequest,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)
UNDER = "kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions"


def ends(c: ClusterInstance, name: str, *brokers: int) -> list[int | None]:
    logs = [c.log(broker, name) for broker in brokers]
    return [None if log is None else log.end_offset for log in logs]


# -- LogDirFailureTest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rolls", [True, False])
@RELEASES
@in_virtual_time
async def test_produce_error_from_failure(release: str, rolls: bool) -> None:
    """testProduceErrorFromFailureOnLogRoll, ...OnCheckpoint: the first producer that meets the failed disk, or that
    comes after the broker has met it, gets an error at once."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, log_dirs=2) as c:
        await c.produce(TP)
        c.perform(DiskFail(log_dir="/data/0"), 0)
        if not rolls:
            await c.sleep("6s")
        began = c.now
        with pytest.raises(KafkaError, match=r"^(KAFKA_STORAGE_ERROR|NOT_LEADER)"):
            await c.produce(TP, broker=0, retries=False)
        assert c.now - began < 6
        await c.until(lambda: c.leader(TP) == 1)
        assert list(await c.produce(TP)) == [1]
        await c.until(lambda: c.metadata(2).offline_replicas(TP) == [0])
        assert c.children("/log_dir_event_notification") == ()


@RELEASES
@in_virtual_time
async def test_replica_fetcher_thread_after_log_dir_failure_on_follower(release: str) -> None:
    """testReplicaFetcherThreadAfterLogDirFailureOnFollower: the thread goes on for its other partitions."""
    topics = {"t": [[0, 1]], "u": [[0, 1]]}
    async with cluster(3, topics, profile=release, controller=2, log_dirs=2) as c:
        c.perform(LogDirOffline(log_dir="/data/0"), 1)
        await c.until(lambda: c.isr(TP) == [0], within="1m")
        for _ in range(3):
            await c.produce("u-0")
        assert (sorted(c.isr("u-0")), ends(c, "u-0", 0, 1)) == ([0, 1], [3, 3])
        dead = "kafka.server:type=ReplicaFetcherManager,name=DeadThreadCount,clientId=Replica"
        assert c.metrics(1).get(dead, 0) == 0


# -- ServerShutdownTest -----------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_clean_shutdown(release: str) -> None:
    """testCleanShutdown: what was written before is there, and all goes on."""
    async with cluster(1, {"t": [[0]]}, profile=release) as c:
        for _ in range(2):
            await c.produce(TP)
        await c.stop(0)
        c.start(0)
        await c.until(lambda: c.leader(TP) == 0)
        assert await c.consume(TP, 2) == [0, 1]
        for _ in range(2):
            await c.produce(TP)
        assert await c.consume(TP, 4) == [0, 1, 2, 3]


@pytest.mark.parametrize("release", ["kafka-3.0", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_clean_shutdown_with_zk_unavailable(release: str) -> None:
    """testCleanShutdownWithZkUnavailable (KAFKA-9189, 3.0)."""
    async with cluster(1, {}, profile=release) as c:
        c.perform(ZooKeeperStop())
        await c.stop(0, within="10s")
        c.perform(ZooKeeperStart())
        c.start(0)
        await c.create_topic("t", [[0]])
        await c.until(lambda: c.leader(TP) == 0, within="1m")


@RELEASES
@in_virtual_time
async def test_controller_shutdown_during_send(release: str) -> None:
    """testControllerShutdownDuringSend: while a broker does not answer its LeaderAndIsr, the controller's broker ends
    without waiting for the time-out of the request."""
    async with cluster(3, {}, profile=release, controller=0) as c:
        c.pause(1)
        await c.create_topic("t", [[1, 2]])
        await c.sleep("1s")
        began = c.now
        c.stop_uncontrolled(0)
        await c.until(lambda: c.up() == [1, 2] and c.controller() != 0)
        assert c.now - began < 20
        c.resume(1)
        await c.until(lambda: c.controller() > 0 and c.leader(TP) > 0)
        await c.produce(TP)


# -- LeaderEpochIntegrationTest, ReplicaFetchTest ---------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_should_increase_leader_epoch_between_leader_restarts(release: str) -> None:
    """shouldIncreaseLeaderEpochBetweenLeaderRestarts, shouldAddCurrentLeaderEpochToMessagesAsTheyAreWrittenToLeader,
    shouldSendLeaderEpochRequestAndGetAResponse: by the only replica."""
    async with cluster(2, {"t": [[1]]}, profile=release, controller=0) as c:

        async def epoch_end(epoch: int) -> tuple[Errors, int, int]:
            answer = await c.send(1, OffsetsForLeaderEpochRequest(0, (EpochQuery(TP, -1, epoch),)))
            [found] = answer.partitions
            return found.error, found.leader_epoch, found.end_offset

        await c.produce(TP)
        assert await epoch_end(0) == (Errors.NONE, 0, 1)
        for _ in range(2):
            await c.stop(1)
            await c.until(lambda: c.leader(TP) == -1)
            c.start(1)
            await c.until(lambda: c.leader(TP) == 1)
            await c.produce(TP)
        log = c.log(1, TP)
        assert log is not None
        assert log.epochs == ((0, 0), (2, 1), (4, 2))
        assert [batch.leader_epoch for batch in log.batches] == [0, 2, 4]
        assert [await epoch_end(epoch) for epoch in range(6)] == [
            (Errors.NONE, 0, 1), (Errors.NONE, 0, 1), (Errors.NONE, 2, 2), (Errors.NONE, 2, 2), (Errors.NONE, 4, 3),
            (Errors.NONE, -1, -1),
        ]  # fmt: skip


@RELEASES
@in_virtual_time
async def test_replica_fetcher_thread(release: str) -> None:
    """ReplicaFetchTest.testReplicaFetcherThread: two topics, of which both brokers get all."""
    async with cluster(2, {"foo": [[0, 1]], "bar": [[0, 1]]}, profile=release) as c:
        for name in ("foo-0", "bar-0"):
            for _ in range(2):
                await c.produce(name, acks="1")
        await c.until(lambda: [ends(c, name, 0, 1) for name in ("foo-0", "bar-0")] == [[2, 2]] * 2, within="10s")


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_isr_expand_and_shrink_with_concurrent_produce(release: str) -> None:
    """ReplicaManagerConcurrencyTest.testIsrExpandAndShrinkWithConcurrentProduce: a follower comes and goes while
    records are written with acks=all; each is acknowledged, in order."""
    load = {"topic": "t", "producerRate": 100, "messageSize": 100}
    config = {"replica.lag.time.max.ms": 2000}
    async with cluster(3, {"t": [[0, 1, 2]]}, profile=release, controller=0, workloads=[load], config=config) as c:
        for _ in range(4):
            c.cut(2, 0)
            await c.until(lambda: 2 not in c.isr(TP), within="1m")
            c.heal(2, 0)
            await c.until(lambda: 2 in c.isr(TP), within="1m")
        before = c.log(0, TP)
        assert before is not None
        await c.until(lambda: (c.log(1, TP) or before).end_offset > before.end_offset)


# -- ReassignPartitionsIntegrationTest, TopicCommandTest --------------------------------------------------------------


async def slow(c: ClusterInstance, *brokers: int) -> None:
    """Throttle these followers of the topic t to a byte a second; the first batch passes the quota."""
    await c.alter_config({"follower.replication.throttled.replicas": "*"}, topic="t")
    for broker in brokers:
        await c.alter_config({"follower.replication.throttled.rate": 1}, broker=broker)
    await c.settled()


@WITH_API
@in_virtual_time
async def test_cancellation_with_adding_replica_in_isr(release: str) -> None:
    """testCancellationWithAddingReplicaInIsr (3.6.2): of two replicas that are being added, one is in the ISR; the
    cancellation takes both away, also from 2.6 to 3.4.0, since that raises the leader epoch (KAFKA-13972)."""
    async with cluster(6, {"t": [[0, 1, 2]]}, profile=release, controller=5) as c:
        for _ in range(20):
            await c.produce(TP, 10, size=10_000)
        await slow(c, 4)
        await c.reassign({"t-0": [0, 3, 4]}, via="api")
        await c.until(lambda: sorted(c.isr(TP)) == [0, 1, 2, 3])
        await c.cancel_reassignment(TP)
        await c.until(lambda: (c.replicas(TP), sorted(c.isr(TP))) == ([0, 1, 2], [0, 1, 2]))
        await c.alter_config(remove=["follower.replication.throttled.rate"], broker=4)
        await c.settled()
        assert [c.log(broker, TP) for broker in (3, 4)] == [None, None]
        assert (await c.send(5, ListPartitionReassignmentsRequest(None))).partitions == ()


@WITH_API
@in_virtual_time
async def test_is_not_under_replicated_when_adding(release: str) -> None:
    """testIsNotUnderReplicatedWhenAdding (2.7.2; the metric of brokers: KIP-352, 2.5): a replica that is being added is
    not counted as missing. Up to 2.4 it is."""
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        for _ in range(20):
            await c.produce(TP, 10, size=10_000)
        await slow(c, 2)
        await c.reassign({"t-0": [0, 1, 2]}, via="api")
        await c.until(lambda: len(c.replicas(TP)) == 3)
        await c.sleep("2s")
        assert c.metric(0, UNDER) == (release == "kafka-2.4")
        await c.alter_config({"follower.replication.throttled.rate": 10**9}, broker=2)
        await c.until(lambda: sorted(c.isr(TP)) == [0, 1, 2])
        assert c.metric(0, UNDER) == 0


@WITH_API
@in_virtual_time
async def test_produce_and_consume_with_reassignment_in_progress(release: str) -> None:
    """testProduceAndConsumeWithReassignmentInProgress: a throttled move holds back no client. (Up to 2.3 a consumer
    that begins then waits for its end: KAFKA-9212.)"""
    async with cluster(4, {"t": [[0, 2, 1]]}, profile=release) as c:
        for _ in range(60):
            await c.produce(TP, 10, size=10_000)
        await slow(c, 3)
        await c.reassign({"t-0": [3, 2, 1]})
        for _ in range(10):
            await c.produce(TP, 10)
        assert len(await c.consume(TP, 700)) == 700
        assert sorted(c.isr(TP)) == [0, 1, 2]
        await c.alter_config(remove=["follower.replication.throttled.rate"], broker=3)
        await c.until(lambda: (c.replicas(TP), sorted(c.isr(TP))) == ([3, 2, 1], [1, 2, 3]))


# -- DeleteTopicTest --------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_delete_topic_with_cleaner(release: str) -> None:
    """testDeleteTopicWithCleaner: compaction is under way in the topic."""
    config = {"cleanup.policy": "compact", "segment.bytes": 2_000, "min.cleanable.dirty.ratio": 0.01}
    async with cluster(3, {}, profile=release, config={"log.cleaner.backoff.ms": 100}) as c:
        await c.create_topic("t", [[0, 1, 2]], config)
        await c.until(lambda: len(c.isr(TP)) == 3)
        for _ in range(20):
            await c.produce(TP, 10, size=100)
        await c.sleep("1s")
        await c.delete_topic("t")
        await c.until(lambda: not c.children("/admin/delete_topics") and c.partitions() == [])
        assert ends(c, "t-0", 0, 1, 2) == [None] * 3


# -- tests/kafkatest --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.4", "kafka-2.7", "kafka-3.3", "kafka-3.9"])
@in_virtual_time
async def test_offset_truncate(release: str) -> None:
    """client/truncation_test.py (KIP-320): an unclean leader cuts what a consumer has read; the consumer finds out, and
    does not begin again at the start of the log."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, checkers=False) as c:
        for _ in range(5):
            await c.produce(TP)
        consumer = c.consumer(TP)
        await consumer.poll(5)
        await c.stop(0)
        await c.until(lambda: c.leader(TP) == 1)
        for _ in range(10):
            await c.produce(TP)
        await c.until(lambda: consumer.records == 15)
        await c.stop(1)
        await c.until(lambda: c.leader(TP) == -1)
        c.start(0)
        await c.alter_config({"unclean.leader.election.enable": True}, topic="t")
        await c.until(lambda: c.leader(TP) == 0)
        c.start(1)
        await c.until(lambda: len(c.isr(TP)) == 2)
        assert ends(c, "t-0", 0, 1) == [5, 5]
        for _ in range(8):
            await c.produce(TP)
        await c.sleep("5s")
        offsets = consumer.offsets(TP)
        assert offsets[:15] == list(range(15))
        assert 0 not in offsets[15:]
        assert await c.consume(TP, 13) == list(range(13))


@pytest.mark.parametrize("release", ["kafka-2.3", "kafka-2.7", "kafka-3.9"])
@in_virtual_time
async def test_round_trip_workload_with_broker_partition(release: str) -> None:
    """core/round_trip_fault_test.py: a broker is cut off from all others, then another one, then one is killed; all
    that is written is read."""
    topic = {"assignment": [[0, 1, 2]], "config": {"min.insync.replicas": 2}}
    async with cluster(3, {"t": topic}, profile=release) as c:
        written = 0

        async def goes_on() -> None:
            nonlocal written
            for _ in range(3):
                await c.produce(TP, 5, within="2m")
                written += 5

        await goes_on()
        for broker in (0, 1):
            c.perform(HostIsolate(), broker)
            await c.until(lambda broker=broker: c.leader(TP) not in (broker, -1), within="1m")  # type: ignore[misc]
            await goes_on()
            c.perform(HostReconnect(), broker)
            await c.until(lambda: len(c.isr(TP)) == 3, within="2m")
        c.crash(2)
        await c.until(lambda: c.leader(TP) in (0, 1), within="1m")
        await goes_on()
        assert len(await c.consume(TP, written)) == written


@pytest.mark.parametrize("position", [5, 15])
@in_virtual_time
async def test_fetch_beyond_and_at_the_end(position: int) -> None:
    """ReplicaManagerTest.testOffsetOutOfRangeExceptionWhenFetchMessages, UnifiedLogTest.testReadOutOfRange."""
    async with cluster(1, {"t": [[0]]}, profile="kafka-3.9") as c:
        for _ in range(5):
            await c.produce(TP)
        wanted = (FetchPartition(TP, -1, position, 0),)
        answer = await c.send(0, FetchRequest(-1, 0, -1, 0, 0, 1024, 1024, wanted, ()))
        [found] = answer.partitions
        assert (found.error, found.batches) == (Errors.NONE if position == 5 else Errors.OFFSET_OUT_OF_RANGE, ())
