"""Groups in a whole emulated cluster: the topic of their offsets is created on demand and replicated, so a coordinator
moves with its leader, and loses what the log loses."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.protocol.errors import Errors
from emulator.protocol.events import GroupsLoaded, OffsetsCommitted
from emulator.protocol.groups.find_coordinator import FindCoordinatorRequest
from emulator.protocol.groups.group_offsets import (
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.groups.membership import HeartbeatRequest, JoinGroupRequest, SyncGroupRequest
from emulator.protocol.types import TopicPartition
from understudy.testing import ClusterInstance, cluster, in_virtual_time

GROUP, TP = "readers", TopicPartition("orders", 0)
OFFSETS = "__consumer_offsets-0"
SETTINGS = {"offsets.topic.num.partitions": 1, "min.insync.replicas": 2}
RETRIED = (
    Errors.COORDINATOR_NOT_AVAILABLE, Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS,
    Errors.REQUEST_TIMED_OUT, Errors.UNKNOWN_TOPIC_OR_PARTITION,
)  # fmt: skip


def three(**config: int) -> Any:
    return cluster(brokers=3, topics={"orders": [[0, 1, 2]]}, config={**SETTINGS, **config})


async def coordinator(c: ClusterInstance) -> int:
    """The broker that a client finds."""
    while True:
        asked = c.up()[0]
        (found,) = (await c.send(asked, FindCoordinatorRequest((GROUP,)))).coordinators
        if not found.error and found.node in c.up():
            return int(found.node)
        await c.sleep("200ms")


async def commit(c: ClusterInstance, offset: int) -> None:
    """Commit as a consumer does that is no member: again after each error."""
    while True:
        request = OffsetCommitRequest(GROUP, (OffsetToCommit(TP, offset),))
        ((_tp, error),) = (await c.send(await coordinator(c), request, "60s")).partitions
        if not error:
            return
        assert error in RETRIED, error.name
        await c.sleep("100ms")


async def committed(c: ClusterInstance) -> int:
    while True:
        request = OffsetFetchRequest((OffsetsWanted(GROUP, (TP,)),))
        (found,) = (await c.send(await coordinator(c), request, "60s")).groups
        if not found.error:
            return int(found.partitions[0].offset)
        await c.sleep("100ms")


@in_virtual_time
async def test_the_topic_is_created_when_the_first_client_asks() -> None:
    async with three() as c:
        assert not [name for name in c.partitions() if name.startswith("__")]
        node = await coordinator(c)
        assert c.leader(OFFSETS) == node
        assert sorted(c.replicas(OFFSETS)) == [0, 1, 2]
        await commit(c, 5)
        assert await committed(c) == 5
        await c.settled()
        logs = [c.log(broker, OFFSETS) for broker in range(3)]
        assert [log and log.end_offset for log in logs] == [1, 1, 1]


@in_virtual_time
async def test_a_group_goes_on_at_the_next_coordinator() -> None:
    async with three(**{"group.initial.rebalance.delay.ms": 0}) as c:
        first = await coordinator(c)
        join = JoinGroupRequest(GROUP, "", 60_000_000, 60_000_000, "consumer", (("range", b""),))
        joined = await c.send(first, join)
        sync = SyncGroupRequest(GROUP, 1, joined.member_id, assignments=((joined.member_id, b"all"),))
        assert (await c.send(first, sync)).assignment == b"all"
        c.crash(first)
        second = await coordinator(c)
        while (await c.send(second, HeartbeatRequest(GROUP, 1, joined.member_id))).error:
            await c.sleep("100ms")
        assert (await c.send(second, SyncGroupRequest(GROUP, 1, joined.member_id))).assignment == b"all"
        assert {event.node for event in c.events(GroupsLoaded)} == {first, second}


@in_virtual_time
async def test_commits_that_one_replica_alone_has_go_with_it() -> None:
    """With min.insync.replicas=1 a coordinator acknowledges what no other replica has: an unclean election loses it."""
    config = {"min.insync.replicas": 1, "replica.lag.time.max.ms": 2_000, "unclean.leader.election.enable": True}
    async with three(**config) as c:
        await commit(c, 5)
        node = c.leader(OFFSETS)
        others = [broker for broker in range(3) if broker != node]
        for broker in others:
            c.crash(broker)
        await c.until(lambda: c.isr(OFFSETS) == [node], "60s")
        await commit(c, 9)
        c.crash(node)
        for broker in others:
            c.start(broker)
        await c.until(lambda: c.leader(OFFSETS) in others, "60s")
        assert await committed(c) == 5


FAULTS = st.lists(
    st.tuples(
        st.sampled_from(["crash", "host", "stop", "expire", "move", "elect"]), st.integers(0, 2), st.integers(0, 3_000)
    ),
    max_size=4,
)  # fmt: skip


@settings(max_examples=12, deadline=None, derandomize=True)
@given(FAULTS)
def test_no_acknowledged_commit_is_lost_with_two_replicas_in_sync(faults: list[tuple[str, int, int]]) -> None:
    in_virtual_time(_commit_through)(faults)


async def _commit_through(faults: list[tuple[str, int, int]]) -> None:
    async with three() as c:
        offset = 1
        await commit(c, offset)
        for kind, number, pause_ms in faults:
            await c.settled()
            target = c.leader(OFFSETS) if number == 0 else number
            await _strike(c, kind, target)
            offset += 1
            await commit(c, offset)
            await c.sleep(f"{pause_ms}ms")
            assert await committed(c) == offset
            for broker in range(3):
                if broker not in c.up():
                    c.start(broker)
        assert await committed(c) == offset
        acknowledged = [event.offsets[0] for event in c.events(OffsetsCommitted) if event.error == "NONE"]
        assert max(acknowledged) == offset


async def _strike(c: ClusterInstance, kind: str, target: int) -> None:
    if kind == "crash":
        c.crash(target)
    elif kind == "host":
        c.crash(target, "host")
    elif kind == "stop":
        await c.stop(target)
    elif kind == "expire":
        c.expire(target)
    elif kind == "move":
        replicas = c.replicas(OFFSETS)
        await c.reassign({OFFSETS: [*replicas[1:], replicas[0]]})
        await c.elect_preferred(OFFSETS)
    else:
        await c.elect_preferred(OFFSETS)
