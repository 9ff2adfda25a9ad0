"""Topics that are deleted, made again and expanded, on a whole cluster."""

from collections.abc import Awaitable, Callable

import pytest

from brokers.log.directory import log_path
from emulator.protocol import znodes
from emulator.protocol.events import Fault, Produced
from emulator.protocol.placement import place_replicas, rack_of
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkClient
from tests.scenarios.runs.building import EXECUTE, HEAL, Played, Table, at_step, play, scenario
from understudy.testing import ClusterInstance, KafkaError, cluster, in_virtual_time

DELETE: Table = {"at": "2s", "action": "topic.delete", "topic": "orders"}
GONE: Table = {"assignment": {"orders-0": []}, "within": "1m"}


def left_of(played: Played, topic: str = "orders") -> list[str]:
    """The rest of a topic in ZooKeeper and on the brokers' disks."""
    tree, cluster = played.stage.cluster.zookeeper.tree, played.stage.cluster
    paths = (znodes.topic_path(topic), f"{znodes.CONFIG_TOPICS}/{topic}", znodes.delete_topic_path(topic))
    logs = [f"log on {b}" for b, node in cluster.nodes.items() if log_path(TopicPartition(topic, 0)) in node.disk.files]
    return [path for path in paths if tree.get(path) is not None] + logs


def expand(partitions: int, **more: object) -> Table:
    return {"at": "2s", "action": "topic.expand", "topic": "orders", "partitions": partitions, **more}


# -- deletion ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acks", ["all", "1", "0"])
def test_a_topic_under_load_is_deleted(acks: str) -> None:
    """The producer gets UNKNOWN_TOPIC_OR_PARTITION; nothing counts as lost, offline or under-replicated."""
    played = play(scenario(method=[DELETE], expect=[GONE], acks=acks, rate=2000))
    assert played.run.passed, played.run.explanation
    assert left_of(played) == []
    assert played.lost_batches("all") == played.lost_batches("1") == 0
    assert played.run.metrics["offline_s"] == 0
    assert played.run.metrics["under_replicated_assigned_s"] == 0


def test_a_producer_gives_a_deleted_topic_up_at_last() -> None:
    """After delivery.timeout.ms (120 s), with the error that it was refused with."""
    later: Table = {"at": "125s", "action": "link.heal", "target": [3]}
    played = play(scenario(method=[DELETE, later]))
    given_up = played.of(Produced, lambda e: e.error != "NONE")
    assert {event.error for event in given_up} == {"UNKNOWN_TOPIC_OR_PARTITION"}
    assert min(event.latency_us for event in given_up) >= 120_000_000


def test_a_topic_comes_back_under_its_name() -> None:
    """On other brokers and with epochs from the beginning; the producer finds it and goes on."""
    again = {"name": "orders", "assignment": [[3, 1, 2]]}
    played = play(
        scenario(
            method=[DELETE, {"after": "5s", "action": "topic.create", "topic": again}],
            expect=[{"assignment": {"orders-0": [3, 1, 2]}}, {"leader": {"orders-0": 3}, "within": "1m"}],
            rate=500,
        )
    )
    assert played.run.passed, played.run.explanation
    assert played.state().leader_epoch == 0
    before, after = [
        [e for e in played.of(Produced) if e.error == "NONE" and (e.leader == leader)] for leader in (0, 3)
    ]
    assert before
    assert after
    assert min(event.base_offset for event in after) == 0
    assert played.run.metrics["failed_batches"] == 0


def test_a_dead_replica_holds_a_deletion_up() -> None:
    crash: Table = {"at": "1s", "action": "broker.crash", "target": [2]}
    wait: Table = {"at": "20s", **{k: v for k, v in DELETE.items() if k != "at"}}
    played = play(scenario(method=[crash, wait], expect=[{"assignment": {"orders-0": [0, 1, 2]}}], rate=0))
    assert played.run.passed, played.run.explanation
    assert left_of(played) == [
        "/brokers/topics/orders",
        "/config/topics/orders",
        "/admin/delete_topics/orders",
        "log on 2",
    ]
    healed = play(scenario(method=[crash, wait], rollbacks=HEAL, expect=[GONE], rate=0))
    assert healed.run.passed, healed.run.explanation
    assert left_of(healed) == []


@pytest.mark.parametrize(
    "step", ["delete.metadata", "delete.offline", "delete.start", "delete.answer", "delete.znodes"]
)
@pytest.mark.parametrize("action", ["controller.crash", "broker.pause"])
def test_the_controller_is_lost_in_the_middle(step: str, action: str) -> None:
    fault = at_step(step, "after", action, **({"target": "controller"} if action == "broker.pause" else {}))
    played = play(scenario(method=[DELETE, fault], rollbacks=HEAL, expect=[GONE], rate=200))
    assert played.run.passed, played.run.explanation
    assert left_of(played) == []
    assert not played.run.violations


def test_a_moving_topic_is_deleted_at_once_and_its_request_stays() -> None:
    """Real Kafka 2.3.1 and 2.4.1: /admin/reassign_partitions is still there when the recordings end, 30 s later."""
    delete = at_step("move.wait", "before", "topic.delete", topic="orders")
    played = play(scenario(plan={0: (0, 1, 3)}, method=[EXECUTE, delete], expect=[GONE], size="4MiB"))
    assert played.run.passed, played.run.explanation
    assert left_of(played) == []
    assert played.admin is not None


@in_virtual_time(seed=1)
async def test_no_plan_is_taken_while_the_request_of_a_deleted_topic_stays() -> None:
    """The tool refuses the next plan as if it were under way, until another controller has dropped the old one."""
    async with cluster(5, {"a": [[0, 1, 2]], "b": [[0, 1, 2]]}) as c:
        c.cut(3, 0)
        await c.reassign({"a-0": [0, 1, 3]})
        await c.delete_topic("a")
        await c.until(lambda: "a-0" not in c.partitions())
        with pytest.raises(KafkaError, match="REASSIGNMENT_IN_PROGRESS"):
            await c.reassign({"b-0": [2, 1, 0]})
        c.crash(c.controller())
        await c.until(lambda: c.znode(znodes.REASSIGN_PARTITIONS) is None)


def test_deletion_can_be_disabled() -> None:
    config = {"delete.topic.enable": False}
    played = play(scenario(method=[DELETE], config=config, expect=[{"assignment": {"orders-0": [0, 1, 2]}}]))
    assert played.run.passed, played.run.explanation
    assert played.stage.cluster.zookeeper.tree.get(znodes.delete_topic_path("orders")) is None


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"action": "topic.create", "topic": {"name": "orders"}}, "topic.create: orders: TOPIC_ALREADY_EXISTS"),
        (
            {"action": "topic.expand", "topic": "orders", "partitions": 2},
            "topic.expand: orders: REASSIGNMENT_IN_PROGRESS",
        ),
    ],
)
def test_what_kafka_refuses_was_not_exercised(entry: Table, reason: str) -> None:
    """A topic that still exists although it is being deleted, a move under way: the check needs the state at run
    time."""
    first = DELETE if entry["action"] == "topic.create" else EXECUTE
    played = play(scenario(method=[first, {"after": "5ms", **entry}], plan={0: (0, 1, 3)}, size="16MiB"))
    assert (played.run.verdict, played.run.reason) == ("failed", "not exercised")
    assert reason in played.run.explanation
    [asked] = played.of(Fault, lambda event: event.action == entry["action"])
    assert f"(event {asked.seq})" in played.run.explanation, "where it was refused, not where the move ended"


# -- expansion --------------------------------------------------------------------------------------------------------


def test_partitions_are_added_where_kafka_puts_them() -> None:
    played = play(scenario(method=[expand(4)], expect=[{"assignment": {"orders-3": [3, 4, 5]}}]))
    assert played.run.passed, played.run.explanation
    found = [played.assignment(TopicPartition("orders", p)) for p in range(4)]
    assert found == [(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 5)]
    assert [played.state(TopicPartition("orders", p)).leader for p in range(4)] == [0, 1, 2, 3]


def test_partitions_are_added_where_the_scenario_says() -> None:
    played = play(scenario(method=[expand(2, assignment=[[5, 3, 1]])], expect=[{"isr": {"orders-1": [1, 3, 5]}}]))
    assert played.run.passed, played.run.explanation
    assert played.assignment(TopicPartition("orders", 1)) == (5, 3, 1)


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-2.4"])
@in_virtual_time(seed=1)
async def test_C75_create_partitions_for_topic_not_in_reassignment(profile: str) -> None:
    """Topic a is being reassigned: in 2.4 partitions can be added to b and not to a; up to 2.3 to neither."""
    async with cluster(4, {"a": [[0, 1, 2]], "b": [[0, 1, 2]]}, profile=profile) as c:
        with c.gate("move.start", "after", "a-0") as gate:
            await c.reassign({"a-0": [1, 2, 3]})
            await gate.reached()
            with pytest.raises(KafkaError, match=r"^REASSIGNMENT_IN_PROGRESS: a$"):
                await c.create_partitions("a", 2)
            if profile == "kafka-2.3":
                with pytest.raises(KafkaError, match=r"^REASSIGNMENT_IN_PROGRESS: b$"):
                    await c.create_partitions("b", 2)
            else:
                await c.create_partitions("b", 2)
                assert len(c.replicas("b-1")) == 3


@pytest.mark.parametrize(("profile", "head"), [("kafka-2.3", '{"version":1,'), ("kafka-2.4", '{"version":2,')])
@in_virtual_time(seed=1)
async def test_the_tools_write_the_topic_znodes_of_their_release(profile: str, head: str) -> None:
    """Real Kafka 2.4.1 creates and expands topics with version 2, adding_replicas and removing_replicas empty."""
    async with cluster(3, {"a": [[0, 1, 2]]}, profile=profile) as c:
        created, _ = await c.zk.get(znodes.topic_path("a"))
        await c.create_partitions("a", 2, [[1, 2, 0]])
        expanded, _ = await c.zk.get(znodes.topic_path("a"))
    empty = ',"adding_replicas":{},"removing_replicas":{}}' if profile == "kafka-2.4" else "}"
    assert created == head + '"partitions":{"0":[0,1,2]}' + empty
    assert expanded == head + '"partitions":{"0":[0,1,2],"1":[1,2,0]}' + empty


@in_virtual_time(seed=1)
async def test_an_isr_has_the_order_of_kafkas_set() -> None:
    """Six replicas: the leaders that let them join, and the controller that drops 2, 1 and 0, keep Scala's order."""
    async with cluster(7, {"a": [[0, 1, 2]]}) as c:
        with c.gate("move.leader", "after", "a-0") as gate:
            await c.reassign({"a-0": [3, 4, 5]})
            await gate.reached()
            assert c.isr("a-0") == [0, 5, 1, 2, 3, 4]
        await c.settled()
        assert c.isr("a-0") == [5, 3, 4]


Command = Callable[[ClusterInstance], Awaitable[None]]


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (lambda c: c.delete_topic("b"), "UNKNOWN_TOPIC_OR_PARTITION: b"),
        (lambda c: c.create_partitions("b", 2), "UNKNOWN_TOPIC_OR_PARTITION: b"),
        (lambda c: c.create_partitions("a", 1), "INVALID_PARTITIONS: a"),
        (lambda c: c.create_partitions("a", 2, [[0, 1]]), "INVALID_REPLICA_ASSIGNMENT: a"),
        (lambda c: c.create_partitions("a", 3, [[0, 1, 2]]), "INVALID_REPLICA_ASSIGNMENT: a"),
        (lambda c: c.create_partitions("a", 2, [[0, 1, 1]]), "INVALID_REPLICA_ASSIGNMENT: a"),
        (lambda c: c.create_partitions("a", 2, [[0, 1, 9]]), "INVALID_REPLICA_ASSIGNMENT: a"),
        (lambda c: c.create_topic("a", [[0, 1, 2]]), "TOPIC_ALREADY_EXISTS: a"),
    ],
)
@in_virtual_time(seed=1)
async def test_the_tool_is_answered_with_kafkas_error_codes(command: Command, error: str) -> None:
    async with cluster(3, {"a": [[0, 1, 2]]}) as c:
        with pytest.raises(KafkaError, match=f"^{error}$"):
            await command(c)
        await c.delete_topic("a")


def test_added_partitions_are_spread_over_the_racks() -> None:
    """As AdminZkClient.addPartitions does: brokers alternate by rack, from the first replica of partition 0 on."""
    found = scenario(brokers=7, controller=6, cluster={"racks": 2}, assignment=[[0, 1]], method=[expand(7)])
    played = play(found)
    assert played.run.passed, played.run.explanation
    racks = {broker: rack_of(broker, 2) for broker in range(7)}
    added = [played.assignment(TopicPartition("orders", number)) for number in range(1, 7)]
    assert added == place_replicas(range(7), 6, 2, first_partition=1, racks=racks)
    assert all(first % 2 != second % 2 for first, second in added)


@in_virtual_time(seed=1)
async def test_a_broker_that_expires_while_the_racks_are_read_gets_no_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    """/brokers/ids named it, and its znode is gone before it is read (KafkaZkClient.getAllBrokersInCluster, 2.3.1)."""
    async with cluster(4, {"a": [[0, 1, 2]]}) as c:
        children = ZkClient.children

        async def then_expire(zk: ZkClient, path: str) -> tuple[str, ...]:
            names = await children(zk, path)
            if zk is c.zk and path == znodes.BROKER_IDS:
                c.expire(3)
            return names

        monkeypatch.setattr(ZkClient, "children", then_expire)
        await c.create_partitions("a", 4)
        assert [c.replicas(f"a-{number}") for number in (1, 2, 3)] == [[1, 2, 0], [2, 0, 1], [0, 2, 1]]
