"""Cases of Kafka's suites about elections that an administrator asks for, by the API and by the tools:
LeaderElectionCommandTest and PreferredReplicaLeaderElectionCommandTest (2.4.1), PreferredReplicaElectionCommandTest
(2.3.1), the elections of AdminClientIntegrationTest (2.3.1) and PlaintextAdminIntegrationTest (2.7.2)."""

import pytest

from understudy.actions import ElectionUnclean
from understudy.protocol import ElectionType, ElectLeadersRequest, Errors, TopicPartition
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

WITH_API = [
    "kafka-2.4",
    "kafka-2.5",
    "kafka-2.6",
    "kafka-2.7",
    "kafka-2.8",
    "kafka-3.0",
    "kafka-3.3",
    "kafka-3.6",
    "kafka-3.9",
]
ONE, TWO, GONE = TopicPartition("one", 0), TopicPartition("two", 0), TopicPartition("gone", 0)
NONE, NOT_NEEDED, UNKNOWN = Errors.NONE, Errors.ELECTION_NOT_NEEDED, Errors.UNKNOWN_TOPIC_OR_PARTITION
UNAVAILABLE, INELIGIBLE = Errors.PREFERRED_LEADER_NOT_AVAILABLE, Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE
BY_HAND = {"auto.leader.rebalance.enable": False}


async def elected(c: ClusterInstance, type: ElectionType, *tps: TopicPartition) -> dict[TopicPartition, Errors]:
    response = await c.send(c.controller(), ElectLeadersRequest(type, tps or None))
    assert response.error is NONE
    return dict(response.partitions)


def leaders(c: ClusterInstance) -> list[int]:
    return [c.leader(ONE), c.leader(TWO)]


async def prefer(c: ClusterInstance, *replicas: int) -> None:
    """Change the preferred leaders, and not the leaders."""
    before = leaders(c)
    moves = {str(tp): replicas for tp in (ONE, TWO) if c.leader(tp) != replicas[0]}
    await c.reassign(moves, via="zk")
    await c.until(lambda: [c.replicas(tp) for tp in (ONE, TWO)] == [list(replicas)] * 2)
    await c.settled()
    assert leaders(c) == before


@pytest.mark.parametrize("release", ["kafka-2.3", *WITH_API])
@in_virtual_time
async def test_elect_preferred_leaders(release: str) -> None:
    """testElectPreferredLeaders. Before KIP-460 an election that was not needed has succeeded."""
    needless = NONE if release == "kafka-2.3" else NOT_NEEDED
    topics = {"one": [[0, 1, 2]], "two": [[0, 1, 2]]}
    async with cluster(4, topics, profile=release, controller=3, config=BY_HAND) as c:

        async def elect(*tps: TopicPartition) -> dict[TopicPartition, Errors]:
            found = await elected(c, ElectionType.PREFERRED, *tps)
            await c.settled()
            return found

        assert await elect(ONE) == {ONE: needless}
        assert await elect() == ({ONE: NONE, TWO: NONE} if release == "kafka-2.3" else {})
        assert leaders(c) == [0, 0]
        await prefer(c, 1, 2, 0)
        assert await elect(ONE) == {ONE: NONE}
        assert leaders(c) == [1, 0]
        assert await elect() == ({ONE: NONE, TWO: NONE} if release == "kafka-2.3" else {TWO: NONE})
        assert leaders(c) == [1, 1]
        assert await elect(GONE) == {GONE: UNKNOWN}
        await prefer(c, 2, 0, 1)
        assert await elect(GONE, ONE) == {GONE: UNKNOWN, ONE: NONE}
        assert leaders(c) == [2, 1]
        assert await elect(TWO) == {TWO: NONE}
        await prefer(c, 1, 2, 0)
        await c.stop(1)
        await c.settled()
        assert await elect(ONE) == {ONE: UNAVAILABLE}
        assert await elect() == {ONE: UNAVAILABLE, TWO: UNAVAILABLE}
        assert leaders(c) == [2, 2]


@pytest.mark.parametrize("release", WITH_API)
@pytest.mark.parametrize("asked", ["one", "many", "all", "unknown", "none live", "noop", "and noop"])
@in_virtual_time
async def test_elect_unclean_leaders(release: str, asked: str) -> None:
    """testElectUncleanLeadersForOnePartition, ForManyPartitions, ForAllPartitions, ForUnknownPartitions,
    WhenNoLiveBrokers, Noop, AndNoop."""
    both = [[0, 1]] if asked not in ("and noop", "all") else [[0, 2]]
    unclean = ElectionType.UNCLEAN
    async with cluster(4, {"one": [[0, 1]], "two": both}, profile=release, controller=3, config=BY_HAND) as c:
        if asked == "noop":
            await c.stop(0)
            await c.settled()
            c.start(0)
            await c.settled()
            assert await elected(c, unclean, ONE) == {ONE: NOT_NEEDED}
            assert c.leader(ONE) == 1
            return
        await c.stop(1)
        await c.settled()
        await c.stop(0)
        await c.until(lambda: c.leader(ONE) == -1)
        if asked == "none live":
            assert await elected(c, unclean, ONE) == {ONE: INELIGIBLE}
            return
        c.start(1)
        await c.settled()
        assert c.leader(ONE) == -1
        tps = {"one": (ONE,), "many": (ONE, TWO), "all": (), "unknown": (ONE, GONE), "and noop": (ONE, TWO)}[asked]
        expected = {tp: NONE for tp in (ONE, TWO) if tp in tps or (not tps and tp == ONE)}
        if asked == "unknown":
            expected[GONE] = UNKNOWN
        elif asked == "and noop":
            expected[TWO] = NOT_NEEDED
        assert await elected(c, unclean, *tps) == expected
        await c.settled()
        assert (c.leader(ONE), c.isr(ONE)) == (1, [1])
        assert c.leader(TWO) == {"one": -1, "many": 1, "all": 2, "unknown": -1, "and noop": 2}[asked]


# -- the tools --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", *WITH_API])
@in_virtual_time
async def test_preferred_replica_election_by_the_tool(release: str) -> None:
    """testPreferredReplicaElection, testNoPartitionsGiven, testSingletonPartitionGiven, testNoopElection,
    testMultiplePartitionsSameAssignment, testWithOfflinePreferredReplica: the tool of 2.3 and before writes a znode and
    is not answered, so that it cannot fail. Before KIP-183 it raises the epoch of a leader that stays."""
    topics, by_api = {"one": [[1, 2, 0]], "two": [[1, 2, 0]]}, release in WITH_API
    async with cluster(4, topics, profile=release, controller=3, config=BY_HAND, checkers=False) as c:

        async def bounced() -> None:
            await c.stop(1)
            await c.until(lambda: leaders(c) == [2, 2])
            c.start(1)
            await c.settled()
            assert all(1 in c.isr(tp) for tp in (ONE, TWO))

        await bounced()
        await c.elect_preferred()
        await c.until(lambda: leaders(c) == [1, 1])
        await bounced()
        await c.elect_preferred("one-0")
        await c.until(lambda: leaders(c) == [1, 2])
        await c.settled()
        before = c.leader_epoch(ONE)
        await c.elect_preferred("one-0")
        await c.settled()
        assert (c.leader(ONE), c.leader_epoch(ONE) - before) == (1, 1 if release == "kafka-1.1" else 0)
        await c.stop(1)
        await c.until(lambda: leaders(c) == [2, 2])
        if by_api:
            with pytest.raises(KafkaError, match=r"^PREFERRED_LEADER_NOT_AVAILABLE: one-0$"):
                await c.elect_preferred("one-0")
        else:
            await c.elect_preferred("one-0")
            await c.settled()
        assert leaders(c) == [2, 2]


@pytest.mark.parametrize("release", WITH_API)
@pytest.mark.parametrize("partitions", [("one-0",), None])
@in_virtual_time
async def test_unclean_election_by_the_tool(release: str, partitions: tuple[str, ...] | None) -> None:
    """testAllTopicPartition, testTopicPartition, testPathToJsonFile."""
    async with cluster(4, {"one": [[2, 1]]}, profile=release, controller=3) as c:
        await c.stop(1)
        await c.settled()
        await c.stop(2)
        await c.until(lambda: c.leader(ONE) == -1)
        c.start(1)
        await c.settled()
        c.perform(ElectionUnclean(partitions=partitions))
        await c.until(lambda: c.leader(ONE) == 1)
