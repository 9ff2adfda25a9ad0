"""A broker announces a failed log directory; the controller asks which replicas it lost (kafka-behaviour §4)."""

import pytest

from controller.policies import ControllerPolicies
from emulator.gates import Edge
from emulator.protocol import znodes
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

LED, FOLLOWED, ELSEWHERE = (TopicPartition("orders", number) for number in range(3))
TOPIC = {0: (0, 1, 2), 1: (1, 0), 2: (1, 2)}
PARENT = znodes.LOG_DIR_EVENT_NOTIFICATION
PINNED_3 = ControllerPolicies(pinned=3)


async def announce(lab: Lab, broker: int) -> None:
    await lab.operator.create(f"{PARENT}/log_dir_event_", znodes.encode_log_dir_event(broker), sequential=True)
    await lab.settle()


def check_offline(lab: Lab) -> None:
    """The replicas of broker 0 are led and in sync elsewhere, while the broker is live."""
    assert (lab.state(LED).leader, lab.state(LED).isr) == (1, (1, 2))
    assert (lab.state(FOLLOWED).leader, lab.state(FOLLOWED).isr) == (1, (1,))
    assert lab.active.context.offline_dirs[0] == {LED: None, FOLLOWED: None}
    assert 0 in lab.active.context.live
    assert lab.zookeeper.tree.children(PARENT) == ()


def test_the_replicas_that_it_reports_lost_go_offline() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        lab.broken_disks[0] = None
        await announce(lab, 0)
        check_offline(lab)
        assert lab.state(ELSEWHERE).leader_epoch == 0

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_one_request_asks_for_all_replicas_of_the_broker() -> None:
    """It changes nothing where all of them are online."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        notes = Notes(lab)
        await announce(lab, 0)
        asked = "orders-0 0/{0,1,2} epoch 0 AR {0,1,2}; orders-1 1/{1,0} epoch 0 AR {1,0}"
        assert notes.requests(metadata=False) == {0: [f"LeaderAndIsr {asked}"]}
        assert lab.active.context.offline_dirs[0] == {}
        writes = [write for write in notes.writes() if "state" in write]
        assert writes == []
        assert lab.zookeeper.tree.children(PARENT) == ()

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_later_announcements_are_noticed_too() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        await announce(lab, 0)
        lab.broken_disks[0] = None
        await announce(lab, 0)
        check_offline(lab)

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_several_announcements_of_one_broker_are_one_question() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        lab.active.process.pause()
        data = znodes.encode_log_dir_event(0)
        for _ in range(3):
            await lab.operator.create(f"{PARENT}/log_dir_event_", data, sequential=True)
        before = len(lab.received)
        lab.active.process.resume()
        await lab.settle()
        asked = [broker for broker, request in lab.received[before:] if isinstance(request, LeaderAndIsrRequest)]
        assert asked == [0]
        assert lab.zookeeper.tree.children(PARENT) == ()

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize(("step", "edge"), [("broker-failure.1", "before"), ("broker-failure.3", "after")])
def test_the_next_controller_asks_everybody(step: str, edge: Edge) -> None:
    """It deletes the announcements unread (failover.F2): its first LeaderAndIsr to each broker asks the same."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        lab.broken_disks[0] = None
        visits = lab.at_gate(step, edge, lambda at: at.process.node.crash())
        await announce(lab, 0)
        await lab.pass_time(EXPIRY_US)
        assert len(visits) == 1
        assert lab.active.epoch == 2
        check_offline(lab)

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_replica_that_answers_again_is_back() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        lab.broken_disks[0] = None
        await announce(lab, 0)
        lab.broken_disks.clear()
        await announce(lab, 0)
        assert lab.active.context.offline_dirs[0] == {}

    run(test, brokers=4, policies=PINNED_3, joins=False)
