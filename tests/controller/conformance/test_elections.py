"""ControllerIntegrationTest of Kafka 2.4.1: conformance C21, C23 and C25. Broker 0 is the "other" one."""

from attrs import evolve

from controller.operations.rebalance import AutoRebalance
from controller.policies import ControllerPolicies
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from tests.controller.lab import EXPIRY_US, Lab, run

TP = TopicPartition("orders", 0)
CONTROLLER = 1
BY_HAND = ControllerPolicies(pinned=CONTROLLER, auto_rebalance=AutoRebalance(enabled=False))


async def bounce(lab: Lab) -> None:
    """Broker 0 stops, starts and catches up."""
    lab.nodes[0].crash()
    await lab.pass_time(EXPIRY_US)
    lab.restart(0)
    await lab.pass_time(1_000_000)
    await lab.write_isr(TP, (CONTROLLER, 0))


def test_C21_back_to_back_preferred_replica_leader_elections() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, CONTROLLER)})
        for epoch in (2, 4):
            await bounce(lab)
            await lab.operator.create(znodes.PREFERRED_REPLICA_ELECTION, znodes.encode_preferred_election([TP]))
            await lab.settle()
            assert lab.data(znodes.PREFERRED_REPLICA_ELECTION) is None
            state = lab.state(TP)
            assert (state.leader, state.leader_epoch) == (0, epoch)

    run(test, brokers=2, policies=BY_HAND, joins=False)


def test_C23_auto_preferred_replica_leader_election() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, CONTROLLER)})
        await bounce(lab)
        assert lab.state(TP).leader == CONTROLLER
        await lab.pass_time(1_000_000)
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch) == (0, 2)
        assert [e for e in lab.of(ZkWritten) if e.path == znodes.PREFERRED_REPLICA_ELECTION] == []

    run(test, brokers=2, policies=evolve(BY_HAND, auto_rebalance=AutoRebalance(interval_us=1_000_000)), joins=False)


def test_C25_entire_isr_offline_and_unclean_leader_election_enabled() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0,)})
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US)
        state = lab.state(TP)
        assert (state.leader, state.isr, state.leader_epoch) == (-1, (0,), 1)

    run(test, brokers=2, policies=evolve(BY_HAND, unclean_leader_election=True), joins=False)
