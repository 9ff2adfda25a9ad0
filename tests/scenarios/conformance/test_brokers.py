"""Cases of Kafka's integration suites about brokers, logs and elections that no other test has, by the public API
alone, of 2.4.1 unless named: LogRecoveryTest, EpochDrivenReplicationProtocolAcceptanceTest, ControllerIntegrationTest
and others."""

import pytest

from scenarios.errors import BadInput
from tests.scenarios.conformance.releases import RELEASE, RELEASES
from understudy.actions import DiskFail, LogDirOffline
from understudy.events import LogDirFailed
from understudy.protocol import (
    ElectionType,
    ElectLeadersRequest,
    EpochQuery,
    Errors,
    FetchPartition,
    FetchRequest,
    OffsetsForLeaderEpochRequest,
    TopicPartition,
)
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

TP = TopicPartition("t", 0)


def high_watermarks(c: ClusterInstance, *brokers: int) -> list[int | None]:
    logs = [c.log(broker, TP) for broker in brokers]
    return [None if log is None else log.high_watermark for log in logs]


def in_isr(c: ClusterInstance, size: int) -> bool:
    return len(c.isr(TP)) == size


def same(c: ClusterInstance, *brokers: int) -> bool:
    contents = []
    for broker in brokers:
        log = c.log(broker, TP)
        assert log is not None
        contents.append([(batch.base_offset, batch.leader_epoch, batch.id) for batch in log.batches])
    return all(content == contents[0] for content in contents)


# -- LogRecoveryTest --------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_hw_checkpoint_with_failures(release: str) -> None:
    """testHWCheckpointWithFailuresSingleLogSegment: each broker knows what was committed after a restart."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        await c.produce(TP)
        await c.until(lambda: high_watermarks(c, 0, 1) == [1, 1])
        await c.stop(0)
        await c.until(lambda: c.leader(TP) == 1)
        c.start(0)
        await c.until(lambda: in_isr(c, 2))
        assert high_watermarks(c, 0) == [1]
        await c.stop(1)
        await c.until(lambda: c.leader(TP) == 0)
        c.start(1)
        await c.until(lambda: in_isr(c, 2))
        await c.produce(TP)
        await c.until(lambda: high_watermarks(c, 0, 1) == [2, 2])
        await c.stop(1)
        await c.stop(0)
        c.start(0)
        await c.until(lambda: c.leader(TP) == 0 and high_watermarks(c, 0) == [2])


# -- EpochDrivenReplicationProtocolAcceptanceTest ---------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_not_allow_divergent_logs(release: str) -> None:
    """shouldNotAllowDivergentLogs, offsetsShouldNotGoBackwards: the leader's machine loses what it had not flushed
    while the other broker is down, and writes other records at these offsets before the other broker is back."""
    config = {"unclean.leader.election.enable": True}
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, config=config, checkers=False) as c:
        for _ in range(10):
            await c.produce(TP)
        c.crash(1)
        await c.until(lambda: c.isr(TP) == [0])
        c.crash(0, kind="host")
        await c.until(lambda: c.leader(TP) == -1)
        c.start(0)
        await c.until(lambda: c.leader(TP) == 0)
        for _ in range(3):
            await c.produce(TP, 2, size=2048)
        c.start(1)
        await c.until(lambda: in_isr(c, 2))
        assert same(c, 0, 1)


@RELEASES
@in_virtual_time
async def test_survive_fast_leader_change(release: str) -> None:
    """shouldSurviveFastLeaderChange: follower, then leader bounced, five times over; no record is lost."""
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        await c.produce(TP)
        for written in range(2, 7):
            leader = c.leader(TP)
            await c.produce(TP)
            for broker in (1 - leader, leader):
                await c.stop(broker)
                c.start(broker)
                await c.until(lambda: in_isr(c, 2))
            ends = [log.end_offset for log in (c.log(0, TP), c.log(1, TP)) if log is not None]
            assert ends == [written, written]
        assert same(c, 0, 1)


@pytest.mark.parametrize(
    "release",
    [
        "kafka-2.3",
        "kafka-2.4",
        "kafka-2.6",
        "kafka-2.7",
        "kafka-2.8",
        "kafka-3.0",
        "kafka-3.3",
        "kafka-3.6",
        "kafka-3.9",
    ],
)
@in_virtual_time
async def test_logs_do_not_diverge_on_unclean_leader_elections(release: str) -> None:
    """logsShouldNotDivergeOnUncleanLeaderElections (KIP-279): the brokers lead in turn, each without the other."""
    config = {"unclean.leader.election.enable": True}
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, config=config, checkers=False) as c:
        await c.produce(TP, acks="1")
        await c.until(lambda: same(c, 0, 1))
        await c.stop(0)
        await c.until(lambda: c.leader(TP) == 1)
        await c.produce(TP, acks="1")
        for back, records in ((0, 3), (1, 1), (0, 2)):
            await c.stop(1 - back)
            c.start(back)
            await c.until(lambda back=back: c.leader(TP) == back)  # type: ignore[misc]
            for _ in range(records):
                await c.produce(TP, acks="1", size=2048)
        c.start(1)
        await c.until(lambda: in_isr(c, 2))
        assert same(c, 0, 1)


# -- requests of readers ----------------------------------------------------------------------------------------------


@in_virtual_time
async def test_offsets_for_leader_epoch_error_codes() -> None:
    """OffsetsForLeaderEpochRequestTest.testOffsetsForLeaderEpochErrorCodes and testCurrentEpochValidation."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=RELEASE, controller=3) as c:

        async def error(broker: int, epoch: int, tp: TopicPartition = TP) -> Errors:
            response = await c.send(broker, OffsetsForLeaderEpochRequest(1, (EpochQuery(tp, epoch, 0),)))
            found: Errors = response.partitions[0].error
            return found

        assert await error(0, -1, TopicPartition("unknown", 0)) is Errors.UNKNOWN_TOPIC_OR_PARTITION
        assert await error(3, -1) is Errors.NOT_LEADER_FOR_PARTITION
        c.crash(0)
        await c.until(lambda: c.leader(TP) == 1 and c.metadata(2).leader(TP) == 1)
        now = c.leader_epoch(TP)
        for epoch, expected in ((-1, Errors.NONE), (now, Errors.NONE)):
            assert await error(1, epoch) is expected
            assert await error(2, epoch) is Errors.NOT_LEADER_FOR_PARTITION
        for broker in (1, 2):
            assert await error(broker, now - 1) is Errors.FENCED_LEADER_EPOCH
            assert await error(broker, now + 1) is Errors.UNKNOWN_LEADER_EPOCH


@in_virtual_time
async def test_current_epoch_validation_of_fetches() -> None:
    """FetchRequestTest.testCurrentEpochValidation and testEpochValidationWithinFetchSession, on the leader."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=RELEASE, controller=3) as c:
        c.crash(0)
        await c.until(lambda: c.leader(TP) == 1)
        await c.until(lambda: c.metadata(1).leader(TP) == 1)
        now = c.leader_epoch(TP)

        async def error(epoch: int) -> Errors:
            wanted = (FetchPartition(TP, epoch, 0, 0),)
            request = FetchRequest(-1, 0, 0, 0, 0, 1024, 1024, wanted, ())
            found: Errors = (await c.send(1, request)).partitions[0].error
            return found

        outcomes = [await error(epoch) for epoch in (-1, now, now - 1, now + 1)]
        assert outcomes == [Errors.NONE, Errors.NONE, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH]


# -- elections that an administrator asks for -------------------------------------------------------------------------


async def elected(c: ClusterInstance, type: ElectionType, *tps: TopicPartition) -> dict[TopicPartition, Errors]:
    response = await c.send(c.controller(), ElectLeadersRequest(type, tps or None))
    assert response.error is Errors.NONE
    return dict(response.partitions)


@in_virtual_time
async def test_elect_unclean_leaders_and_noop() -> None:
    """PlaintextAdminIntegrationTest.testElectUncleanLeaders(ForAllPartitions|AndNoop|ForUnknownPartitions), 2.7.2."""
    other, unknown = TopicPartition("t", 1), TopicPartition("t", 2)
    async with cluster(4, {"t": [[1, 2], [1, 0]]}, profile="kafka-2.7", controller=3) as c:
        await c.stop(2)
        await c.until(lambda: c.isr(TP) == [1])
        await c.stop(1)
        await c.until(lambda: (c.leader(TP), c.leader(other)) == (-1, 0))
        no_broker = await elected(c, ElectionType.UNCLEAN, TP)
        assert no_broker == {TP: Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE}
        c.start(2)
        await c.until(lambda: c.broker_epoch(2) >= 0)
        await c.settled()
        outcomes = await elected(c, ElectionType.UNCLEAN, TP, other, unknown)
        assert outcomes == {
            TP: Errors.NONE, other: Errors.ELECTION_NOT_NEEDED, unknown: Errors.UNKNOWN_TOPIC_OR_PARTITION
        }  # fmt: skip
        assert (c.leader(TP), c.isr(TP)) == (2, [2])
        assert await elected(c, ElectionType.UNCLEAN) == {}


# -- metadata and log directories -------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_metadata_propagation_for_offline_replicas(release: str) -> None:
    """ControllerIntegrationTest.testMetadataPropagationForOfflineReplicas: all brokers stop, the replica's one is the
    last but one to do so; the others are back without it."""
    async with cluster(3, {"t": [[1]]}, profile=release, controller=0) as c:
        for broker in (2, 1, 0):
            await c.stop(broker)
        for broker in (0, 2):
            c.start(broker)
            await c.until(lambda broker=broker: c.metadata(broker).partition(TP) is not None)  # type: ignore[misc]
            await c.settled()
            metadata = c.metadata(broker)
            assert (metadata.leader(TP), metadata.isr(TP), metadata.replicas(TP)) == (-1, [1], [1])
            assert metadata.offline_replicas(TP) == [1]


@pytest.mark.parametrize(("release", "moves"), [("kafka-2.6", False), ("kafka-2.7", True)])
@in_virtual_time
async def test_partition_reassignment_to_broker_with_offline_log_dir(release: str, moves: bool) -> None:
    """ControllerIntegrationTest.testPartitionReassignmentToBrokerWithOfflineLogDir, 2.7.2 (KAFKA-10314): before, the
    added replica is offline, and the reassignment stands still."""
    async with cluster(3, {"filler": [[1]], "t": [[0]]}, profile=release, controller=0, log_dirs=2) as c:
        c.perform(LogDirOffline(log_dir="/data/0"), 1)
        await c.settled()
        await c.reassign({"t-0": [1]}, via="zk")
        await c.settled()
        found = c.replicas(TP), c.leader(TP), c.leader_epoch(TP), c.znode("/admin/reassign_partitions") is None
        assert found == (([1], 1, 3, True) if moves else ([1, 0], 0, 1, False))


@RELEASES
@in_virtual_time
async def test_io_exception_during_checkpoint(release: str) -> None:
    """LogDirFailureTest.testIOExceptionDuringCheckpoint: a broker finds a disk that has failed as it writes the high
    watermarks, every five seconds, though nothing has changed; the other directory's replicas are led elsewhere."""
    topics = {"t": [[0, 1]], "u": [[0, 1]]}
    async with cluster(3, topics, profile=release, controller=2, log_dirs=2) as c:
        c.perform(DiskFail(log_dir="/data/0"), 0)
        await c.until(lambda: c.events(LogDirFailed), within="6s")
        await c.until(lambda: c.leader(TP) == 1)
        assert c.leader("u-0") == 0
        assert c.metadata(2).offline_replicas(TP) == [0]
        await c.produce(TP)
        await c.produce("u-0")


@in_virtual_time
async def test_a_log_directory_that_there_is_not_is_refused() -> None:
    async with cluster(1, {"t": [[0]]}, profile=RELEASE) as c:
        with pytest.raises(BadInput, match="broker 0 has no log directory /data/7"):
            c.perform(DiskFail(log_dir="/data/7"), 0)


@in_virtual_time
async def test_min_isr_and_too_few_replicas() -> None:
    """ProducerFailureHandlingTest.testNotEnoughReplicas and testNotEnoughReplicasAfterBrokerShutdown."""
    async with cluster(3, {"t": [[0, 1]]}, profile=RELEASE, controller=2) as c:
        await c.alter_config({"min.insync.replicas": 2}, topic="t")
        await c.settled()
        await c.produce(TP)
        await c.stop(1)
        with pytest.raises(KafkaError, match=r"^NOT_ENOUGH_REPLICAS"):
            await c.produce(TP, retries=False)
        assert list(await c.produce(TP, acks="1")) == [1]
