"""C33, C39: illegal transitions are logged and without effect, whatever else is asked for in the same call
(Kafka 2.3.1: PartitionStateMachineTest, ReplicaStateMachineTest)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.states import PartitionState, ReplicaState
from emulator.protocol.types import TopicPartition
from tests.controller.lab import Lab, run
from tests.controller.notes import Notes
from tests.controller.test_state_machines import KAFKA_PAIRS, PARTITION_PAIRS

PARTITIONS = [TopicPartition("orders", number) for number in range(4)]
P, R = PartitionState, ReplicaState
BROKER = 2
"""A follower of all of them."""
FEW = settings(max_examples=60, deadline=None)


@contextmanager
def logged() -> Iterator[list[Any]]:
    """The errors that are logged inside the block."""
    before = structlog.get_config()["wrapper_class"]
    structlog.configure(wrapper_class=structlog.BoundLogger)
    try:
        with structlog.testing.capture_logs() as entries:
            yield entries
    finally:
        structlog.configure(wrapper_class=before)


def refused(entries: list[Any]) -> list[str]:
    return [entry["partition"] for entry in entries if entry["event"] == "illegal transition"]


@FEW
@given(st.lists(st.sampled_from(R), min_size=4, max_size=4), st.sampled_from(R))
def test_C39_replica_transitions_of_one_call(states: list[ReplicaState], target: ReplicaState) -> None:
    legal = [tp for tp, state in zip(PARTITIONS, states, strict=True) if (state, target) in KAFKA_PAIRS]

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {tp.partition: (0, 1, 2) for tp in PARTITIONS})
        context = lab.active.context
        before = dict(zip(PARTITIONS, states, strict=True))
        for tp, state in before.items():
            context.set_replica_states(BROKER, [tp], state)
        notes = Notes(lab)
        with logged() as entries:
            await lab.active.replicas.handle_state_changes([(tp, BROKER) for tp in PARTITIONS], target)
        await lab.settle()
        after = {tp: context.replica_state(tp, BROKER) for tp in PARTITIONS}
        assert after == {tp: target if tp in legal else state for tp, state in before.items()}
        assert refused(entries) == [str(tp) for tp in PARTITIONS if tp not in legal]
        assert mentioned(notes) <= {str(tp) for tp in legal}

    run(test, joins=False)


@FEW
@given(st.lists(st.sampled_from(P), min_size=4, max_size=4), st.sampled_from(P))
def test_C33_partition_transitions_of_one_call(states: list[PartitionState], target: PartitionState) -> None:
    legal = [tp for tp, state in zip(PARTITIONS, states, strict=True) if (state, target) in PARTITION_PAIRS]

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {tp.partition: (0, 1, 2) for tp in PARTITIONS})
        context = lab.active.context
        before = dict(zip(PARTITIONS, states, strict=True))
        context.partition_states.update(before)
        for tp in [tp for tp in legal if (before[tp], target) == (P.NEW, P.ONLINE)]:
            await lab.operator.delete(f"/brokers/topics/orders/partitions/{tp.partition}/state")
        notes = Notes(lab)
        with logged() as entries:
            await lab.active.partitions.handle_state_changes(PARTITIONS, target)
        await lab.settle()
        after = {tp: context.partition_state(tp) for tp in PARTITIONS}
        assert after == {tp: target if tp in legal else state for tp, state in before.items()}
        assert refused(entries) == [str(tp) for tp in PARTITIONS if tp not in legal]
        assert mentioned(notes) <= {str(tp) for tp in legal}

    run(test, joins=False)


def mentioned(notes: Notes) -> set[str]:
    """The partitions in the writes and requests."""
    text = "\n".join([*notes.writes(), *(line for lines in notes.requests().values() for line in lines)])
    return {str(tp) for tp in PARTITIONS if str(tp) in text}
