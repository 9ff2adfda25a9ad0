"""Cases of Kafka's suites about the throttle of kafka-reassign-partitions, and about log_dirs in its plans:
ReassignPartitionsClusterTest and ReassignPartitionsCommandTest (1.1.1, 2.3.1, 2.4.1), ReassignPartitionsUnitTest and
ReassignPartitionsIntegrationTest (2.7.2), ReplicationQuotasTest (2.3.1)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from emulator.protocol.log_dirs import DescribeLogDirsRequest
from emulator.protocol.znodes import decode_config
from scenarios.cluster.clients.tools.throttle import COPY_RATE, LISTS, RATES, involved, throttled_lists
from scenarios.language.plan import Move, Plan
from understudy.actions import ReassignCancel, ReassignExecute, ReassignVerify
from understudy.events import AlterLogDirAnswered, MovesVerified
from understudy.protocol import TopicPartition
from understudy.testing import ClusterInstance, cluster, in_virtual_time

BY_ZNODE = ["kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.5"]
BY_API = ["kafka-2.6", "kafka-2.7", "kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9"]
KEEP_FOLLOWERS = ("kafka-2.8", "kafka-3.0", "kafka-3.3", "kafka-3.6", "kafka-3.9")
"""The releases whose tool keeps the followers' throttle of moves under way (KAFKA-10779)."""
RELEASES = pytest.mark.parametrize("release", [*BY_ZNODE, *BY_API])
MB = 1_000_000


def plan(targets: Mapping[str, Sequence[int]], **log_dirs: Sequence[str]) -> Plan:
    moves = []
    for name, replicas in targets.items():
        tp = TopicPartition.parse(name)
        moves.append(
            Move(topic=tp.topic, partition=tp.partition, replicas=replicas, log_dirs=log_dirs.get(tp.topic, ()))
        )
    return Plan(partitions=moves)


def settings(c: ClusterInstance, entity: str) -> dict[str, str]:
    data = c.znode(f"/config/{entity}")
    return {} if data is None else decode_config(data)


def rates(c: ClusterInstance) -> dict[int, str]:
    """The brokers whose two rates are set, and to what."""
    found = {broker: settings(c, f"brokers/{broker}") for broker in range(6)}
    assert all(one.get(RATES[0]) == one.get(RATES[1]) for one in found.values())
    return {broker: one[RATES[0]] for broker, one in found.items() if RATES[0] in one}


def lists(c: ClusterInstance, topic: str) -> list[set[str] | None]:
    found = settings(c, f"topics/{topic}")
    return [set(found[name].split(",")) if name in found else None for name in LISTS]


async def fill(c: ClusterInstance, *names: str, megabytes: int = 20) -> None:
    for name in names:
        for _ in range(megabytes):
            await c.produce(name, 10, size=100_000)


async def run(c: ClusterInstance, action: Any) -> None:
    c.perform(action)
    await c.sleep("2s")


# -- the throttle of a plan -------------------------------------------------------------------------------------------


@RELEASES
@in_virtual_time
async def test_change_throttle_on_rerun_and_remove_on_verify(release: str) -> None:
    """shouldChangeThrottleOnRerunAndRemoveOnVerify; testAlterReassignmentThrottle. By the API the second run takes the
    followers' half away, as the replica that is being added counts as one from before (KAFKA-10779, up to 2.7)."""
    wanted = plan({"t-0": [1, 2]})
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        await fill(c, "t-0")
        await run(c, ReassignExecute(plan=wanted, throttle=MB))
        throttled = [{"0:0", "0:1"}, {"0:2"}]
        assert (rates(c), lists(c, "t")) == (dict.fromkeys((0, 1, 2), str(MB)), throttled)
        await run(c, ReassignVerify(plan=wanted))
        assert (rates(c), lists(c, "t")) == (dict.fromkeys((0, 1, 2), str(MB)), throttled)
        await run(c, ReassignExecute(plan=wanted, throttle=1000 * MB))
        assert rates(c) == dict.fromkeys((0, 1, 2), str(1000 * MB))
        kept = release in (*BY_ZNODE, *KEEP_FOLLOWERS)
        assert lists(c, "t") == (throttled if kept else [{"0:0", "0:1", "0:2"}, {""}])
        await c.until(lambda: c.replicas("t-0") == [1, 2])
        await c.settled()
        await run(c, ReassignVerify(plan=wanted))
        assert (rates(c), lists(c, "t")) == ({}, [None, None])
        assert [event[3:] for event in c.events(MovesVerified)] == [(0, 1, 0, False), (1, 0, 0, True)]


@RELEASES
@in_virtual_time
async def test_execute_throttled_reassignment(release: str) -> None:
    """shouldExecuteThrottledReassignment, testThrottledReassignment: 50 MB at 10 MB/s take more than 4.5 s, less than
    ten."""
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        await fill(c, "t-0", megabytes=50)
        began = c.now
        c.perform(ReassignExecute(plan=plan({"t-0": [1, 2]}), throttle=10 * MB))
        await c.until(lambda: c.replicas("t-0") == [1, 2])
        assert 4.5 <= c.now - began <= 10


@RELEASES
@in_virtual_time
async def test_throttled_reassignment_over_various_topics(release: str) -> None:
    """shouldPerformThrottledReassignmentOverVariousTopics: without data any throttle is high enough."""
    topics = {
        "orders": [[0, 1, 2], [0, 1, 2]],
        "payments": [[0, 1], [0, 1]],
        "deliveries": [[0]],
        "customers": [[0], [1], [2], [3]],
    }
    moves = {"orders-0": [0, 2, 3], "orders-1": [0, 1, 2], "payments-1": [1, 2], "deliveries-0": [1, 2]}
    async with cluster(4, topics, profile=release) as c:
        before = {name: c.replicas(name) for name in c.partitions()}
        c.perform(ReassignExecute(plan=plan(moves), throttle=1000))
        await c.until(lambda: {name: c.replicas(name) for name in before} == {**before, **moves})
        await c.settled()
        assert lists(c, "customers") == [None, None]


@pytest.mark.parametrize("release", ["kafka-2.5", *BY_API])
@in_virtual_time
async def test_rerun_with_zookeeper_while_another_plan_is_under_way(release: str) -> None:
    """executeAssignment with --zookeeper: up to 2.5 the rates change, also those of brokers that this plan alone names;
    the tool of 2.6 refuses, and changes nothing."""
    async with cluster(5, {"t": [[0, 1]], "u": [[0]]}, profile=release, controller=4) as c:
        await fill(c, "t-0")
        await run(c, ReassignExecute(plan=plan({"t-0": [1, 2]}), throttle=MB, via="zk"))
        refused = "REASSIGNMENT_IN_PROGRESS"
        other = plan({"u-0": [3]})
        await run(c, ReassignExecute(plan=other, throttle=2 * MB, via="zk", expect_error=refused))
        mine = {0: 2 * MB, 1: MB, 2: MB, 3: 2 * MB} if release == "kafka-2.5" else dict.fromkeys((0, 1, 2), MB)
        assert rates(c) == {broker: str(rate) for broker, rate in mine.items()}
        assert lists(c, "u") == [None, None]
        await run(c, ReassignExecute(plan=plan({"t-0": [1, 2]}), throttle=1000 * MB, via="zk",
                                     expect_error=None if release == "kafka-2.5" else refused))  # fmt: skip
        await c.until(lambda: c.replicas("t-0") == [1, 2], within="2m")
        await c.settled()


@pytest.mark.parametrize("release", ["kafka-2.5", *BY_API])
@in_virtual_time
async def test_verify_with_zookeeper_clears_brokers_that_are_down(release: str) -> None:
    """clearAllThrottles: those of the plan, too (2.6); before, of registered brokers only (removeThrottle)."""
    wanted = plan({"t-0": [1, 2]})
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        await run(c, ReassignExecute(plan=wanted, throttle=MB, via="zk"))
        await c.settled()
        await c.stop(0)
        await c.stop(2)
        await run(c, ReassignVerify(plan=wanted, via="zk"))
        assert rates(c) == dict.fromkeys((0, 2) if release == "kafka-2.5" else (0,), str(MB))
        assert lists(c, "t") == [None, None]


@pytest.mark.parametrize("release", [*BY_ZNODE, *BY_API])
@in_virtual_time
async def test_verify_of_a_plan_that_has_failed(release: str) -> None:
    """removeThrottle, up to 2.5: only if every partition has its target; since 2.6 if nothing is being reassigned."""
    async with cluster(4, {"t": [[0, 1]]}, profile=release, controller=3) as c:
        await run(c, ReassignExecute(plan=plan({"t-0": [1, 2]}), throttle=MB))
        await c.settled()
        await run(c, ReassignVerify(plan=plan({"t-0": [0, 3]})))
        [verified] = c.events(MovesVerified)
        assert verified[3:] == (0, 0, 1, release in BY_API)
        assert bool(rates(c)) == (release in BY_ZNODE)


@RELEASES
@in_virtual_time
async def test_other_settings_stay(release: str) -> None:
    """shouldNotOverwriteEntityConfigsWhenUpdatingThrottledReplicas, shouldUpdateQuotaLimit,
    shouldNotOverwriteExistingPropertiesWhenLimitIsAdded, shouldRemoveThrottleLimitFromAllBrokers,
    shouldRemoveThrottleReplicaListBasedOnProposedAssignment: also rates of brokers outside the plan
    are cleared."""
    wanted, other = plan({"t-0": [1, 2]}), {"min.insync.replicas": "1"}
    async with cluster(4, {"t": [[0, 1]], "u": [[0]]}, profile=release, controller=3) as c:
        await c.alter_config({RATES[0]: 100, RATES[1]: 10, "num.io.threads": 9}, broker=1)
        await c.alter_config({RATES[0]: 100, RATES[1]: 100}, broker=3)
        await c.alter_config({**other, LISTS[0]: "*"}, topic="t")
        await c.alter_config({LISTS[0]: "*"}, topic="u")
        await run(c, ReassignExecute(plan=wanted, throttle=MB))
        assert rates(c) == {**dict.fromkeys((0, 1, 2), str(MB)), 3: "100"}
        assert settings(c, "topics/t").items() >= other.items()
        assert settings(c, "brokers/1")["num.io.threads"] == "9"
        await c.settled()
        await run(c, ReassignVerify(plan=wanted))
        assert rates(c) == {}
        assert (settings(c, "topics/t"), settings(c, "brokers/1")) == (other, {"num.io.threads": "9"})
        assert lists(c, "u") == [{"*"}, None]


@pytest.mark.parametrize("release", ["kafka-2.4", *BY_API])
@in_virtual_time
async def test_cancellation_clears_the_throttle(release: str) -> None:
    """testCancellation: two moves at 1 B/s; asked once more nothing is left to cancel."""
    topics = {"foo": [[0, 1, 2], [1, 2, 3]], "baz": [[1, 0, 2], [2, 0, 1], [0, 2, 1]]}
    async with cluster(5, topics, profile=release, controller=4) as c:
        await fill(c, "foo-0", "baz-1", megabytes=2)
        wanted = plan({"foo-0": [0, 1, 3], "baz-1": [0, 2, 3]})
        await run(c, ReassignExecute(plan=wanted, throttle=1, via="api"))
        assert rates(c) == dict.fromkeys((0, 1, 2, 3), "1")
        assert (c.replicas("foo-0"), c.replicas("baz-1")) == ([0, 1, 3, 2], [0, 2, 3, 1])
        await run(c, ReassignCancel(partitions=("foo-0", "baz-1")))
        assert (c.replicas("foo-0"), c.replicas("baz-1")) == ([0, 1, 2], [0, 2, 1])
        assert rates(c) == {}
        await run(c, ReassignVerify(plan=wanted, via="api"))
        [verified] = c.events(MovesVerified)
        assert verified[3:6] == (0, 0, 2)


# -- which replicas ---------------------------------------------------------------------------------------------------

OLD, NEW = False, True
Case = tuple[dict[str, tuple[int, ...]], dict[str, tuple[int, ...]], dict[str, tuple[str, str]]]
MOVING: dict[str, Case] = {
    "MovingReplicas": (
        {"topic1-0": (100, 101), "topic1-1": (100, 102)},
        {"topic1-0": (101, 102), "topic1-1": (100, 102)},
        {"topic1": ("0:100 0:101", "0:102")},
    ),
    "WhenProposedIsSubsetOfExisting": (
        {"topic1-0": (100, 101), "topic1-1": (100, 102), "topic1-2": (100, 101), "topic2-0": (100, 101, 102)},
        {"topic1-0": (101, 102), "topic1-1": (102,), "topic1-2": (100, 101, 102)},
        {"topic1": ("0:100 0:101 2:100 2:101", "0:102 2:102")},
    ),
    "MultipleTopicsAndPartitions": (
        {"topic1-0": (100, 101), "topic1-1": (100, 101), "topic2-0": (101, 102), "topic2-1": (101, 102)},
        {"topic1-0": (101, 102), "topic1-1": (101, 102), "topic2-0": (100, 102), "topic2-1": (101, 100)},
        {
            "topic1": ("0:100 0:101 1:100 1:101", "0:102 1:102"),
            "topic2": ("0:101 0:102 1:101 1:102", "0:100 1:100"),
        },
    ),
    "TwoMovingReplicasInSamePartition": (
        {"topic1-0": (100, 101, 102, 103), "topic1-1": (100, 102)},
        {"topic1-0": (100, 101, 104, 105), "topic1-1": (100, 102)},
        {"topic1": ("0:100 0:101 0:102 0:103", "0:104 0:105")},
    ),
}


@pytest.mark.parametrize("case", MOVING)
def test_find_moving_replicas(case: str) -> None:
    """shouldFindMovingReplicas...: of the partitions that move."""
    existing, proposed, expected = (
        {TopicPartition.parse(name) if "-" in name else name: found for name, found in part.items()}
        for part in MOVING[case]
    )
    found = throttled_lists(existing, proposed)  # type: ignore[arg-type]
    assert {topic: tuple(" ".join(sorted(one[name].split(","))) for name in LISTS) for topic, one in found.items()} == (
        expected
    )


def test_move_map() -> None:
    """testMoveMap (2.7.2): what is under way counts, too, and texts are in their own order. Kafka gives the moves in
    progress without their new replicas there; real brokers list those among the replicas (KAFKA-10779)."""
    under_way = {TopicPartition("foo", 1): (6, 5, 4)}
    current = {TopicPartition("foo", 0): (3, 1, 2), TopicPartition("bar", 0): (2, 3, 4)}
    proposed = {TopicPartition("foo", 0): (1, 2, 5), TopicPartition("bar", 0): (1, 2, 3)}
    moves = {**dict.fromkeys(under_way, (7, 8)), **proposed}
    assert throttled_lists({**under_way, **current}, moves, all_leaders=True) == {
        "foo": dict(zip(LISTS, ("0:1,0:2,0:3,1:4,1:5,1:6", "0:5,1:7,1:8"), strict=True)),
        "bar": dict(zip(LISTS, ("0:2,0:3,0:4", "0:1"), strict=True)),
    }
    assert involved({**under_way, **current}, moves) == [f"brokers/{broker}" for broker in range(1, 9)]


# -- log_dirs ---------------------------------------------------------------------------------------------------------


async def directory(c: ClusterInstance, broker: int, tp: TopicPartition) -> list[str]:
    found = (await c.send(broker, DescribeLogDirsRequest())).directories
    return [each.name for each in found for replica in each.replicas if replica.tp == tp]


@RELEASES
@in_virtual_time
async def test_move_single_partition_with_log_dir(release: str) -> None:
    """shouldMoveSinglePartition, shouldMoveSinglePartitionWithinBroker, testLogDirReassignment: up to 2.5 the broker is
    asked before the plan, so that the new replica begins in its directory; the tool of 2.6 asks after it only."""
    tp = TopicPartition("t", 0)
    async with cluster(3, {"t": [[0]]}, profile=release, controller=2, log_dirs=3) as c:
        await fill(c, "t-0", megabytes=2)
        c.perform(ReassignExecute(plan=plan({"t-0": [1]}, t=["/data/2"])))
        await c.until(lambda: c.replicas("t-0") == [1])
        await c.settled()
        assert await directory(c, 1, tp) == ["/data/2"]
        answers = [event.error for event in c.events(AlterLogDirAnswered)]
        assert answers[0] == ("REPLICA_NOT_AVAILABLE" if release in BY_ZNODE else answers[0])
        assert answers[-1] == "NONE"
        c.perform(ReassignExecute(plan=plan({"t-0": [1]}, t=["/data/1"])))
        await c.settled()
        assert await directory(c, 1, tp) == ["/data/1"]


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.5", *BY_API])
@in_virtual_time
async def test_alter_log_dir_reassignment_throttle(release: str) -> None:
    """testAlterLogDirReassignmentThrottle: the rate is changed by a second run, and the copy ends (in 2.4 its plan
    fences the copy, KAFKA-9654). Up to 2.5 each broker of the plan's topics gets it, since 2.6 those that copy."""
    tp, wanted = TopicPartition("t", 0), plan({"t-0": [0, 1]}, t=["/data/1", "any"])
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, log_dirs=2) as c:
        await fill(c, "t-0", megabytes=7)
        copying = (0, 1) if release in BY_ZNODE else (0,)
        for rate in (1, 3 * MB):
            await run(c, ReassignExecute(plan=wanted, log_dirs_throttle=rate))
            found = {broker: settings(c, f"brokers/{broker}").get(COPY_RATE) for broker in range(3)}
            assert {broker: one for broker, one in found.items() if one} == dict.fromkeys(copying, str(rate))
        await c.settled()
        assert await directory(c, 0, tp) == ["/data/1"]
        await run(c, ReassignVerify(plan=wanted))
        assert [settings(c, f"brokers/{broker}").get(COPY_RATE) for broker in range(3)] == [None] * 3


@RELEASES
@in_virtual_time
async def test_fail_if_proposed_has_invalid_log_dir(release: str) -> None:
    """shouldFailIfProposedHasInvalidLogDir: up to 2.5 nothing is written; since 2.6 the replica has moved by then."""
    async with cluster(3, {"t": [[0]]}, profile=release, controller=2, log_dirs=2) as c:
        wanted = plan({"t-0": [1]}, t=["invalidDir"])
        c.perform(ReassignExecute(plan=wanted))
        await c.settled()
        assert c.replicas("t-0") == ([0] if release in BY_ZNODE else [1])
        assert [event.error for event in c.events(AlterLogDirAnswered)] == ["LOG_DIR_NOT_FOUND"]


# -- ReplicationQuotasTest --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by_leader", [True, False])
@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.7"])
@in_virtual_time
async def test_match_quota_replicating_through_an_asymmetric_topology(release: str, by_leader: bool) -> None:
    """shouldBootstrapTwoBrokersWithLeaderThrottle, ...WithFollowerThrottle: six leaders, two brokers that come later
    with three throttled replicas each, and two replicas that no list names: these have all at once."""
    replicas = [[0, 6], [1, 6], [2, 6], [3, 7], [4, 7], [5, 7], [0, 6], [1, 7]]
    side, listed = ("leader", 0) if by_leader else ("follower", 1)
    throttle = MB if by_leader else 3 * MB
    async with cluster(8, {"t": replicas}, profile=release, controller=5) as c:
        for broker in (6, 7):
            await c.stop(broker)
        for broker in range(8):
            await c.alter_config(dict.fromkeys(RATES, throttle), broker=broker)
        throttled = ",".join(f"{number}:{one[listed]}" for number, one in enumerate(replicas[:6]))
        await c.alter_config({f"{side}.replication.throttled.replicas": throttled}, topic="t")
        await fill(c, *(f"t-{number}" for number in range(8)), megabytes=10)
        await c.sleep("15s")  # Kafka's two brokers are new: no leader has counted any fetch of theirs
        began = c.now
        for broker in (6, 7):
            c.start(broker)

        def copied(number: int) -> bool:
            log = c.log(replicas[number][1], f"t-{number}")
            return log is not None and log.end_offset == 100

        await c.until(lambda: copied(6) and copied(7))
        assert c.now - began < 9
        average = []
        while not all(copied(number) for number in range(6)):
            await c.sleep("1s")
            name = f"kafka.server:type={side.capitalize()}Replication:byte-rate"
            measured = [c.metric(broker, name) for broker in (range(6) if by_leader else (6, 7))]
            average.append(sum(measured) / len(measured))
        assert 9 <= c.now - began <= 30
        assert throttle * 0.5 < average[-1] < throttle * 1.1


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.3", "kafka-2.7"])
@in_virtual_time
async def test_throttle_old_segments(release: str) -> None:
    """shouldThrottleOldSegments: 20 MB in segments of 1 MiB at 5 MB/s, from a leader that alone is throttled."""
    config = {"log.segment.bytes": 2**20}
    async with cluster(3, {"t": [[0, 1]]}, profile=release, controller=2, config=config) as c:
        await c.stop(1)
        await c.alter_config({RATES[0]: 5 * MB}, broker=0)
        await c.alter_config({LISTS[0]: "0:0"}, topic="t")
        await fill(c, "t-0", megabytes=20)
        await c.sleep("15s")
        c.start(1)
        began = c.now
        await c.until(lambda: 1 in c.isr("t-0"))
        assert 3.6 <= c.now - began <= 6
