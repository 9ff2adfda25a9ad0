"""KIP-455 as Kafka 2.4.1 has it (KafkaController.onPartitionReassignment; kafka-behaviour §6.3).

RS: replica set. AR: adding replicas. RR: removing replicas. ORS = RS - AR: original. TRS = RS - RR: target.

Phase U, once for each request
U1. update ZooKeeper with RS = TRS + ORS, AR = TRS - ORS, RR = ORS - TRS
U2. update the memory likewise
U3. stop the replicas that the request before had begun to add and this one does not need

check. is TRS in the ISR (nothing moves: it is)

Phase A, while it is not
A1. raise the leader epoch; LeaderAndIsr with RS, AR and RR to every replica in RS
A2. replicas in AR -> NewReplica
wait. for the ISR to change

Phase B, when it is
B1. replicas in AR -> OnlineReplica
B2. RS = TRS, AR = RR = {} in memory
B3. LeaderAndIsr with a potential new leader and RS = TRS, same ISR, to every replica in TRS
B4. replicas in RR -> Offline (forced out of the ISR)
B5. replicas in RR -> NonExistentReplica (deleted)
B6. update ZooKeeper with RS = TRS, AR = RR = {}: last, as ORS is stored nowhere else
B7. stop watching; remove the partition from /admin/reassign_partitions if that asks for TRS
B8. send UpdateMetadata to every broker

To cancel is to ask for ORS: nothing is added or removed then, U3 stops what was being added, and phase B follows at
once. Another order of the same replicas is done at once too. Both skip phase A; so that a trigger means the same for
every plan, they pass its gates without work, as a request without a change passes those of phase U.

A controller that resumes a move finds RS, AR and RR in the topic's znode and goes on at the check; so does the start of
a broker of TRS, whose phase A costs one more leader epoch. What ``check`` reads arms the watch that ends the wait.

The old leader in RR gets nothing in B3: it acts as leader until StopReplica reaches it.
"""

from typing import ClassVar

from attrs import frozen

from controller.errors import StateChangeFailed
from controller.move import Move
from controller.reassignment.protocol import RequestedByApi
from controller.reassignment.steps_work import StepsWork
from controller.states import ReplicaState
from controller.steps import Procedure, Step, phases
from emulator.protocol.assignments import ReplicaAssignment, without
from emulator.protocol.types import TopicPartition

KIP_455 = Procedure(
    "kip-455",
    {
        "kip-455.U1": "write RS, AR and RR to the topic's znode",
        "kip-455.U2": "the same in the controller's memory",
        "kip-455.U3": "stop replicas that an override no longer needs",
        "kip-455.check": "is the target set in the ISR",
        "kip-455.A1": "bump the leader epoch; LeaderAndIsr with AR and RR",
        "kip-455.A2": "adding replicas become NewReplica",
        "kip-455.wait": "wait for the ISR to change",
        "kip-455.B1": "adding replicas become OnlineReplica",
        "kip-455.B2": "the target set is the assignment in memory",
        "kip-455.B3": "elect a leader from the target set if needed",
        "kip-455.B4": "removing replicas go Offline",
        "kip-455.B5": "removing replicas are deleted",
        "kip-455.B6": "write the target set to the topic's znode",
        "kip-455.B7": "remove the partition from the admin path",
        "kip-455.B8": "send UpdateMetadata to every broker",
    },
    phases(
        "kip-455",
        # It ends with the check, whose read arms the watch.
        listen=("U1", "check"),
        # The new replicas act on A1's request.
        start=("A1", "A2"),
        wait="wait",
        leader="B3",
        stop=("B4", "B5"),
        record="B6",
        done="B7",
    ),
)

WAIT = "kip-455.wait"


@frozen
class Kip455(RequestedByApi):
    """Adding and removing replicas, in phases U, A and B.

    Attributes:
        adds_as_new: whether A1 sends the replicas in AR the flag that they are new (2.7, KAFKA-10314); before, only A2
            does, whose request the brokers refuse as stale.
        watches_isr: whether a move's ISR is watched in ZooKeeper. Where leaders ask the controller for ISR changes
            (2.7, KIP-497), it checks the move when it has answered.
    """

    procedure: ClassVar[Procedure] = KIP_455

    adds_as_new: bool = False
    watches_isr: bool = True

    async def begin(self, work: StepsWork, tp: TopicPartition, wanted: ReplicaAssignment) -> None:
        move = Move(tp, wanted.target, wanted.origin)
        await self._update(work, move, wanted)
        work.context.reassignments[tp] = move
        await self._go_on(work, move, requested=True)

    async def advance(self, work: StepsWork, move: Move) -> None:
        await self._go_on(work, move, requested=False)

    async def isr_changed(self, work: StepsWork, move: Move) -> None:
        if await self._complete(work, move):
            await self._end_wait(work, move)
            await self.advance(work, move)

    # -- the phases ---------------------------------------------------------------------------------------------------

    async def _update(self, work: StepsWork, move: Move, wanted: ReplicaAssignment) -> None:
        """Phase U."""
        tp, now = move.tp, work.context.full_assignment(move.tp)
        changes = now != wanted
        async with self._step(work, move, "U1"):
            if changes:
                await work.write_assignment(tp, wanted.replicas, wanted.reassigning)
        async with self._step(work, move, "U2"):
            if changes:
                work.context.assign_fully(tp, wanted)
        async with self._step(work, move, "U3"):
            unneeded = without(now.replicas, wanted.replicas)
            await work.go_offline(tp, unneeded)
            await work.delete(tp, unneeded)

    async def _go_on(self, work: StepsWork, move: Move, *, requested: bool) -> None:
        if self.watches_isr:
            work.watches.state(move.tp)
        move.step_target = move.target
        async with self._step(work, move, "check"):
            complete = await self._complete(work, move)
        if requested or not complete:
            await self._add_replicas(work, move, needed=not complete)
        if complete:
            await self._drop_replicas(work, move)

    async def _complete(self, work: StepsWork, move: Move) -> bool:
        moving = work.context.full_assignment(move.tp).being_reassigned
        return not moving or await work.all_in_isr(move.tp, move.target)

    async def _add_replicas(self, work: StepsWork, move: Move, *, needed: bool) -> None:
        """Phase A."""
        tp, now = move.tp, work.context.full_assignment(move.tp)
        async with self._step(work, move, "A1"):
            if needed:
                await self._announce(work, tp, now)
        async with self._step(work, move, "A2"):
            if needed:
                await work.start_new(tp, now.adding)
        if not move.waiting:
            await self._step(work, move, "wait").reach("before")
            move.waiting = WAIT

    async def _drop_replicas(self, work: StepsWork, move: Move) -> None:
        """Phase B."""
        tp, now = move.tp, work.context.full_assignment(move.tp)
        done = ReplicaAssignment(now.target)
        await self._end_wait(work, move)
        async with self._step(work, move, "B1"):
            await work.replicas.handle_state_changes([(tp, replica) for replica in now.adding], ReplicaState.ONLINE)
        async with self._step(work, move, "B2"):
            work.context.assign_fully(tp, done)
            move.current = done.replicas
        async with self._step(work, move, "B3"):
            await self._move_leader(work, move)
        async with self._step(work, move, "B4"):
            await work.go_offline(tp, now.removing)
        async with self._step(work, move, "B5"):
            await work.delete(tp, now.removing)
        async with self._step(work, move, "B6"):
            await work.write_assignment(tp, done.replicas, done.reassigning)
        async with self._step(work, move, "B7"):
            await work.admin_znode.complete(move)
        async with self._step(work, move, "B8"):
            work.send_update_metadata(tp)

    async def _end_wait(self, work: StepsWork, move: Move) -> None:
        if move.waiting:
            await self._step(work, move, "wait").reach("after")
            move.waiting = ""

    # -- their work ---------------------------------------------------------------------------------------------------

    async def _announce(self, work: StepsWork, tp: TopicPartition, now: ReplicaAssignment) -> None:
        """A1. Raises: StateChangeFailed, as Kafka does: the move stays, until a broker's start, the next request or
        the next controller takes it up again."""
        state = await work.elections.raise_leader_epoch(tp)
        work.batch.new_batch()
        work.batch.add_leader_and_isr(now.origin, tp, state, now.replicas, is_new=False)
        work.batch.add_leader_and_isr(now.adding, tp, state, now.replicas, is_new=self.adds_as_new)
        work.batch.send_to_brokers()

    async def _move_leader(self, work: StepsWork, move: Move) -> None:
        """B3. Raises: StateChangeFailed where the partition never had a leader."""
        if move.tp not in work.context.leadership_info:
            raise StateChangeFailed(f"{move.tp} has never had a leader")
        await work.move_leader(move, move.target)

    def _step(self, work: StepsWork, move: Move, step: str) -> Step:
        return work.step(f"kip-455.{step}", move)
