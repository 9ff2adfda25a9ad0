"""The replica states of Kafka 0.8.0 (kafka.controller.ReplicaStateMachine; readings §3)."""

from controller.states import ReplicaState
from emulator.protocol.events import LeaderElected
from tests.controller.crashes import KAFKA_42, TP
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes


def test_a_dead_follower_leaves_the_isr_and_only_the_leader_hears_of_it() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        assert notes.requests(metadata=False) == {0: ["LeaderAndIsr orders-0 0/{0,1} epoch 1 AR {0,1,2}"]}

    run(test, brokers=7, policies=KAFKA_42, joins=False)


def test_a_dead_replica_outside_the_isr_is_only_marked() -> None:
    """Nothing is written or sent. The controller's memory decides, so a replica that has joined the ISR since, without
    the controller's knowledge, stays in it."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        controller = lab.active
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        lab.restart(2)
        await lab.pass_time(EXPIRY_US)
        assert controller.context.replica_state(TP, 2) is ReplicaState.ONLINE
        await lab.write_isr(TP, (0, 1, 2))
        notes = Notes(lab)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        assert controller.context.replica_state(TP, 2) is ReplicaState.OFFLINE
        assert lab.state(TP).isr == (0, 1, 2)
        assert notes.requests(metadata=False) == {}

    run(test, brokers=7, policies=KAFKA_42, joins=False)


def test_the_isr_becomes_empty_and_the_next_leader_is_whoever_comes_back() -> None:
    """Before KAFKA-1028, which keeps the last member, it was not known which replica had all records."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        for broker in (1, 0):
            lab.nodes[broker].crash()
            await lab.pass_time(EXPIRY_US)
        state = lab.state(TP)
        assert (state.leader, state.isr, state.leader_epoch) == (-1, (), 2)
        lab.restart(1)
        await lab.pass_time(EXPIRY_US)
        assert (lab.state(TP).leader, lab.state(TP).isr) == (1, (1,))
        assert [(e.leader, e.unclean) for e in lab.of(LeaderElected)] == [(0, False), (1, True)]

    run(test, brokers=7, policies=KAFKA_42, joins=False)


def test_a_new_controller_leaves_dead_replicas_in_their_isrs() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.nodes[2].crash()
        lab.nodes[6].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).isr == (0, 1, 2)
        assert lab.active.context.replica_state(TP, 2) is ReplicaState.OFFLINE

    run(test, brokers=7, policies=KAFKA_42, joins=False)
