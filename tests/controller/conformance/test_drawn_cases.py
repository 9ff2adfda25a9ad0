"""Cases drawn at random from ControllerChannelManagerTest, ControllerContextTest, PartitionStateMachineTest,
ReplicaStateMachineTest and KafkaZkClientTest (1.1.1 to 3.9.0)."""

from typing import Any

import pytest

from controller.context import ControllerContext
from controller.errors import ControllerMoved
from controller.state_machines.leader_election_algorithms import CONTROLLED_SHUTDOWN, Candidates
from controller.states import PartitionState, ReplicaState
from emulator.protocol.assignments import ReassigningReplicas, ReplicaAssignment
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import (
    LeaderAndIsr,
    decode_reassigning,
    decode_topic,
    encode_reassignment,
    encode_topic,
)
from emulator.zookeeper import ZkClient
from tests.controller.lab import Lab, run
from tests.controller.notes import Notes
from tests.controller.test_request_batch import make

TP = TopicPartition("orders", 0)
P, R = PartitionState, ReplicaState


def test_leader_and_isr_request_sent() -> None:
    """ControllerChannelManagerTest.testLeaderAndIsrRequestSent: one request with the leader and ISR of each partition
    to the broker that is named, and one update of its metadata."""
    batch, recorder, context = make()
    states = {
        TopicPartition("foo", 0): LeaderAndIsr(1, 0, (1, 2), 7, 0),
        TopicPartition("foo", 1): LeaderAndIsr(2, 0, (2, 3), 7, 0),
        TopicPartition("bar", 1): LeaderAndIsr(3, 0, (1, 3), 7, 0),
    }
    batch.new_batch()
    for tp, state in states.items():
        context.assign(tp, (1, 2, 3))
        context.leadership_info[tp] = state
        batch.add_leader_and_isr([2], tp, state, (1, 2, 3), is_new=False)
    batch.send_to_brokers()
    [sent] = [message for broker, message in recorder.sent if isinstance(message, LeaderAndIsrRequest) and broker == 2]
    [told] = [
        message for broker, message in recorder.sent if isinstance(message, UpdateMetadataRequest) and broker == 2
    ]
    assert (sent.controller_id, sent.controller_epoch) == (0, 7)
    assert {each.tp: (each.leader, each.isr) for each in sent.partitions} == {
        tp: (state.leader, state.isr) for tp, state in states.items()
    }
    assert {each.tp for each in told.partitions} == set(states)
    assert [broker for broker, message in recorder.sent if isinstance(message, LeaderAndIsrRequest)] == [2]


def test_update_partition_replica_assignment_does_not_overwrite() -> None:
    """ControllerContextTest.testUpdatePartitionReplicaAssignmentUpdatesReplicaAssignmentOnlyAndDoesNotOverwrite
    (2.4.1): what is being added and removed stays."""
    context = ControllerContext()
    context.assign_fully(TP, ReplicaAssignment((3,), (1,), (2,)))
    context.assign(TP, (4,))
    assert context.replicas(TP) == (4,)
    assert context.full_assignment(TP) == ReplicaAssignment((4,), (1,), (2,))


def test_nonexistent_partition_to_new_partition_transition() -> None:
    """PartitionStateMachineTest.testNonexistentPartitionToNewPartitionTransition."""

    async def test(lab: Lab) -> None:
        await lab.active.partitions.handle_state_changes([TP], P.NEW)
        assert lab.active.context.partition_state(TP) is P.NEW

    run(test)


@pytest.mark.parametrize("target", [R.NON_EXISTENT, R.NEW])
def test_invalid_transitions_of_an_online_replica(target: ReplicaState) -> None:
    """ReplicaStateMachineTest.testInvalidOnlineReplicaTo(NonexistentReplica|NewReplica)Transition."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        context = lab.active.context
        await lab.active.replicas.handle_state_changes([(TP, 2)], target)
        assert context.replica_state(TP, 2) is R.ONLINE

    run(test)


def test_online_partition_to_online_transition_for_controlled_shutdown() -> None:
    """PartitionStateMachineTest.testOnlinePartitionToOnlineTransitionForControlledShutdown: one write, and LeaderAndIsr
    to both brokers, the one that is shutting down too."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        active = lab.active
        active.context.shutting_down[0] = None
        notes = Notes(lab)
        assert await active.partitions.handle_state_changes([TP], P.ONLINE, CONTROLLED_SHUTDOWN) == [TP]
        await lab.settle()
        assert notes.writes() == ["zk setData state orders-0: 1/{1} epoch 1"]
        told = ["LeaderAndIsr orders-0 1/{1} epoch 1 AR {0,1}"]
        assert notes.requests(metadata=False) == {0: told, 1: told}
        assert active.context.partition_state(TP) is P.ONLINE

    run(test, joins=False)


def test_reassign_partitions_in_progress() -> None:
    """KafkaZkClientTest.testReassignPartitionsInProgress: the znode alone says so."""

    async def test(lab: Lab) -> None:
        zk = lab.active.zk_client
        assert await zk.reassignments() == {}
        assert not await zk.exists("/admin/reassign_partitions")
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.operator.create("/admin/reassign_partitions", '{"version":1,"partitions":[]}')
        assert await zk.exists("/admin/reassign_partitions")

    run(test)


@pytest.mark.parametrize("names_epochs", [False, True])
def test_stop_replica_requests_while_topic_deletion_started(names_epochs: bool) -> None:
    """ControllerChannelManagerTest.testStopReplicaRequestsWhileTopicDeletionStarted: one request, in which a topic that
    is queued has the epoch -2 (2.6)."""
    batch, recorder, context = make()
    batch.stops_name_epochs = names_epochs
    context.deletions.queued["foo"] = None
    context.deletions.begun["foo"] = None
    partitions = [TopicPartition("foo", 0), TopicPartition("foo", 1), TopicPartition("bar", 1)]
    batch.new_batch()
    for leader, tp in enumerate(partitions, 1):
        context.leadership_info[tp] = LeaderAndIsr(leader, 4, (leader,), 7, 0)
        batch.add_stop_replica(2, tp, delete=True)
    batch.send_to_brokers()
    [(broker, request)] = recorder.sent
    assert isinstance(request, StopReplicaRequest)
    assert (broker, request.delete_partitions, list(request.partitions)) == (2, True, partitions)
    assert request.leader_epochs == ((-2, -2, 4) if names_epochs else ())


def test_new_replica_to_online_replica_transition() -> None:
    """ReplicaStateMachineTest.testNewReplicaToOnlineReplicaTransition: a new replica joins the assignment."""

    async def test(lab: Lab) -> None:
        context = lab.active.context
        context.set_replica_states(0, [TP], R.NEW)
        context.assign(TP, (0,))
        await lab.active.replicas.handle_state_changes([(TP, 0)], R.ONLINE)
        assert (context.replica_state(TP, 0), context.replicas(TP)) == (R.ONLINE, (0,))

    run(test, joins=False)


@pytest.mark.parametrize("state", [P.ONLINE, P.NEW])
def test_a_partition_goes_offline(state: PartitionState) -> None:
    """PartitionStateMachineTest.testOnlinePartitionToOfflineTransition,
    testNewPartitionToOfflinePartitionTransition."""

    async def test(lab: Lab) -> None:
        lab.active.context.partition_states[TP] = state
        await lab.active.partitions.handle_state_changes([TP], P.OFFLINE)
        assert lab.active.context.partition_state(TP) is P.OFFLINE

    run(test)


def test_delete_topic_path_methods() -> None:
    """KafkaZkClientTest.testDeleteTopicPathMethods: with another version of /controller_epoch nothing is
    deleted."""

    async def test(lab: Lab) -> None:
        active = lab.active
        release = active.hold()
        zk, topics = active.zk_client, ("topic1", "topic2")
        assert await zk.deletions() == ()
        for topic in topics:
            await lab.operator.create(f"/admin/delete_topics/{topic}")
        assert set(await zk.deletions()) == set(topics)
        paths = [f"/admin/delete_topics/{topic}" for topic in topics]
        active.context.epoch_zk_version += 1
        with pytest.raises(ControllerMoved):
            await zk.delete(paths)
        assert set(await zk.deletions()) == set(topics)
        active.context.epoch_zk_version -= 1
        await zk.delete(paths)
        assert await zk.deletions() == ()
        release()

    run(test)


def test_listing_topics_triggers_the_watch() -> None:
    """KafkaZkClientTest.testGetAllTopicsInClusterTriggersWatch: to list them again without a watch takes none away."""

    async def test(lab: Lab) -> None:
        watcher, seen = ZkClient(lab.network, lab.process, lab.spec), list[Any]()
        await watcher.connect()
        watcher.on_children("/brokers/topics", seen.append)
        assert await watcher.children("/brokers/topics") == ()
        assert await lab.operator.children("/brokers/topics") == ()
        await lab.operator.create("/brokers/topics/topic1", '{"version":1,"partitions":{}}')
        await lab.settle()
        assert len(seen) == 1

    run(test)


@pytest.mark.parametrize(
    ("state", "target"),
    [
        (R.NEW, R.DELETION_SUCCESSFUL),
        (R.NON_EXISTENT, R.DELETION_STARTED),
        (R.DELETION_STARTED, R.OFFLINE),
        (R.DELETION_INELIGIBLE, R.NEW),
        (R.DELETION_INELIGIBLE, R.NON_EXISTENT),
        (R.DELETION_STARTED, R.ONLINE),
        (R.DELETION_STARTED, R.NON_EXISTENT),
        (R.OFFLINE, R.NON_EXISTENT),
    ],
)
def test_more_invalid_transitions_of_a_replica(state: ReplicaState, target: ReplicaState) -> None:
    """ReplicaStateMachineTest.testInvalidNewReplicaToReplicaDeletionSuccessfulTransition,
    testInvalidNonexistentReplicaToReplicaDeletionStartedTransition,
    testInvalidReplicaDeletionStartedToOfflineReplicaTransition,
    testInvalidReplicaDeletionIneligibleTo(NewReplica|NonexistentReplica)Transition,
    testInvalidReplicaDeletionStartedTo(OnlineReplica|NonexistentReplica)Transition,
    testInvalidOfflineReplicaToNonexistentReplicaTransition."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        context = lab.active.context
        context.set_replica_states(2, [TP], state)
        await lab.active.replicas.handle_state_changes([(TP, 2)], target)
        assert context.replica_state(TP, 2) is state

    run(test, joins=False)


def test_offline_partition_to_nonexistent_partition_transition() -> None:
    """PartitionStateMachineTest.testOfflinePartitionToNonexistentPartitionTransition."""

    async def test(lab: Lab) -> None:
        lab.active.context.partition_states[TP] = P.OFFLINE
        await lab.active.partitions.handle_state_changes([TP], P.NON_EXISTENT)
        assert lab.active.context.partition_state(TP) is P.NON_EXISTENT

    run(test)


def test_delete_recursive_with_controller_epoch_version_check() -> None:
    """KafkaZkClientTest.testDeleteRecursiveWithControllerEpochVersionCheck."""

    async def test(lab: Lab) -> None:
        active = lab.active
        zk = active.zk_client
        await zk.delete_tree("/delete")
        for path in ("/delete", "/delete/some", "/delete/some/random"):
            await lab.operator.create(path)
        active.context.epoch_zk_version += 1
        with pytest.raises(ControllerMoved):
            await zk.delete_tree("/delete")
        active.context.epoch_zk_version -= 1
        assert lab.data("/delete/some/random") is not None
        await zk.delete_tree("/delete")
        assert lab.data("/delete") is None

    run(test)


def test_set_get_and_delete_partition_reassignment() -> None:
    """KafkaZkClientTest.testSetGetAndDeletePartitionReassignment."""
    moves = {
        TopicPartition("topic_a", 0): (0, 1, 3), TopicPartition("topic_a", 1): (2, 1, 3),
        TopicPartition("topic_b", 0): (4, 5), TopicPartition("topic_c", 0): (5, 3),
    }  # fmt: skip

    async def test(lab: Lab) -> None:
        active = lab.active
        release = active.hold()
        zk = active.zk_client
        assert await zk.reassignments() == {}
        await lab.operator.create("/admin/reassign_partitions", encode_reassignment(moves))
        assert await zk.reassignments() == moves
        fewer = {tp: replicas for tp, replicas in moves.items() if tp.topic != "topic_b"}
        active.context.epoch_zk_version += 1
        with pytest.raises(ControllerMoved):
            await zk.write_reassignments(fewer)
        active.context.epoch_zk_version -= 1
        assert await zk.reassignments() == moves
        await zk.write_reassignments(fewer)
        assert await zk.reassignments() == fewer
        await zk.write_reassignments({})
        assert await zk.reassignments() == {}
        release()

    run(test)


def test_topic_assignments() -> None:
    """KafkaZkClientTest.testTopicAssignments (2.4): what is being added and removed is read again as it was written."""
    tp = TopicPartition("t", 0)
    data = encode_topic({0: (1, 2, 3)}, {0: ReassigningReplicas((1,), (3,))})
    assert decode_topic(data) == {0: (1, 2, 3)}
    assert [tuple(map(tuple, found)) for found in decode_reassigning(data).values()] == [((1,), (3,))]
    context = ControllerContext()
    assert (context.replicas(tp), context.replicas(TopicPartition("t", 100))) == ((), ())
    context.assign(tp, (1, 2, 3))
    assert (context.replicas(tp), context.replicas(TopicPartition("t", 100))) == ((1, 2, 3), ())


def test_controlled_shutdown_of_the_last_of_the_isr() -> None:
    """PartitionLeaderElectionAlgorithmsTest.testControlledShutdownPartitionLeaderElectionLastIsrShuttingDown."""
    assert CONTROLLED_SHUTDOWN.select(Candidates((2, 4), (2,), online=(2, 4), shutting_down=(2,))) is None
