"""The controller dies at every edge of every step of a move, and the next one finishes it (readings §5)."""

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from emulator.gates import Edge, Visit
from emulator.protocol.events import ControllerElected, MoveFinished
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
OLD, NEW = (0, 1, 2), (1, 3, 4)
EDGES: tuple[Edge, Edge] = ("before", "after")
WIKI = [(Wiki(), step, edge, 0) for step in Wiki.procedure.steps for edge in EDGES]
SIX = [(Kafka6794(), step, edge, hop) for hop in (1, 2, 3) for step in Kafka6794.procedure.steps for edge in EDGES]
TWELVE = "kafka-6794.12"
CASES = WIKI + [case for case in SIX if case[1] != TWELVE or case[3] == 3]

LOST = [("kafka-6794.5", "after"), *((f"kafka-6794.{n}", edge) for n in range(6, 11) for edge in EDGES)]
"""Step 5 has named TR in ZooKeeper, the dropped replica is not out of the ISR: nobody will take it out."""


def name(case: tuple[ReassignmentProtocol, str, Edge, int]) -> str:
    return f"{case[1]}-{case[2]}" + (f"-hop-{case[3]}" if case[3] else "")


@pytest.mark.parametrize("case", CASES, ids=name)
def test_the_next_controller_finishes_the_move(case: tuple[ReassignmentProtocol, str, Edge, int]) -> None:
    protocol, step, edge, hop = case

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})
        first = lab.active
        visits = lab.at_gate(step, edge, lambda at: at.process.node.crash(), hop=hop)
        await lab.reassign({TP: NEW})
        await lab.pass_time(EXPIRY_US)
        assert [visit.step for visit in visits] == [step], "the gate was never reached"
        assert not first.process.alive
        assert [e.controller_epoch for e in lab.of(ControllerElected)] == [1, 2]
        assert lab.active is not first
        assert lab.data("/admin/reassign_partitions") is None
        assert lab.assignment(TP) == NEW
        assert len(lab.of(MoveFinished)) == 1
        check_isr(lab, harmed=hop > 0 and (step, edge) in LOST)

    pinned = ControllerPolicies(reassignment=protocol, pinned=6)
    run(test, brokers=7, policies=pinned)


def check_isr(lab: Lab, *, harmed: bool) -> None:
    state = lab.state(TP)
    if harmed:
        assert [replica for replica in state.isr if replica in NEW] != []
    else:
        assert sorted(state.isr) == sorted(NEW)
        assert state.leader in NEW


def test_kafka_6794_last_hop_can_leave_the_leader_outside() -> None:
    """Because the assignment is written first: a crash between steps 5 and 9 of the last hop."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})
        lab.at_gate("kafka-6794.5", "after", lambda at: at.process.node.crash(), hop=3)
        await lab.reassign({TP: NEW})
        await lab.pass_time(EXPIRY_US)
        assert lab.assignment(TP) == NEW
        assert lab.state(TP).leader == 0
        assert lab.data("/admin/reassign_partitions") is None

    run(test, brokers=7, policies=ControllerPolicies(reassignment=Kafka6794(), pinned=6))


def test_a_resumed_wiki_move_has_no_replica_to_start() -> None:
    """After the crash OAR is AR - RAR, and step 3 finds none to start: failover has started them all (readings §5)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})
        lab.at_gate("wiki.3", "before", lambda at: at.process.node.crash())
        lab.joins = False
        await lab.reassign({TP: NEW})
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        assert lab.active.context.replicas(TP) == (0, 1, 2, 3, 4)
        assert notes.requests() == {}
        told = [line for b, lines in requests_since_failover(lab).items() for line in lines if b in (3, 4)]
        assert not [line for line in told if line.endswith(" new")]
        assert "LeaderAndIsr orders-0 0/{0,1,2} epoch 1 AR {0,1,2,3,4}" in told

    def requests_since_failover(lab: Lab) -> dict[int, list[str]]:
        return Notes(lab, from_start=True).requests(metadata=False)

    run(test, brokers=7, policies=ControllerPolicies(pinned=6))


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("step", [f"failover.F{n}" for n in range(1, 10)])
def test_a_controller_dies_in_its_failover(step: str, edge: Edge) -> None:
    """The second controller dies at each edge of its failover; the third one finishes the move."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})

        def crash_with_arm(at: Visit) -> None:
            lab.at_gate(step, edge, lambda second: second.process.node.crash())
            at.process.node.crash()

        lab.at_gate("wiki.7", "before", crash_with_arm)
        await lab.reassign({TP: NEW})
        await lab.pass_time(EXPIRY_US)
        await lab.pass_time(EXPIRY_US)
        assert [e.controller_epoch for e in lab.of(ControllerElected)] == [1, 2, 3]
        for broker, node in lab.nodes.items():
            if not node.running:
                lab.restart(broker)
        await lab.pass_time(EXPIRY_US)
        assert lab.data("/admin/reassign_partitions") is None
        assert lab.assignment(TP) == NEW
        state = lab.state(TP)
        # A restarted replica is let in again by fetching, which these brokers do not do.
        assert [replica for replica in state.isr if replica not in NEW] == []
        assert state.leader in NEW

    run(test, brokers=9, policies=ControllerPolicies(pinned=6))


def test_failover_passes_its_gates_in_order() -> None:
    async def test(lab: Lab) -> None:
        steps = [(e.step, e.edge) for e in lab.of(Step)]
        assert steps == [(f"failover.F{n}", edge) for n in range(1, 10) for edge in EDGES]

    run(test)


@pytest.mark.parametrize(("step", "edge"), [("wiki.10", "after"), ("wiki.11", "before")])
def test_after_step_10_only_the_entry_is_left_to_remove(step: str, edge: Edge) -> None:
    """AR = RAR then, and the next controller takes no step at all (readings §5)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})
        lab.at_gate(step, edge, lambda at: at.process.node.crash())
        await lab.reassign({TP: NEW})
        epoch = lab.state(TP).leader_epoch
        notes = Notes(lab)
        await lab.pass_time(EXPIRY_US)
        assert [taken for taken in notes.steps() if taken.startswith("wiki")] == []
        assert lab.data("/admin/reassign_partitions") is None
        assert len(lab.of(MoveFinished)) == 1
        assert lab.state(TP).leader_epoch == epoch

    run(test, brokers=7, policies=ControllerPolicies(pinned=6))


def test_one_seed_one_trace_on_both_backends() -> None:
    async def test(lab: Lab) -> str:
        await lab.create_topic("orders", {0: OLD, 1: (2, 3, 4)})
        lab.at_gate("wiki.8", "before", lambda at: at.process.node.crash())
        await lab.reassign({TP: NEW})
        await lab.pass_time(EXPIRY_US)
        lab.restart(6)
        await lab.pass_time(EXPIRY_US)
        return lab.trace.digest()

    pinned = ControllerPolicies(pinned=6)
    first = run(test, brokers=7, policies=pinned, seed=5)
    assert run(test, brokers=7, policies=pinned, seed=5) == first
    assert run(test, brokers=7, policies=pinned, seed=5, backend="attached") == first
    assert run(test, brokers=7, policies=pinned, seed=6) != first


def test_a_controller_that_takes_up_moves_one_by_one_takes_up_those_that_are_not_done() -> None:
    """KAFKA-6193."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (1, 3, 4)})
        lab.nodes[6].crash()
        await lab.pass_time(EXPIRY_US)
        assert list(lab.active.context.reassignments) == [TP]

    together = ControllerPolicies(reassignment=Wiki(), pinned=6)
    run(test, brokers=7, policies=evolve(together, takes_up_moves_together=False, refuses_moves_together=False))
