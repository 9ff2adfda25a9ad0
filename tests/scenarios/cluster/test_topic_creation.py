"""Topics that a broker creates, deletes and extends: the checks, the placement, and what is written."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from brokers.topic_creation import AdminZkClient, check_name
from emulator.kernel import World
from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.placement import rack_of
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, decode_topic, encode_reassignment, topic_path
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

Act = Callable[[AdminZkClient], Awaitable[Any]]


def on_a_broker(act: Act, *, brokers: int = 3, racks: int = 1, topic_version: int = 1) -> tuple[Any, Cluster]:
    """The result of ``act`` on broker 0 of a cluster that has the topic ``orders``, or the refusal; and the cluster
    once it is settled."""
    world = World(7)
    rack_names = {broker: rack_of(broker, racks) for broker in range(brokers)} if racks > 1 else {}
    setup = ClusterSetup(brokers, rack_of=rack_names, topics=(TopicSetup("orders", {0: (0, 1), 1: (1, 2)}),))
    cluster, found = Cluster(world, setup), list[Any]()

    async def drive(cluster: Cluster) -> None:
        broker = cluster.brokers[0]
        try:
            found.append(await act(AdminZkClient(broker.process, broker.zk, topic_version)))
        except ApiException as refused:
            found.append(refused.error)
        await world.settled()

    world.run(cluster.run, drive)
    return found[0], cluster


def test_a_topic_is_placed_by_the_seed_and_led() -> None:
    async def create(admin: AdminZkClient) -> dict[int, tuple[int, ...]]:
        await admin.create_topic("payments", 4, 2, {"min.insync.replicas": "2"})
        return decode_topic((await admin.zk.get(topic_path("payments")))[0])

    placed, cluster = on_a_broker(create)
    again, _ = on_a_broker(create)
    assert placed == again
    assert list(placed) == [0, 1, 2, 3]
    assert sorted(placed[0] + placed[1] + placed[2]) == [0, 0, 1, 1, 2, 2], "round robin"
    for partition, replicas in placed.items():
        assert cluster.brokers[replicas[0]].replicas.partitions[TopicPartition("payments", partition)].is_leader
    assert cluster.brokers[1].replicas.policies.min_insync_replicas("payments") == 2, "the brokers know the settings"


def test_racks_alternate() -> None:
    async def create(admin: AdminZkClient) -> list[tuple[int, ...]]:
        await admin.create_topic("payments", 6, 2)
        return list(decode_topic((await admin.zk.get(topic_path("payments")))[0]).values())

    placed, _ = on_a_broker(create, brokers=4, racks=2)
    assert all({replica % 2 for replica in replicas} == {0, 1} for replicas in placed)


@pytest.mark.parametrize(
    ("topic", "partitions", "factor", "code", "words"),
    [
        ("orders", 1, 1, Errors.TOPIC_ALREADY_EXISTS, "Topic 'orders' already exists."),
        ("payments", 0, 1, Errors.INVALID_PARTITIONS, "Number of partitions must be larger than 0."),
        ("payments", 1, 0, Errors.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0."),
        ("payments", 1, 4, Errors.INVALID_REPLICATION_FACTOR,
         "Replication factor: 4 larger than available brokers: 3."),
        ("pay ments", 1, 1, Errors.INVALID_TOPIC_EXCEPTION, None),
    ],
)  # fmt: skip
def test_a_topic_that_cannot_be_created_is_refused_in_kafkas_words(
    topic: str, partitions: int, factor: int, code: Errors, words: str | None
) -> None:
    (found, said), cluster = on_a_broker(lambda admin: admin.create_topic(topic, partitions, factor))
    assert found is code
    assert words in (None, said)
    assert not cluster.brokers[0].replicas.metadata.answer(MetadataRequest(("payments",))).partitions


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a/b", "é"])
def test_names_that_no_topic_has(name: str) -> None:
    with pytest.raises(ApiException) as refused:
        check_name(name)
    assert refused.value.error.code is Errors.INVALID_TOPIC_EXCEPTION


def test_dots_and_underscores_collide() -> None:
    async def create(admin: AdminZkClient) -> None:
        await admin.create_topic("a.b", 1, 1)
        await admin.create_topic("a_b", 1, 1)

    (code, words), _ = on_a_broker(create)
    assert (code, words) == (
        Errors.INVALID_TOPIC_EXCEPTION, "Topic 'a_b' collides with existing topics: a.b"
    )  # fmt: skip


@pytest.mark.parametrize(
    "assignment",
    [{0: (0, 1), 1: (2,)}, {0: (0, 0)}, {1: (0, 1)}, {}, {0: ()}, {0: (-2,)}],
    ids=["uneven", "twice", "gap", "none", "empty", "negative"],
)
def test_an_assignment_has_to_be_whole(assignment: dict[int, tuple[int, ...]]) -> None:
    (code, _), _ = on_a_broker(lambda admin: admin.create_topic_with_assignment("payments", assignment, dict))
    assert code is Errors.INVALID_REPLICA_ASSIGNMENT


def test_partitions_are_added_behind_the_others() -> None:
    async def expand(admin: AdminZkClient) -> dict[int, tuple[int, ...]]:
        brokers = await admin.brokers()
        had = await admin.add_partitions("orders", 4, None, brokers, any_move_forbids=True)
        assert had == 2
        return decode_topic((await admin.zk.get(topic_path("orders")))[0])

    after, cluster = on_a_broker(expand)
    assert after == {0: (0, 1), 1: (1, 2), 2: (2, 0), 3: (0, 2)}
    assert cluster.brokers[2].replicas.partitions[TopicPartition("orders", 2)].is_leader


@pytest.mark.parametrize(
    ("total", "replicas", "code"),
    [
        (2, None, Errors.INVALID_PARTITIONS),
        (1, None, Errors.INVALID_PARTITIONS),
        (3, ((0, 9),), Errors.INVALID_REPLICA_ASSIGNMENT),
        (3, ((0, 1), (1, 2)), Errors.INVALID_REPLICA_ASSIGNMENT),
        (3, ((0,),), Errors.INVALID_REPLICA_ASSIGNMENT),
        (3, ((0, 0),), Errors.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_partitions_that_cannot_be_added(
    total: int, replicas: tuple[tuple[int, ...], ...] | None, code: Errors
) -> None:
    async def expand(admin: AdminZkClient) -> int:
        return await admin.add_partitions("orders", total, replicas, await admin.brokers(), any_move_forbids=True)

    (found, _), _ = on_a_broker(expand)
    assert found is code


def test_a_move_forbids_to_add_partitions() -> None:
    async def expand(admin: AdminZkClient) -> int:
        brokers = await admin.brokers()
        await admin.zk.create(REASSIGN_PARTITIONS, encode_reassignment({TopicPartition("orders", 0): (2, 1)}))
        return await admin.add_partitions("orders", 3, None, brokers, any_move_forbids=True)

    (code, words), _ = on_a_broker(expand)
    assert (code, words) == (Errors.REASSIGNMENT_IN_PROGRESS, "A partition reassignment is in progress.")


def test_a_topic_is_deleted_once_and_for_all() -> None:
    async def delete(admin: AdminZkClient) -> None:
        await admin.delete_topic("orders")
        await admin.delete_topic("orders")
        await admin.process.world.settled()
        await admin.delete_topic("orders")

    (code, _), _ = on_a_broker(delete)
    assert code is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_broker_that_starts_counts_the_partitions_of_the_coordinators_topics() -> None:
    world = World(7)
    internal = "__consumer_offsets", "__transaction_state"
    setup = ClusterSetup(2, topics=tuple(TopicSetup(name, {0: (0,), 1: (1,), 2: (1,)}) for name in internal))
    counted = []

    async def drive(cluster: Cluster) -> None:
        for _ in range(2):
            counted.append(dict(cluster.brokers[0].replicas.coordinated_partitions))
            cluster.nodes[0].crash()
            cluster.start_broker(0)
            await world.settled()

    world.run(Cluster(world, setup).run, drive)
    assert counted == [{}, dict.fromkeys(internal, 3)], "there was none when the broker first started"
