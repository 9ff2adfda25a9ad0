"""The work that the protocols' steps share."""

from collections.abc import Sequence

from attrs import define

from controller.context import ControllerContext
from controller.move import Move
from controller.reassignment.admin_znode import AdminZnode
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_elections import LeaderElections
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import PartitionState, ReplicaState
from controller.steps import Label, Step, Steps
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr


@define(eq=False, repr=False)
class StepsWork:
    """The tools of a protocol's methods: parts of the controller, and the work that the steps share."""

    context: ControllerContext
    zk_client: KafkaZkClient
    watches: Watches
    batch: ControllerBrokerRequestBatch
    elections: LeaderElections
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    admin_znode: AdminZnode
    _step: Steps

    def step(self, name: str, move: Move, *, hop: int = 0) -> Step:
        """One step of one move."""
        label = Label(move.tp.topic, move.tp.partition, hop=hop)
        return self._step(name, label, detail="to " + ",".join(map(str, move.target)))

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    async def read_state(self, tp: TopicPartition) -> LeaderAndIsr | None:
        """The state znode. Reading it arms the watch that ends the protocols' waits."""
        return (await self.zk_client.states([tp])).get(tp)

    async def all_in_isr(self, tp: TopicPartition, replicas: Sequence[int]) -> bool:
        """Whether ``replicas`` are in the ISR that ZooKeeper has."""
        state = await self.read_state(tp)
        return state is not None and all(replica in state.isr for replica in replicas)

    async def write_assignment(
        self, tp: TopicPartition, replicas: Sequence[int], adding_and_removing: ReassigningReplicas | None = None
    ) -> None:
        """Write a partition's replicas to the topic's znode, beside those of the topic's other partitions in memory.

        ``adding_and_removing``: the partition's, under KIP-455.
        """
        assignments = self.context.assignments.get(tp.topic, {})
        reassigning = self.context.reassigning.get(tp.topic, {})
        await self.zk_client.write_assignment(
            tp.topic,
            {**assignments, tp.partition: tuple(replicas)},
            None if adding_and_removing is None else {**reassigning, tp.partition: adding_and_removing},
        )

    # -- leaders ------------------------------------------------------------------------------------------------------

    async def raise_epoch_and_send(self, tp: TopicPartition, brokers: Sequence[int], replicas: Sequence[int]) -> None:
        """Raise the leader epoch and send ``brokers`` a LeaderAndIsr with ``replicas``
        (KafkaController.updateLeaderEpochAndSendRequest).

        Raises: StateChangeFailed.
        """
        state = await self.elections.raise_leader_epoch(tp)
        self.batch.new_batch()
        self.batch.add_leader_and_isr(brokers, tp, state, tuple(replicas), is_new=False)
        self.batch.send_to_brokers()

    def leader_may_stay(self, move: Move) -> bool:
        """Whether the leader in memory is among ``move.step_target`` and online."""
        leader = self.context.leader(move.tp)
        return leader in move.step_target and self.context.is_online(leader, move.tp)

    async def move_leader(self, move: Move, recipients_if_it_stays: Sequence[int]) -> None:
        """Elect a leader among ``move.step_target`` if the present one is outside or dead; else only raise its epoch
        (KafkaController.moveReassignedPartitionLeaderIfRequired).

        An election that finds no leader is logged, and the move goes on.
        """
        if self.leader_may_stay(move):
            await self.raise_epoch_and_send(move.tp, recipients_if_it_stays, move.step_target)
        else:
            await self.elect_in_target(move.tp)

    async def elect_in_target(self, tp: TopicPartition) -> None:
        await self.partitions.handle_state_changes([tp], PartitionState.ONLINE, self.partitions.selectors.reassigned)

    # -- replicas -----------------------------------------------------------------------------------------------------

    async def start_new(self, tp: TopicPartition, replicas: Sequence[int]) -> None:
        for replica in replicas:
            await self.replicas.handle_state_changes([(tp, replica)], ReplicaState.NEW)

    async def bring_online(self, tp: TopicPartition, replicas: Sequence[int]) -> None:
        for replica in replicas:
            await self.replicas.handle_state_changes([(tp, replica)], ReplicaState.ONLINE)

    async def go_offline(self, tp: TopicPartition, replicas: Sequence[int]) -> None:
        await self.replicas.handle_state_changes([(tp, replica) for replica in replicas], ReplicaState.OFFLINE)

    async def delete(self, tp: TopicPartition, replicas: Sequence[int]) -> None:
        await self.replicas.delete([(tp, replica) for replica in replicas])

    # -- the end ------------------------------------------------------------------------------------------------------

    async def remove_from_admin_znode(self, tp: TopicPartition) -> None:
        """End the move of ``tp``."""
        await self.admin_znode.remove_moves([tp])

    def send_update_metadata(self, tp: TopicPartition) -> None:
        """Send every broker the metadata of ``tp``."""
        self.batch.send_update_metadata(self.context.live_or_shutting_down, (tp,))
