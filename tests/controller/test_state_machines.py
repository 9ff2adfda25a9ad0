"""The two state machines: every pair of states, and what each legal transition writes and sends."""

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from controller.state_machines.rules import FOUR_STATES, SEVEN_STATES, ReplicaRules, as_in_set
from controller.states import (
    PAGE_REPLICA_PREDECESSORS,
    PARTITION_PREDECESSORS,
    REPLICA_PREDECESSORS,
    PartitionState,
    ReplicaState,
)
from controller.zk_client import KafkaZkClient
from emulator.protocol.scala_order import SCALA_2_12_13
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import SessionExpired
from tests.controller.lab import Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
P, R = PartitionState, ReplicaState
PARTITION_PAIRS = {
    (P.NON_EXISTENT, P.NEW),
    (P.NEW, P.ONLINE), (P.ONLINE, P.ONLINE), (P.OFFLINE, P.ONLINE),
    (P.NEW, P.OFFLINE), (P.ONLINE, P.OFFLINE), (P.OFFLINE, P.OFFLINE),
    (P.OFFLINE, P.NON_EXISTENT),
}  # fmt: skip
PAGE_PAIRS = {
    (R.NON_EXISTENT, R.NEW),
    (R.NEW, R.ONLINE), (R.ONLINE, R.ONLINE), (R.OFFLINE, R.ONLINE),
    (R.NEW, R.OFFLINE), (R.ONLINE, R.OFFLINE),
    (R.OFFLINE, R.NON_EXISTENT),
}  # fmt: skip
KAFKA_PAIRS = (PAGE_PAIRS - {(R.OFFLINE, R.NON_EXISTENT)}) | {
    (R.OFFLINE, R.OFFLINE), (R.DELETION_INELIGIBLE, R.ONLINE), (R.DELETION_INELIGIBLE, R.OFFLINE),
    (R.OFFLINE, R.DELETION_STARTED), (R.DELETION_STARTED, R.DELETION_SUCCESSFUL),
    (R.OFFLINE, R.DELETION_INELIGIBLE), (R.DELETION_STARTED, R.DELETION_INELIGIBLE),
    (R.DELETION_SUCCESSFUL, R.NON_EXISTENT),
}  # fmt: skip


def test_the_tables_are_those_of_the_documents() -> None:
    assert {(a, b) for b, before in PARTITION_PREDECESSORS.items() for a in before} == PARTITION_PAIRS
    assert {(a, b) for b, before in REPLICA_PREDECESSORS.items() for a in before} == KAFKA_PAIRS
    assert {(a, b) for b, before in PAGE_REPLICA_PREDECESSORS.items() for a in before} == PAGE_PAIRS


@pytest.mark.parametrize("target", PartitionState)
@pytest.mark.parametrize("state", PartitionState)
def test_partition_transitions(state: PartitionState, target: PartitionState) -> None:
    """A legal transition changes the state; an illegal one changes nothing, writes nothing and sends nothing."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.partition_states[TP] = state
        if state is P.NEW and target is P.ONLINE:
            await lab.operator.delete("/brokers/topics/orders/partitions/0/state")
        notes = Notes(lab)
        await c.partitions.handle_state_changes([TP], target)
        await lab.settle()
        if (state, target) in PARTITION_PAIRS:
            assert c.context.partition_state(TP) is target
        else:
            assert c.context.partition_state(TP) is state
            assert notes.writes() == []
            assert notes.requests() == {}

    run(test)


@pytest.mark.parametrize("target", ReplicaState)
@pytest.mark.parametrize("state", ReplicaState)
@pytest.mark.parametrize(("rules", "pairs"), [(SEVEN_STATES, KAFKA_PAIRS), (FOUR_STATES, PAGE_PAIRS)])
def test_replica_transitions(
    rules: ReplicaRules,
    pairs: set[tuple[ReplicaState, ReplicaState]],
    state: ReplicaState,
    target: ReplicaState,
) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.set_replica_states(2, [TP], state)
        notes = Notes(lab)
        await c.replicas.handle_state_changes([(TP, 2)], target)
        await lab.settle()
        if (state, target) in pairs:
            assert c.context.replica_state(TP, 2) is target
            assert_effects(notes, state, target, rules)
        else:
            assert c.context.replica_state(TP, 2) is state
            assert notes.writes() == []
            assert notes.requests() == {}

    run(test, policies=ControllerPolicies(replicas=rules), joins=False)


SAME = "0/{0,1,2} epoch 0 AR {0,1,2}"
SHRUNK = "0/{0,1} epoch 1 AR {0,1,2}"


def assert_effects(notes: Notes, state: ReplicaState, target: ReplicaState, rules: ReplicaRules) -> None:
    """Exactly these writes, and these requests to each broker, in order."""
    writes, requests = notes.writes(), notes.requests(metadata=False)
    if target is R.OFFLINE:
        told = {0: [f"LeaderAndIsr orders-0 {SHRUNK}"]}
        if rules is SEVEN_STATES:
            told[1] = told[0]
        assert writes == ["zk setData state orders-0: 0/{0,1} epoch 1"]
        assert requests == told | {2: ["StopReplica keep orders-0"]}
        return
    assert writes == []
    if target is R.NEW:
        assert requests == {2: [f"LeaderAndIsr orders-0 {SAME} new"]}
    elif target is R.ONLINE and state is not R.NEW:
        assert requests == {2: [f"LeaderAndIsr orders-0 {SAME}"]}
    elif target is rules.deletion[0]:
        assert requests == {2: ["StopReplica delete orders-0"]}
    else:
        assert requests == {}


def test_the_last_replica_stays_in_the_isr() -> None:
    """It only stops leading, so that a clean leader can be found when it comes back; each time the epoch rises."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        for broker in (2, 1, 0, 0):
            await c.replicas.handle_state_changes([(TP, broker)], R.OFFLINE)
        state = lab.state(TP)
        assert (state.leader, state.isr, state.leader_epoch) == (-1, (0,), 4)

    run(test)


def test_a_replica_outside_the_isr_goes_without_a_write() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.write_isr(TP, (0, 1))
        notes = Notes(lab)
        await lab.active.replicas.handle_state_changes([(TP, 2)], R.OFFLINE)
        await lab.settle()
        assert notes.writes() == []
        again = ["LeaderAndIsr orders-0 0/{0,1} epoch 0 AR {0,1,2}"]
        assert notes.requests(metadata=False) == {0: again, 1: again, 2: ["StopReplica keep orders-0"]}

    run(test, joins=False)


def test_a_replica_that_leads_is_not_started_as_a_new_one() -> None:
    """It could only follow; its state stays, and nothing is sent."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        for broker in (0, 1):
            c.context.set_replica_states(broker, [TP], R.NON_EXISTENT)
        notes = Notes(lab)
        await c.replicas.handle_state_changes([(TP, 0), (TP, 1)], R.NEW)
        await lab.settle()
        assert [c.context.replica_state(TP, broker) for broker in (0, 1)] == [R.NON_EXISTENT, R.NEW]
        assert list(notes.requests(metadata=False)) == [1]

    run(test, joins=False)


def test_a_replica_of_a_partition_that_never_had_a_leader_goes_offline() -> None:
    """There is no ISR to leave: it is stopped, and all brokers get UpdateMetadata (KAFKA-6650, 2.0)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        del c.context.leadership_info[TP]
        notes = Notes(lab)
        await c.replicas.handle_state_changes([(TP, 2)], R.OFFLINE)
        await lab.settle()
        assert c.context.replica_state(TP, 2) is R.OFFLINE
        assert notes.writes() == []
        everybody = ["UpdateMetadata live {0,1,2}"]
        assert notes.requests() == {0: everybody, 1: everybody, 2: [*everybody, "StopReplica keep orders-0"]}

    run(test, joins=False)


@pytest.mark.parametrize("method", ["states", "write_states"])
def test_a_session_that_expires_fails_the_isrs_at_hand_and_not_the_event(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica outside the ISR has nothing to write; it goes offline if its state could be read."""

    async def fail(zk_client: KafkaZkClient, states: object) -> object:
        raise SessionExpired("/brokers")

    async def test(lab: Lab) -> None:
        outside = TopicPartition("orders", 1)
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (0, 1, 2)})
        await lab.write_isr(outside, (0, 1))
        c = lab.active
        notes = Notes(lab)
        with monkeypatch.context() as patch:
            patch.setattr(KafkaZkClient, method, fail)
            await c.replicas.handle_state_changes([(TP, 2), (outside, 2)], R.OFFLINE)
        await lab.settle()
        offline = [tp for tp in (TP, outside) if c.context.replica_state(tp, 2) is R.OFFLINE]
        assert offline == ([outside] if method == "write_states" else [])
        assert notes.writes() == []
        assert notes.requests(metadata=False)[2] == ["StopReplica keep orders-0; orders-1"]

    run(test, joins=False)


def test_before_kafka_6650_a_replica_of_a_partition_that_never_had_a_leader_is_only_stopped() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        del c.context.leadership_info[TP]
        notes = Notes(lab)
        await c.replicas.handle_state_changes([(TP, 2)], R.OFFLINE)
        await lab.settle()
        assert c.context.replica_state(TP, 2) is R.ONLINE
        assert notes.requests() == {2: ["StopReplica keep orders-0"]}

    rules = evolve(SEVEN_STATES, leaderless_go_offline=False)
    run(test, policies=ControllerPolicies(replicas=rules), joins=False)


def test_the_isr_of_a_topic_that_is_being_deleted_is_sent_to_no_broker() -> None:
    """The replica leaves the ISR in ZooKeeper; a LeaderAndIsr would start replicas that are about to be deleted."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        c.context.deletions.queued["orders"] = None
        notes = Notes(lab)
        await c.replicas.handle_state_changes([(TP, 2)], R.OFFLINE)
        await lab.settle()
        assert notes.writes() == ["zk setData state orders-0: 0/{0,1} epoch 1"]
        assert notes.requests() == {2: ["StopReplica keep orders-0"]}

    run(test, joins=False)


def test_only_live_replicas_get_leader_and_isr_of_a_new_partition() -> None:
    """Its LeaderAndIsr goes to the first ISR, which are the live replicas."""

    async def test(lab: Lab) -> None:
        lab.active.context.shutting_down[2] = None
        notes = Notes(lab)
        await lab.create_topic("orders", {0: (2, 0, 1)})
        assert lab.state(TP).isr == (0, 1)
        told = ["LeaderAndIsr orders-0 0/{0,1} epoch 0 AR {2,0,1} new"]
        assert notes.requests(metadata=False) == {0: told, 1: told}

    run(test, joins=False)


def test_the_replicas_of_a_deleted_topic_are_in_the_order_of_kafkas_set() -> None:
    """Real Kafka 2.8.2 took the brokers of four partitions out of their ISRs in the order 1, 2, 0."""
    lists = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1))
    replicas = [(TopicPartition("made", number), broker) for number, each in enumerate(lists) for broker in each]
    assert list(dict.fromkeys(broker for _, broker in as_in_set(replicas, SCALA_2_12_13))) == [1, 2, 0]
    assert sorted(as_in_set(replicas, SCALA_2_12_13)) == sorted(replicas)


def test_up_to_four_replicas_are_in_the_order_of_the_map_of_their_partitions() -> None:
    """``mutable.Map`` of Scala 2.12 has 1 before 0, and a set of four members keeps the order of insertion."""
    replicas = [(TopicPartition("made", number), broker) for number in (0, 1) for broker in (3, 4)]
    assert [tp.partition for tp, _ in as_in_set(replicas, SCALA_2_12_13)] == [1, 1, 0, 0]
    assert as_in_set(replicas[:2], SCALA_2_12_13) == tuple(replicas[:2])
