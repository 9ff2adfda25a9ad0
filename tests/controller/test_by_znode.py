"""/admin/reassign_partitions: what is accepted, refused, waited for and taken up again."""

import json

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from emulator.gates import Visit
from emulator.kernel import Signal
from emulator.protocol.events import MoveFinished
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import encode_reassignment
from emulator.trace.events import Step, ZkWritten
from emulator.zookeeper import Create
from tests.controller.lab import EXPIRY_US, Lab, run

A, B, GONE = TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("nowhere", 0)
ADMIN = "/admin/reassign_partitions"
PROTOCOLS: list[ReassignmentProtocol] = [Wiki(), Kafka6794()]
"""Those that know no other way to be asked; KIP-455's are tested in test_kip_455.py and in conformance."""


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.procedure.name)
def test_many_moves_one_refused_one_needless(protocol: ReassignmentProtocol) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 2)})
        await lab.reassign({GONE: (0, 1), A: (0, 1), B: (2, 3)})
        assert lab.assignment(A) == (0, 1)
        assert lab.assignment(B) == (2, 3)
        assert lab.data(ADMIN) is None
        assert len(lab.of(MoveFinished)) == 3
        assert {e.partition for e in lab.of(Step) if e.step.startswith(protocol.procedure.name)} == {1}
        await lab.reassign({A: (3, 0)})
        assert lab.assignment(A) == (3, 0), "the znode is watched again"

    run(test, brokers=4, policies=ControllerPolicies(reassignment=protocol))


@pytest.mark.parametrize(("together", "writes"), [(True, [2, 0]), (False, [2, 1, 0])])
def test_moves_that_are_not_begun_leave_the_znode_as_the_release_writes_it(together: bool, writes: list[int]) -> None:
    """KAFKA-6617 (2.0): before, each was taken out in a write of its own; a znode that keeps all was not written."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 2)})
        await lab.reassign({GONE: (0, 1), A: (0, 1)})
        await lab.reassign({B: (2, 3)})
        of_admin = [event for event in lab.of(ZkWritten) if event.path == ADMIN]
        left = [0 if event.op == "delete" else len(json.loads(event.data)["partitions"]) for event in of_admin]
        assert left == [*writes, *([1, 1, 0] if together else [1, 0])]

    run(test, brokers=4, policies=ControllerPolicies(refuses_moves_together=together))


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: p.procedure.name)
def test_a_dead_target_is_waited_for(protocol: ReassignmentProtocol) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.reassign({A: (0, 2)})
        await lab.pass_time(EXPIRY_US)
        assert lab.data(ADMIN) is not None
        assert lab.state(A).leader == 0
        lab.restart(2)
        await lab.pass_time(EXPIRY_US)
        assert lab.assignment(A) == (0, 2)
        assert lab.data(ADMIN) is None

    run(test, brokers=4, policies=ControllerPolicies(reassignment=protocol, pinned=3))


def test_kafka_6794_waits_for_a_dead_replica_that_is_to_be_dropped_and_the_wiki_does_not() -> None:
    """Step 1 needs all of CR in the ISR (readings §2)."""

    def finished(protocol: ReassignmentProtocol) -> bool:
        async def test(lab: Lab) -> bool:
            await lab.create_topic("orders", {0: (0, 1)})
            lab.nodes[1].crash()
            await lab.pass_time(EXPIRY_US)
            await lab.reassign({A: (0, 2)})
            await lab.pass_time(EXPIRY_US)
            return lab.data(ADMIN) is None

        return run(test, brokers=4, policies=ControllerPolicies(reassignment=protocol, pinned=3))

    assert finished(Wiki())
    assert not finished(Kafka6794())


@pytest.mark.parametrize("data", ["", "not json", "{}", '{"version":1,"partitions":[{}]}'])
def test_content_that_cannot_be_read_is_deleted(data: str) -> None:
    async def test(lab: Lab) -> None:
        await lab.operator.create(ADMIN, data)
        await lab.settle()
        assert lab.data(ADMIN) is None
        assert lab.active.is_active

    run(test)


def test_the_znode_shrinks_move_by_move() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0,), 1: (1,)})
        await lab.reassign({A: (2,), B: (3,)})
        await lab.write_isr(A, (0, 2))
        assert lab.data(ADMIN) == ('{"version":1,"partitions":[{"topic":"orders","partition":1,"replicas":[3]}]}')
        await lab.write_isr(B, (1, 3))
        assert lab.data(ADMIN) is None

    run(test, brokers=4, joins=False)


def test_a_request_during_failover_is_lost() -> None:
    """Kafka 2.3 writes what moves are left at F8 even where none left: what was created since F3 is deleted unread."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})

        def ask(_: Visit) -> Signal:
            asked = Signal(lab.world)
            data = encode_reassignment({A: (2, 1)})
            lab.operator.submit(Create(ADMIN, data), lambda _: asked.set())
            return asked

        lab.gates.arm("failover.F8", "before", ask)
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.data(ADMIN) is None
        assert lab.assignment(A) == (0, 1)
        assert lab.of(MoveFinished) == []

    run(test, brokers=4, policies=ControllerPolicies(pinned=3))
