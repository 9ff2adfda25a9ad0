"""shutdownBroker: leaders move away, replicas leave the ISR, the broker gets what remains (kafka-behaviour §4)."""

import pytest
from attrs import evolve

from controller.operations.rebalance import AutoRebalance
from controller.policies import ControllerPolicies
from emulator.gates import Edge
from emulator.kernel import Signal
from emulator.network import Disconnected
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControllerElected, LeaderElected
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, check_golden

LED, FOLLOWED, ALONE = (TopicPartition("orders", number) for number in range(3))
TOPIC = {0: (0, 1, 2), 1: (1, 0), 2: (0,)}
PINNED_3 = ControllerPolicies(pinned=3, auto_rebalance=AutoRebalance(enabled=False))


SOON_US = 3_000_000
"""By then a broker has heard that its session is gone."""


def request(lab: Lab, broker: int, late_by: int = 0) -> ControlledShutdownRequest:
    return ControlledShutdownRequest(broker, lab.active.context.brokers[broker] - late_by)


async def shut_down(lab: Lab, broker: int) -> ControlledShutdownResponse:
    answer: ControlledShutdownResponse = await lab.ask(request(lab, broker))
    await lab.settle()
    return answer


def test_the_page_has_three_steps() -> None:
    """Everything that the operation writes and sends; a partition with one replica is left alone."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        notes = Notes(lab)
        answer = await shut_down(lab, 0)
        assert (answer.error, answer.remaining) == (Errors.NONE, ())
        check_golden("controlled-shutdown", notes.text())

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize(("together", "requests"), [(True, 1), (False, 3)])
def test_before_1_1_each_partition_is_a_change_with_its_own_requests(together: bool, requests: int) -> None:
    """KAFKA-5642. Broker 0 leads three partitions with broker 1 and follows it in three."""

    async def test(lab: Lab) -> None:
        assignment: dict[int, tuple[int, ...]] = {number: (number % 2, 1 - number % 2) for number in range(6)}
        await lab.create_topic("orders", assignment)
        notes = Notes(lab)
        assert (await shut_down(lab, 0)).remaining == ()
        received = notes.requests(metadata=False)
        assert [len(lab.state(TopicPartition("orders", number)).isr) for number in assignment] == [1] * 6
        assert {broker: len(to) for broker, to in received.items()} == {0: 3 * requests, 1: 2 * requests}

    run(test, brokers=4, policies=evolve(PINNED_3, shuts_down_together=together), joins=False)


def test_the_stop_that_follows_changes_nothing_but_what_had_one_replica() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        await shut_down(lab, 0)
        states = [lab.state(LED), lab.state(FOLLOWED)]
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US)
        assert [lab.state(LED), lab.state(FOLLOWED)] == states
        assert (lab.state(ALONE).leader, lab.state(ALONE).isr) == (-1, (0,))
        lab.restart(0)
        await lab.pass_time(EXPIRY_US)
        assert lab.state(ALONE).leader == 0
        assert 0 not in lab.active.context.shutting_down

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_partitions_that_no_other_broker_can_lead_remain() -> None:
    """Until a follower has caught up: the broker asks again."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        await lab.write_isr(LED, (0,))
        assert (await shut_down(lab, 0)).remaining == (LED,)
        assert lab.state(LED).leader == 0
        await lab.write_isr(LED, (0, 2))
        assert (await shut_down(lab, 0)).remaining == ()
        assert (lab.state(LED).leader, lab.state(LED).isr) == (2, (2,))

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_topic_to_be_deleted_does_not_remain() -> None:
    """It waits for a dead replica and is not counted for a broker that shuts down."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        notes = Notes(lab)
        assert (await shut_down(lab, 0)).remaining == ()
        assert notes.writes() == []
        assert notes.requests() == {}

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_two_brokers_going_down_do_not_lead_each_other_s_partitions() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        await shut_down(lab, 1)
        assert (await shut_down(lab, 0)).remaining == (FOLLOWED,)
        assert (lab.state(LED).leader, lab.state(LED).isr) == (2, (2,))

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_broker_that_is_not_the_controller_refuses() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        answer = await lab.ask(request(lab, 0), broker=1)
        assert answer.error is Errors.STALE_CONTROLLER_EPOCH
        assert lab.active.context.shutting_down == {}

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize(("epoch", "error"), [(17, Errors.UNKNOWN_SERVER_ERROR), (-1, Errors.BROKER_NOT_AVAILABLE)])
def test_a_broker_that_is_not_registered(epoch: int, error: Errors) -> None:
    async def test(lab: Lab) -> None:
        answer = await lab.ask(ControlledShutdownRequest(9, epoch))
        assert answer.error is error
        assert lab.active.context.shutting_down == {}

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_no_epoch_is_not_checked() -> None:
    async def test(lab: Lab) -> None:
        assert (await lab.ask(ControlledShutdownRequest(0, -1))).error is Errors.NONE
        assert lab.active.context.shutting_down == {0: None}

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_replica_in_an_offline_log_directory_gets_no_leader_and_isr() -> None:
    """Broker 2 shuts down already, and its replica of the partition is in such a directory."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        context = lab.active.context
        context.offline_dirs[2] = {LED: None}
        context.shutting_down[2] = None
        notes = Notes(lab)
        await shut_down(lab, 0)
        moved = ["LeaderAndIsr orders-0 1/{1} epoch 1 AR {0,1,2}"]
        received = notes.requests(metadata=False)
        assert [received.get(broker, [])[:1] for broker in (0, 1, 2)] == [moved, moved, []]

    run(test, brokers=4, policies=PINNED_3, joins=False)


STEPS = [(step, edge) for step in ("shutdown.1", "shutdown.2", "shutdown.3") for edge in ("before", "after")]


@pytest.mark.parametrize(("step", "edge"), STEPS)
def test_the_next_controller_knows_nothing_and_is_asked_again(step: str, edge: Edge) -> None:
    """Shutting-down brokers are not recorded in ZooKeeper: a new controller takes the broker for live until
    it asks again."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        visits = lab.at_gate(step, edge, lambda at: at.process.node.crash())
        with pytest.raises(Disconnected):
            await lab.ask(request(lab, 0))
        await lab.pass_time(EXPIRY_US)
        assert [visit.broker for visit in visits] == [0]
        assert [e.controller_epoch for e in lab.of(ControllerElected)] == [1, 2]
        assert lab.active.context.shutting_down == {}
        assert (await shut_down(lab, 0)).remaining == ()
        for tp in (LED, FOLLOWED):
            assert 0 not in lab.state(tp).isr
            assert lab.state(tp).leader != 0
        assert lab.state(ALONE).leader == 0
        assert len([e for e in lab.of(LeaderElected) if e.selector == "controlled-shutdown"]) == 1

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_controller_that_has_been_replaced_says_so() -> None:
    """Its fenced write fails; it answers the broker with an error, and resigns by the watch."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        first, answers = lab.active, []
        held = Signal(lab.world)
        lab.gates.arm("shutdown.1", "before", lambda _: held)

        async def ask() -> None:
            answers.append(await lab.ask(request(lab, 0), broker=first.id))

        lab.process.spawn(ask)
        await lab.world.sleep(100_000)
        await lab.operator.delete("/controller")
        await lab.world.sleep(100_000)
        held.set()
        await lab.pass_time(EXPIRY_US)
        assert [answer.error for answer in answers] == [Errors.STALE_CONTROLLER_EPOCH]
        assert (lab.active.epoch, first.epoch) == (2, 0)
        assert lab.state(LED).leader == 0

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_request_dropped_at_expiry_is_answered() -> None:
    """The queue is cleared when the session expires; each waiting request gets an answer."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", TOPIC)
        first, answers = lab.active, []
        held = Signal(lab.world)
        lab.gates.arm("new-partition.1", "before", lambda _: held)
        await lab.operator.create("/brokers/topics/more", '{"version":1,"partitions":{"0":[1]}}')
        await lab.world.sleep(100_000)

        async def ask() -> None:
            answers.append(await lab.ask(request(lab, 0), broker=first.id))

        lab.process.spawn(ask)
        await lab.world.sleep(100_000)
        assert answers == []
        lab.zookeeper.expire(first.id)
        await lab.world.sleep(SOON_US)
        assert [answer.error for answer in answers] == [Errors.STALE_CONTROLLER_EPOCH]
        held.set()
        await lab.pass_time(EXPIRY_US)
        assert lab.active.context.shutting_down == {}

    run(test, brokers=4, policies=PINNED_3, joins=False)
