"""A state znode is written between the controller's read and its write: by the leader (kafka-behaviour §5.1 and §5.2:
BADVERSION is tried again), or by a newer controller, whose write stays (§3)."""

from collections.abc import Awaitable, Callable, Sequence

import pytest

from controller.errors import StateChangeFailed
from controller.policies import ControllerPolicies
from controller.state_machines.leader_election_algorithms import PREFERRED
from controller.states import PartitionState, ReplicaState
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from tests.controller.lab import Lab, run
from tests.controller.notes import Notes

TP, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
States = dict[TopicPartition, LeaderAndIsr]
Read = Callable[[KafkaZkClient, Sequence[TopicPartition]], Awaitable[States]]
POLICIES = ControllerPolicies(remembers_bumps=True, pinned=4)
NEWER = 99
"""A controller epoch that is still to come."""


async def elect(lab: Lab) -> None:
    await lab.active.partitions.handle_state_changes([TP, OTHER], PartitionState.ONLINE, PREFERRED)


async def shrink(lab: Lab) -> None:
    await lab.active.replicas.handle_state_changes([(TP, 1), (OTHER, 1)], ReplicaState.OFFLINE)


async def raise_epoch(lab: Lab) -> None:
    for tp in (TP, OTHER):
        await lab.active.elections.raise_leader_epoch(tp)


WRITES = pytest.mark.parametrize("write", [elect, shrink, raise_epoch])
Write = Callable[[Lab], Awaitable[None]]


def leader_writes_after_the_next_read(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Broker 2 leaves the ISR of TP right after the controller has read it, once. The list counts the reads of each
    partition."""
    honest: Read = KafkaZkClient.states
    reads: list[int] = []

    async def states(zk_client: KafkaZkClient, partitions: Sequence[TopicPartition]) -> States:
        found = await honest(zk_client, partitions)
        reads.append(len(partitions))
        if TP in found and 2 in found[TP].isr:
            state = found[TP]
            shrunk = LeaderAndIsr(state.leader, state.leader_epoch, (0, 1), state.controller_epoch)
            await lab.operator.set(znodes.state_path(TP), shrunk.encode(), state.zk_version)
        return found

    monkeypatch.setattr(KafkaZkClient, "states", states)
    return reads


@WRITES
def test_a_leader_that_writes_first_is_respected(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """The change of its partition is made again, on the state that it wrote; the others of the call are not
    repeated."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (0, 1, 2)})
        reads = leader_writes_after_the_next_read(lab, monkeypatch)
        await write(lab)
        beaten, other = lab.state(TP), lab.state(OTHER)
        left = {1} if write is shrink else set()
        assert (beaten.leader, set(beaten.isr)) == (0, {0, 1} - left), "the leader's write is not undone"
        assert (other.leader, set(other.isr)) == (0, {0, 1, 2} - left)
        assert (beaten.leader_epoch, beaten.zk_version) == (1, 2)
        assert (other.leader_epoch, other.zk_version) == (1, 1)
        assert reads == ([1, 1, 1] if write is raise_epoch else [2, 1])
        assert lab.active.context.leadership_info[TP] == beaten

    run(test, brokers=5, policies=POLICIES, joins=False)


@WRITES
def test_what_a_newer_controller_wrote_is_left_alone(write: Write) -> None:
    """The partition fails, and no broker is sent anything about it; the other one of the call succeeds."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (0, 1, 2)})
        path = znodes.state_path(TP)
        await lab.operator.set(path, LeaderAndIsr(0, 5, (0, 1, 2), NEWER).encode(), 0)
        notes = Notes(lab)
        if write is raise_epoch:
            with pytest.raises(StateChangeFailed):
                await write(lab)
        else:
            await write(lab)
            assert lab.state(OTHER).leader_epoch == 1
        await lab.settle()
        assert (lab.state(TP).leader_epoch, lab.state(TP).zk_version) == (5, 1)
        told = [line for lines in notes.requests().values() for line in lines if line.startswith("LeaderAndIsr")]
        assert [line for line in told if str(TP) in line] == []
        assert lab.active.is_active, "only a write that fails its check makes it look"

    run(test, brokers=5, policies=POLICIES, joins=False)
