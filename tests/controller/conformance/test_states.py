"""C33 to C43: the two state machines (Kafka's PartitionStateMachineTest and ReplicaStateMachineTest)."""

import pytest

from controller.states import PartitionState, ReplicaState
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import SessionExpired
from tests.controller.lab import Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
P, R = PartitionState, ReplicaState


@pytest.mark.parametrize(
    ("state", "target"),
    [
        (P.NON_EXISTENT, P.ONLINE),
        (P.NON_EXISTENT, P.OFFLINE),
        (P.NEW, P.NON_EXISTENT),
        (P.ONLINE, P.NEW),
        (P.ONLINE, P.NON_EXISTENT),
        (P.OFFLINE, P.NEW),
    ],
)
def test_C33_illegal_partition_transitions(state: PartitionState, target: PartitionState) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.partition_states[TP] = state
        notes = Notes(lab)
        await c.partitions.handle_state_changes([TP], target)
        await lab.settle()
        assert c.context.partition_state(TP) is state
        assert (notes.writes(), notes.requests()) == ([], {})

    run(test)


def test_C35_offline_partition_without_state_znode_stays_offline() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.partition_states[TP] = P.OFFLINE
        await lab.operator.delete(znodes.state_path(TP))
        notes = Notes(lab)
        await c.partitions.handle_state_changes([TP], P.ONLINE)
        await lab.settle()
        assert c.context.partition_state(TP) is P.OFFLINE
        assert (notes.writes(), notes.requests()) == ([], {})

    run(test)


def test_C35_offline_partition_whose_state_cannot_be_read_stays_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lookup fails each partition by itself, and the event goes on."""

    async def fail(zk_client: KafkaZkClient, partitions: object) -> object:
        raise SessionExpired(znodes.state_path(TP))

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.partition_states[TP] = P.OFFLINE
        notes = Notes(lab)
        with monkeypatch.context() as patch:
            patch.setattr(KafkaZkClient, "states", fail)
            assert await c.partitions.handle_state_changes([TP], P.ONLINE) == []
        assert c.context.partition_state(TP) is P.OFFLINE
        assert (notes.writes(), notes.requests()) == ([], {})
        await c.partitions.handle_state_changes([TP], P.ONLINE)
        assert c.context.partition_state(TP) is P.ONLINE

    run(test)


def test_C37_offline_partition_to_unclean_online() -> None:
    """RS [0,1], ISR [0], only 1 is alive, and the topic allows unclean elections."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.write_isr(TP, (0,))
        allowed = znodes.encode_config({"unclean.leader.election.enable": "true"})
        await lab.operator.set(f"{znodes.CONFIG_TOPICS}/orders", allowed)
        c = lab.active
        c.context.partition_states[TP] = P.OFFLINE
        c.context.remove_brokers([0])
        before = lab.state(TP)
        await c.partitions.handle_state_changes([TP], P.ONLINE)
        after = lab.state(TP)
        assert (after.leader, after.isr, after.leader_epoch) == (1, (1,), before.leader_epoch + 1)
        assert c.context.partition_state(TP) is P.ONLINE

    run(test, joins=False)


LEGAL = [
    (R.NON_EXISTENT, R.NEW),
    (R.NEW, R.ONLINE), (R.NEW, R.OFFLINE),
    (R.ONLINE, R.ONLINE), (R.ONLINE, R.OFFLINE),
    (R.OFFLINE, R.ONLINE), (R.OFFLINE, R.DELETION_STARTED), (R.OFFLINE, R.DELETION_INELIGIBLE),
    (R.DELETION_STARTED, R.DELETION_SUCCESSFUL), (R.DELETION_STARTED, R.DELETION_INELIGIBLE),
    (R.DELETION_SUCCESSFUL, R.NON_EXISTENT),
    (R.DELETION_INELIGIBLE, R.ONLINE),
]  # fmt: skip


@pytest.mark.parametrize(("state", "target"), LEGAL)
def test_C39_legal_replica_transitions(state: ReplicaState, target: ReplicaState) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        context = lab.active.context
        context.set_replica_states(2, [TP], state)
        await lab.active.replicas.handle_state_changes([(TP, 2)], target)
        assert context.replica_state(TP, 2) is target

    run(test, joins=False)


@pytest.mark.parametrize(
    ("alive", "led", "state"),
    [(True, True, R.ONLINE), (False, True, R.OFFLINE), (False, False, R.OFFLINE)],
    ids=["online", "offline", "offline without leader"],
)
def test_C41_startup(alive: bool, led: bool, state: ReplicaState) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        if not alive:
            c.context.remove_brokers([2])
        if not led:
            del c.context.leadership_info[TP]
        await c.replicas.startup()
        assert c.context.replica_state(TP, 2) is state

    run(test, joins=False)


def test_C43_online_replica_to_offline_replica() -> None:
    """RS [0,1,2], all in the ISR, 0 leads and goes offline: the others learn that nobody leads."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.active.replicas.handle_state_changes([(TP, 0)], R.OFFLINE)
        await lab.settle()
        assert notes.writes() == ["zk setData state orders-0: -1/{1,2} epoch 1"]
        told = ["LeaderAndIsr orders-0 -1/{1,2} epoch 1 AR {0,1,2}"]
        assert notes.requests(metadata=False) == {0: ["StopReplica keep orders-0"], 1: told, 2: told}

    run(test, joins=False)
