"""Cases of Kafka's suites about single requests that no other test has, by the public API: ListOffsetsRequestTest,
FetchRequestTest, the tests of log directories, KafkaApisTest and UncleanLeaderElectionTest, of 2.7.2 unless named."""

import pytest

from emulator.protocol.clients.fetch import DEBUGGING_CONSUMER, FINAL_EPOCH, ConsumerFetchRequest, PartitionData
from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from tests.scenarios.conformance.releases import RELEASES
from understudy.actions import LogDirOffline
from understudy.protocol import (
    Errors,
    TopicPartition,
)
from understudy.testing import ClusterInstance, cluster, in_virtual_time

TP = TopicPartition("t", 0)
UNKNOWN, NOT_LEADER = Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_LEADER_FOR_PARTITION
CONSUMER = -1


async def offset(
    c: ClusterInstance, broker: int, time: int, epoch: int = -1, replica: int = CONSUMER
) -> tuple[Errors, int, int]:
    response = await c.send(broker, OffsetsByTimeRequest(replica, (OffsetQuery(TP, epoch, time),)))
    (found,) = response.found
    return found.error, found.offset, found.leader_epoch


# -- ListOffsetsRequestTest -------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_list_offsets_error_codes(release: str) -> None:
    """testListOffsetsErrorCodes: only who debugs may ask a follower, and no one a broker that is no replica; 2.4.1 and
    2.6.2 differ there."""
    readers = (CONSUMER, 0, DEBUGGING_CONSUMER)

    async def errors(broker: int) -> list[Errors]:
        return [(await offset(c, broker, EARLIEST, 0, reader))[0] for reader in readers]

    async with cluster(3, {}, profile=release, controller=2) as c:
        assert await errors(0) == [UNKNOWN] * 3
        await c.create_topic("t", [[0, 1]])
        await c.settled()
        assert await errors(1) == [NOT_LEADER, NOT_LEADER, Errors.NONE]
        before = release < "kafka-2.6"
        assert await errors(2) == [NOT_LEADER, NOT_LEADER, Errors.REPLICA_NOT_AVAILABLE if before else NOT_LEADER]


@RELEASES
@in_virtual_time
async def test_response_includes_leader_epoch(release: str) -> None:
    """testResponseIncludesLeaderEpoch: that of the record; for the end, that of the leader."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=release, controller=3) as c:
        for _ in range(10):
            await c.produce(TP)
        await c.settled()
        asked = (0, EARLIEST, LATEST)
        assert [(await offset(c, 0, time))[1:] for time in asked] == [(0, 0), (0, 0), (10, 0)]
        c.crash(0)
        await c.until(lambda: c.leader(TP) == 1)
        await c.settled()
        epoch = c.leader_epoch(TP)
        assert epoch > 0
        assert [(await offset(c, 1, time))[1:] for time in asked] == [(0, 0), (0, 0), (10, epoch)]


@RELEASES
@in_virtual_time
async def test_current_epoch_validation_of_offsets(release: str) -> None:
    """testCurrentEpochValidation: a follower judges the epoch, too, before it says that it is no leader."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile=release, controller=3) as c:
        c.crash(0)
        await c.until(lambda: c.leader(TP) == 1)
        await c.settled()
        now = c.leader_epoch(TP)
        fenced, unknown = Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH
        for broker, right in ((1, Errors.NONE), (2, NOT_LEADER)):
            found = [(await offset(c, broker, EARLIEST, epoch))[0] for epoch in (-1, now, now + 1, now - 1)]
            assert found == [right, right, unknown, fenced]


# -- FetchRequestTest -------------------------------------------------------------------------------------------------


def fetch(*wanted: PartitionData, session: tuple[int, int] = (0, FINAL_EPOCH)) -> ConsumerFetchRequest:
    positions = tuple((each.tp, each.leader_epoch, each.fetch_offset, -1, each.last_fetched_epoch) for each in wanted)
    return ConsumerFetchRequest(CONSUMER, *session, 0, 0, 2**20, 2**20, positions, (), wanted=wanted)


@in_virtual_time
async def test_last_fetched_epoch_validation() -> None:
    """testLastFetchedEpochValidation: where the reader's epoch ended, and no records."""
    async with cluster(4, {"t": [[0, 1, 2]]}, profile="kafka-2.7", controller=3) as c:
        await c.produce(TP, 100)
        await c.settled()
        c.crash(0)
        await c.until(lambda: c.leader(TP) == 1)
        await c.settled()
        await c.produce(TP, 100)
        await c.settled()
        response = await c.send(1, fetch(PartitionData(TP, c.leader_epoch(TP), 250, 0, 2**20)))
        (found,) = response.partitions
        assert (found.error, found.batches) == (Errors.NONE, ())
        assert found.diverging == (0, 100)


@RELEASES
@in_virtual_time
async def test_incremental_fetch_with_partitions_in_error(release: str) -> None:
    """testCreateIncrementalFetchWithPartitionsInError: the error comes each time, and the topic once it is there."""
    foo, bar = [TopicPartition("foo", 0), TopicPartition("foo", 1)], TopicPartition("bar", 0)
    async with cluster(3, {"foo": [[0, 1], [0, 2]]}, profile=release, controller=2) as c:
        wanted = [PartitionData(tp, -1, 0, -1, 2**20) for tp in (*foo, bar)]
        first = await c.send(0, fetch(*wanted, session=(0, 0)))
        assert {each.tp: each.error for each in first.partitions} == {
            foo[0]: Errors.NONE, foo[1]: Errors.NONE, bar: UNKNOWN,
        }  # fmt: skip
        assert first.session_id > 0

        async def again(epoch: int) -> dict[TopicPartition, Errors]:
            response = await c.send(0, fetch(session=(first.session_id, epoch)))
            assert (response.error, response.session_id) == (Errors.NONE, first.session_id)
            return {each.tp: each.error for each in response.partitions}

        assert await again(1) == {bar: UNKNOWN}
        await c.create_topic("bar", [[0, 1]])
        await c.settled()
        assert await again(2) == {bar: Errors.NONE}
        assert await again(3) == {}


# -- log directories --------------------------------------------------------------------------------------------------


async def placed(c: ClusterInstance, broker: int) -> dict[str, list[TopicPartition]]:
    found = (await c.send(broker, DescribeLogDirsRequest())).directories
    return {each.name: [replica.tp for replica in each.replicas if not replica.future] for each in found}


async def alter(c: ClusterInstance, *wanted: tuple[TopicPartition, str]) -> list[Errors]:
    response = await c.send(0, AlterReplicaLogDirsRequest(wanted))
    return [error for _, error in response.partitions]


@RELEASES
@in_virtual_time
async def test_alter_replica_log_dirs_request(release: str) -> None:
    """AlterReplicaLogDirsRequestTest.testAlterReplicaLogDirsRequest: what is asked before the topic exists is refused,
    and kept all the same."""
    tps = [TopicPartition("t", partition) for partition in range(5)]
    async with cluster(2, {}, profile=release, controller=1, log_dirs=5) as c:
        names = list(await placed(c, 0))
        assert await alter(c, *((tp, names[3]) for tp in tps)) == [UNKNOWN] * 5
        await c.create_topic("t", [[0]] * 5)
        await c.settled()
        assert sorted((await placed(c, 0))[names[3]]) == tps
        assert await alter(c, *((tp, names[1]) for tp in tps)) == [Errors.NONE] * 5
        await c.settled()
        assert sorted((await placed(c, 0))[names[1]]) == tps


@RELEASES
@in_virtual_time
async def test_alter_replica_log_dirs_request_error_code(release: str) -> None:
    """AlterReplicaLogDirsRequestTest.testAlterReplicaLogDirsRequestErrorCode and DescribeLogDirsRequestTest: no replica
    on a failed directory can move, and none to it."""
    tps = [TopicPartition("t", partition) for partition in range(3)]
    async with cluster(2, {}, profile=release, controller=1, log_dirs=5, checkers=False) as c:
        names = list(await placed(c, 0))
        missing = Errors.LOG_DIR_NOT_FOUND
        assert await alter(c, (tps[0], "invalidDir"), (tps[1], names[1])) == [missing, UNKNOWN]
        await c.create_topic("t", [[0]] * 3)
        await c.settled()
        assert await alter(c, (tps[0], "invalidDir"), (tps[1], names[2])) == [missing, Errors.NONE]
        failed = names[1]
        c.perform(LogDirOffline(log_dir=failed), 0)
        await c.sleep("1s")
        storage = Errors.KAFKA_STORAGE_ERROR
        found = await alter(c, (tps[0], "invalidDir"), (tps[1], names[3]), (tps[2], failed))
        directories = (await c.send(0, DescribeLogDirsRequest())).directories
        assert [(each.name, each.replicas) for each in directories if each.error is storage] == [(failed, ())]
        assert found == [missing, storage, storage]


# -- KafkaApisTest ----------------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_reassignment_and_replication_bytes_out_rate(release: str) -> None:
    """testReassignmentAndReplicationBytesOutRateWhen(Not)Reassigning: bytes for a replica being added count twice,
    since 2.5."""
    name = "kafka.server:type=BrokerTopicMetrics,name={}BytesOutPerSec"
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2) as c:
        await c.produce(TP, 10, size=100)
        await c.settled()
        assert c.metric(0, name.format("Replication")) == 1000
        if release in ("kafka-2.3", "kafka-2.4"):
            return
        assert c.metric(0, name.format("Reassignment")) == 0
        await c.reassign({"t-0": [0, 2]})
        await c.settled()
        assert c.metric(0, name.format("Replication")) == 2000
        assert c.metric(0, name.format("Reassignment")) == 1000


# -- UncleanLeaderElectionTest ----------------------------------------------------------------------------------------

CONTROLLER = 2
UNCLEAN_ELECTIONS = "kafka.controller:type=ControllerStats,name=UncleanLeaderElectionsPerSec"


async def last_in_isr_down(c: ClusterInstance) -> None:
    """The leader has a record more than the follower, and only the follower is up."""
    await c.produce(TP)
    await c.until(lambda: c.isr(TP) == [0, 1])
    await c.settled()
    await c.stop(1)
    await c.produce(TP)
    await c.stop(0)
    c.start(1)


@RELEASES
@pytest.mark.parametrize("by_topic", [True, False])
@in_virtual_time
async def test_unclean_leader_election_enabled(release: str, by_topic: bool) -> None:
    """testUncleanLeaderElectionEnabled(ByTopicOverride): the second record is lost, and the third has its offset."""
    config = {"unclean.leader.election.enable": not by_topic}
    async with cluster(3, {}, profile=release, controller=CONTROLLER, config=config, checkers=False) as c:
        await c.create_topic("t", [[0, 1]], {"unclean.leader.election.enable": True} if by_topic else None)
        await last_in_isr_down(c)
        await c.until(lambda: c.leader(TP) == 1)
        await c.settled()
        assert c.metric(CONTROLLER, UNCLEAN_ELECTIONS) == 1
        await c.produce(TP)
        log = c.log(1, TP)
        assert log is not None
        assert [(batch.base_offset, batch.leader_epoch > 0) for batch in log.batches] == [(0, False), (1, True)]


@RELEASES
@pytest.mark.parametrize("by_topic", [True, False])
@in_virtual_time
async def test_unclean_leader_election_disabled(release: str, by_topic: bool) -> None:
    """testUncleanLeaderElectionDisabled(ByTopicOverride): no leader until the last of the ISR is back."""
    config = {"unclean.leader.election.enable": by_topic}
    async with cluster(3, {}, profile=release, controller=CONTROLLER, config=config) as c:
        await c.create_topic("t", [[0, 1]], {"unclean.leader.election.enable": False} if by_topic else None)
        await last_in_isr_down(c)
        await c.sleep("10s")
        assert (c.leader(TP), c.isr(TP), c.metric(CONTROLLER, UNCLEAN_ELECTIONS)) == (-1, [0], 0)
        c.start(0)
        await c.until(lambda: c.leader(TP) == 0)
        await c.produce(TP)
        await c.until(lambda: sorted(c.isr(TP)) == [0, 1])
        await c.stop(0)
        await c.until(lambda: c.leader(TP) == 1)
        assert await c.consume(TP, 3) == [0, 1, 2]
