"""ReassignPartitionsClusterTest of 2.4.1 with real brokers and the operator's tool."""

import pytest

from emulator.protocol.events import MoveStarted
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.tools.outcome import DONE
from scenarios.cluster.clients.tools.reassign import check
from scenarios.cluster.clients.tools.throttle import LISTS, throttled_lists
from scenarios.runs.runner import Stage
from tests.scenarios.runs.building import EXECUTE, TP, Table, play, scenario


@pytest.mark.parametrize("via", ["zk", "api"])
def test_C57_hw_after_partition_reassignment(via: str) -> None:
    """RS [100], its log truncated fully to start at 100; move to [101, 102]: the high watermark is 100 on both, not 0.
    The brokers' numbers are 0, 1 and 2 here."""

    def truncate(stage: Stage) -> None:
        stage.cluster.world.call_later(1_000_000, cut, stage, True)

    def cut(stage: Stage) -> None:
        partition = stage.cluster.brokers[0].replicas.partitions[TP]
        partition.truncate_fully_and_start_at(100)
        assert (partition.log_start_offset, partition.log_end_offset) == (100, 100)

    wanted = scenario(
        brokers=4, controller=3, assignment=[[0]], plan={0: [1, 2]}, method=[{**EXECUTE, "via": via}], rate=0,
        size="0B", strategy="kip-455", profile="kafka-2.4",
    )  # fmt: skip
    played = play(wanted, truncate)
    assert played.run.passed, played.run.explanation
    partitions = {b: broker.replicas.partitions.get(TP) for b, broker in played.stage.cluster.brokers.items()}
    assert {broker: p.high_watermark for broker, p in partitions.items() if p is not None} == {1: 100, 2: 100}
    assert [broker for broker, p in partitions.items() if p is not None and p.is_leader] == [1]


def test_C61_only_throttle_moving_replicas() -> None:
    """Kafka's six brokers, 0 to 5 here, and two topics: of the plan's partitions the third of each stays in place."""
    old, new = {"topic1": (0, 1), "topic2": (4, 5)}, {"topic1": (0, 2), "topic2": (3, 5)}
    tps = [TopicPartition(topic, partition) for topic in old for partition in (0, 1, 2)]
    before = {tp: old[tp.topic] if tp.partition < 2 else (3, 4) for tp in tps}
    moves = {tp: new[tp.topic] if tp.partition < 2 else (3, 4) for tp in tps}
    assert throttled_lists(before, moves) == {
        "topic1": dict(zip(LISTS, ("0:0,0:1,1:0,1:1", "0:2,1:2"), strict=True)),
        "topic2": dict(zip(LISTS, ("0:4,0:5,1:4,1:5", "0:3,1:3"), strict=True)),
    }


ZERO, ONE = TopicPartition("orders", 0), TopicPartition("orders", 1)
EXISTING = {ZERO: (0,)}
BAD_PLANS: dict[str, tuple[dict[TopicPartition, tuple[int, ...]], str]] = {
    "nothing": ({}, "moves nothing: INVALID_REPLICA_ASSIGNMENT"),
    "does not match existing": ({ONE: (1,)}, "no such partitions: orders-1: UNKNOWN_TOPIC_OR_PARTITION"),
    "has empty replica list": ({ZERO: ()}, "the replica list of orders-0 is empty: INVALID_REPLICA_ASSIGNMENT"),
    "has invalid broker id": ({ZERO: (1, 2)}, "no such brokers now: 2: INVALID_REPLICA_ASSIGNMENT"),
    "has a replica twice": ({ZERO: (1, 1)}, "orders-0 names a broker twice: [1, 1]: INVALID_REPLICA_ASSIGNMENT"),
}


@pytest.mark.parametrize("case", BAD_PLANS)
def test_C63_fail_if_proposed(case: str) -> None:
    """The tool's own error text, before it writes anything."""
    plan, words = BAD_PLANS[case]
    [line] = check(plan, EXISTING, (0, 1)).lines
    assert words in line
    assert check({ZERO: (1,)}, EXISTING, (0, 1)) is DONE


@pytest.mark.parametrize(
    ("down", "plan", "words"),
    [(3, {0: [1, 3]}, "no such brokers now: 3"), (None, {5: [1, 2]}, "no such partitions: late-5")],
    ids=["dead-broker", "topic-to-come"],
)
def test_C63_nothing_is_written(down: int | None, plan: dict[int, list[int]], words: str) -> None:
    """A broker that is down does not exist to the tool; nor does a topic that is created only later."""
    topic = "orders" if down is not None else "late"
    moves = [{"topic": topic, "partition": p, "replicas": replicas} for p, replicas in plan.items()]
    late = {"name": "late", "partitions": 6, "replication_factor": 1}
    method: list[Table] = [
        {"at": "3s", "action": "reassign.execute", "via": "zk", "plan": {"partitions": moves}},
        {"at": "10s", "action": "topic.create", "topic": late},
    ]
    if down is not None:
        method.insert(0, {"at": "1s", "action": "broker.stop", "target": down})
    played = play(
        scenario(brokers=5, controller=4, assignment=[[0]], method=method, strategy="kip-455", profile="kafka-2.4")
    )
    assert (played.run.passed, played.run.reason) == (False, "not exercised")
    assert words in played.run.explanation
    assert played.admin is None
    assert played.of(MoveStarted) == []
