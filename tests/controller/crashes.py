"""Rows of crash tables: the controller dies after a step, and what the next one finds and does (readings §2 and §5)."""

from attrs import define, evolve, frozen

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_42 import Kafka42
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.wiki import Wiki
from controller.state_machines.leader_election_algorithms import IN_ORDER_OF_ISR
from controller.state_machines.rules import FOUR_STATES
from emulator.gates import Edge, Visit
from emulator.protocol.events import LeaderElected, MoveFinished
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
RULES = evolve(FOUR_STATES, stops_offline=False, trusts_memory=True, keeps_last_in_isr=False)
"""The rules of the first release (kafka.controller.ReplicaStateMachine, 0.8.0)."""
KAFKA_42 = ControllerPolicies(reassignment=Kafka42(), replicas=RULES, selectors=IN_ORDER_OF_ISR, pinned=6)
WIKI = ControllerPolicies(reassignment=Wiki(), pinned=6)
KAFKA_6794 = ControllerPolicies(reassignment=Kafka6794(), pinned=6)
Replicas = tuple[int, ...]


@frozen
class Znodes:
    """AR, and the state znode: leader, ISR, leader epoch, zkVersion."""

    assigned: Replicas
    leader: int
    isr: Replicas
    epoch: int
    version: int


def znodes(lab: Lab) -> Znodes:
    state = lab.state(TP)
    return Znodes(lab.assignment(TP), state.leader, tuple(sorted(state.isr)), state.leader_epoch, state.zk_version)


@define(eq=False)
class Recovery:
    """What happened.

    Attributes:
        found: the znodes when the controller died.
        steps: those of the protocol that the next controller took, with the hop where there is one, in order.
        elected: whom it elected, by which selector.
        started: the brokers that it told to follow as new replicas.
        deleted: the brokers that it told to delete their replica.
        end: the znodes when all is quiet again.
        finished: how often the entry has left the admin znode.
    """

    found: Znodes
    steps: list[str]
    elected: list[tuple[int, str]]
    started: list[int]
    deleted: list[int]
    end: Znodes
    finished: int


def steps_of(policies: ControllerPolicies, notes: Notes) -> list[str]:
    """The steps of the protocol that were ended."""
    ended = [(step.step, step.hop) for step in notes.events() if isinstance(step, Step) and step.edge == "after"]
    steps = policies.reassignment.procedure.steps
    return [f"{step} hop {hop}" if hop else step for step, hop in ended if step in steps]


def crash_after(
    policies: ControllerPolicies,
    old: Replicas,
    new: Replicas,
    step: str,
    *,
    edge: Edge = "after",
    hop: int | None = None,
    joins: bool = True,
    also: Replicas = (),
) -> Recovery:
    """Move ``old`` to ``new`` and crash the controller (and ``also``) at that gate; return what the next one does."""

    async def test(lab: Lab) -> Recovery:
        await lab.create_topic("orders", {0: old})
        found: list[tuple[Znodes, Notes]] = []

        def crash(at: Visit) -> None:
            found.append((znodes(lab), Notes(lab)))
            at.process.node.crash()
            for broker in also:
                lab.nodes[broker].crash()

        lab.at_gate(step, edge, crash, hop=hop)
        await lab.reassign({TP: new})
        assert found, f"{step} was never reached"
        await lab.pass_time(EXPIRY_US)
        at_crash, notes = found[0]
        told = notes.requests(metadata=False, term=2)
        return Recovery(
            at_crash,
            steps_of(policies, notes),
            [(e.leader, e.selector) for e in notes.events() if isinstance(e, LeaderElected)],
            [broker for broker, lines in told.items() if any(line.endswith(" new") for line in lines)],
            [broker for broker, lines in told.items() if "StopReplica delete orders-0" in lines],
            znodes(lab),
            len(lab.of(MoveFinished)),
        )

    return run(test, brokers=7, policies=policies, joins=joins)
