"""KIP-352's draft: the fields of the requests, and their values during a move (readings §8)."""

import itertools
from typing import Any

import attrs
import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from controller.request_schemas import CurrentAndImpending
from emulator.protocol.kip_352_draft import (
    LEADER_AND_ISR,
    UPDATE_METADATA,
    DraftLeaderAndIsrPartition,
    DraftPartitionMetadata,
    values,
)
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from tests.controller.crashes import TP
from tests.controller.lab import EXPIRY_US, Lab, run

SEED_LEADER_AND_ISR = {
    "TopicName": "STRING",
    "PartitionId": "INT32",
    "ControllerEpoch": "INT32",
    "LeaderId": "INT32",
    "LeaderEpoch": "INT32",
    "IsNew": "BOOLEAN",
    "ZkVersion": "INT32",
    "ISR": "[INT32]",
    "CurrentReplicas": "[INT32]",
    "ImpendingReplicas": "[INT32]",
}
"""As the draft lists them."""

SEED_UPDATE_METADATA = {name: kind for name, kind in SEED_LEADER_AND_ISR.items() if name != "IsNew"}


def policies(protocol: ReassignmentProtocol) -> ControllerPolicies:
    return ControllerPolicies(reassignment=protocol, requests=CurrentAndImpending(), remembers_bumps=True, pinned=6)


def is_of(kind: str, value: Any) -> bool:
    if kind.startswith("["):
        return isinstance(value, tuple) and all(is_of(kind[1:-1], one) for one in value)
    return type(value) is {"STRING": str, "INT32": int, "BOOLEAN": bool}[kind]


def test_the_schemas_are_the_drafts() -> None:
    assert {name: kind for name, kind, _ in LEADER_AND_ISR} == SEED_LEADER_AND_ISR
    assert {name: kind for name, kind, _ in UPDATE_METADATA} == SEED_UPDATE_METADATA


def test_each_field_has_its_type_and_its_value() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        lab.received.clear()
        await lab.reassign({TP: (1, 3, 4)})
        state, metadata = led(lab)[-1], told_all(lab)[-1]
        expected = {
            "TopicName": "orders",
            "PartitionId": 0,
            "ControllerEpoch": 1,
            "LeaderId": 0,
            "LeaderEpoch": 1,
            "ISR": (0, 1, 2),
            "ZkVersion": 1,
            "CurrentReplicas": (0, 1, 2),
            "ImpendingReplicas": (1, 3, 4),
        }
        assert values(LEADER_AND_ISR, state) == {**expected, "IsNew": False}
        assert values(UPDATE_METADATA, metadata) == expected
        assert all(is_of(kind, values(LEADER_AND_ISR, state)[name]) for name, kind, _ in LEADER_AND_ISR)
        assert all(is_of(kind, values(UPDATE_METADATA, metadata)[name]) for name, kind, _ in UPDATE_METADATA)

    run(test, brokers=7, policies=policies(Wiki()))


def led(lab: Lab, broker: int = 0) -> list[DraftLeaderAndIsrPartition]:
    """The LeaderAndIsr states that ``broker`` got."""
    requests = [r for b, r in lab.received if b == broker and isinstance(r, LeaderAndIsrRequest)]
    return [state for r in requests for state in r.partitions if isinstance(state, DraftLeaderAndIsrPartition)]


def told_all(lab: Lab) -> list[DraftPartitionMetadata]:
    """The UpdateMetadata states that broker 5 got, which has no replica."""
    requests = [r for b, r in lab.received if b == 5 and isinstance(r, UpdateMetadataRequest)]
    return [state for r in requests for state in r.partitions if isinstance(state, DraftPartitionMetadata)]


def sets(states: list[Any]) -> list[tuple[Any, Any]]:
    return list(dict.fromkeys((state.current_replicas, state.impending_replicas) for state in states))


def test_the_responses_are_unchanged() -> None:
    assert [field.name for field in attrs.fields(LeaderAndIsrResponse)] == ["error", "tps", "errors"]
    assert [field.name for field in attrs.fields(UpdateMetadataResponse)] == ["error", "size"]


MOVES = [
    ((0, 1, 2), (1, 3, 4)),
    ((0, 1, 2), (3, 4, 0)),
    ((0, 1), (0, 1, 2)),
    ((0, 1, 2), (0, 1)),
    ((0, 1, 2), (2, 1, 0)),
]


@pytest.mark.parametrize(("old", "new"), MOVES)
def test_through_a_move(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    """Current is OAR and Impending all of RAR until memory has RAR; then RAR is current and nothing impends."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: old})
        assert sets(told_all(lab)) == [(old, ())]
        lab.received.clear()
        await lab.reassign({TP: new})
        assert sets(told_all(lab)) == [(old, new), (new, ())]
        for state in told_all(lab) + led(lab, new[0]):
            union = set(state.current_replicas) | set(state.impending_replicas)
            assert set(state.replicas) == union
            assert len(state.replicas) == len(union)

    run(test, brokers=7, policies=policies(Wiki()))


def test_of_kafka_6794_each_hop_impends() -> None:
    """Its CR is what is current: a replica that a hop has added counts as soon as the hop is made."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.received.clear()
        await lab.reassign({TP: (0, 3, 4)})
        hops = [(0, 1, 2), (0, 1, 2, 3), (0, 2, 3, 4), (0, 3, 4)]
        expected: list[Any] = []
        for before, after in itertools.pairwise(hops):
            expected += [(before, after), (after, ())]
        assert sets(told_all(lab)) == expected

    run(test, brokers=7, policies=policies(Kafka6794()))


def test_the_next_controller_takes_what_the_target_lacks_for_current() -> None:
    """OAR is AR - RAR then: the replicas in both lists look like new ones (readings §5)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (1, 3, 4)})
        lab.nodes[6].crash()
        lab.received.clear()
        await lab.pass_time(EXPIRY_US)
        assert sets(led(lab)) == [((0, 2), (1, 3, 4))]

    run(test, brokers=7, policies=policies(Wiki()))


def test_of_kafka_6794_the_last_hop_of_the_next_controller_begins_with_all_replicas() -> None:
    """Once CR has all of FTR, AR - RAR is not CR but what the last hop drops: brokers receive CR all the same."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        lab.at_gate("kafka-6794.1", "before", lambda at: at.process.node.crash(), hop=2)
        await lab.reassign({TP: (0, 2)})
        lab.received.clear()
        await lab.pass_time(EXPIRY_US)
        assert lab.assignment(TP) == (0, 2)
        assert ((0, 1, 2), (0, 2)) in sets(led(lab))

    run(test, brokers=7, policies=policies(Kafka6794()))
