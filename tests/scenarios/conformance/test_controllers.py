"""C07, C09, C13: what brokers learn from the controller, and which controller they believe."""

import pytest

from understudy.events import ControlResponse
from understudy.testing import ClusterInstance, cluster, in_virtual_time

JITTER = {"jitter": "200us"}


@in_virtual_time(seed=1)
async def test_C07_metadata_propagation_on_broker_change() -> None:
    async with cluster(3, {"orders": [[0, 2]]}, controller=0, network=JITTER) as c:
        c.crash(2)
        await c.sleep("15s")
        assert [live_and_offline(c, broker) for broker in (0, 1)] == [((0, 1), [2])] * 2
        c.start(2)
        await c.sleep("15s")
        assert [live_and_offline(c, broker) for broker in (0, 1, 2)] == [((0, 1, 2), [])] * 3


def live_and_offline(c: ClusterInstance, broker: int) -> tuple[tuple[int, ...], list[int]]:
    """The live brokers and the offline replicas of orders-0, as ``broker`` knows them."""
    known = c.metadata(broker)
    return known.live_brokers, known.offline_replicas("orders-0")


@pytest.mark.parametrize(("profile", "noticed"), [("kafka-2.3", True), ("kafka-1.1", False)])
@in_virtual_time(seed=1)
async def test_C09_controller_detects_bounced_brokers(profile: str, noticed: bool) -> None:
    """The controller is held while broker 1 restarts: the same id, a new czxid. Before 2.2 it never finds out, and the
    broker, up and registered, serves nothing (KIP-380)."""
    partitions = "kafka.server:type=ReplicaManager,name=PartitionCount"
    async with cluster(2, {"orders": [[0, 1]]}, profile=profile, controller=0, network=JITTER) as c:
        before = c.broker_epoch(1)
        with c.hold_controller():
            c.crash(1)
            c.expire(1)
            c.start(1)
            await c.until(lambda: c.broker_epoch(1) > before)
            assert c.metric(1, partitions) == 0
        await c.sleep("15s")
        assert c.metric(1, partitions) == (1 if noticed else 0)
        assert c.metadata(1).partitions == (["orders-0"] if noticed else [])
        if noticed:
            assert live_and_offline(c, 1) == ((0, 1), [])


ZOMBIE, NEW_REPLICA = 4, 3


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-1.1"])
def test_C13_brokers_refuse_a_zombie_once_they_know_its_successor(profile: str) -> None:
    answers = answers_to_a_zombie(profile, cut_off=())
    assert len(answers) > 0
    assert {answer.error for answer in answers} == {"STALE_CONTROLLER_EPOCH"}


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-1.1"])
def test_C13_a_broker_that_does_not_know_the_successor_obeys_the_zombie(profile: str) -> None:
    """It never reads /controller_epoch."""
    answers = answers_to_a_zombie(profile, cut_off=(0, 1, 2))
    believed = [answer for answer in answers if answer.error == "NONE"]
    assert {answer.node for answer in believed} == {NEW_REPLICA}
    assert "LeaderAndIsr" in {answer.api for answer in believed}


@in_virtual_time(seed=1)
async def answers_to_a_zombie(profile: str, cut_off: tuple[int, ...]) -> list[ControlResponse]:
    """The controller stops in the middle of a move with requests in its queues; /controller is deleted, another broker
    goes on with the move, if it can reach the new replica (not from ``cut_off``); then the old one wakes. What its
    requests are answered from then on.

    Two brokers show that they are the controller, which the checkers rightly call a violation.
    """
    async with cluster(
        5, {"orders": [[0, 1, 2]]}, profile=profile, strategy="wiki", controller=ZOMBIE, checkers=False, network=JITTER
    ) as c:
        with c.gate("wiki.4", do=lambda _: c.pause(ZOMBIE)) as gate:
            await c.reassign({"orders-0": [0, 1, NEW_REPLICA]})
            await gate.reached()
        for broker in cut_off:
            c.cut(broker, NEW_REPLICA)
        await c.zk.delete("/controller")
        await c.sleep("2s")
        assert c.controller() != ZOMBIE
        woke = c.now * 1_000_000
        c.resume(ZOMBIE)
        await c.sleep("2s")
        return c.events(ControlResponse, lambda answer: answer.controller == ZOMBIE and answer.t_us > woke)
