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

The old leader in RR hears nothing of B3: it leads in its own view until StopReplica reaches it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from controller.errors import StateChangeFailed
from controller.reassignment import actions
from controller.reassignment.move import Move
from controller.reassignment.requests import ByApiAndAdminPath, finish
from controller.states.names import ReplicaState
from controller.steps import Procedure, Step, phases
from emulator.protocol.assignments import ReplicaAssignment, without
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

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
        # A1's request is the one that the new replicas act on.
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
class Kip455(ByApiAndAdminPath):
    """Adding and removing replicas, in phases U, A and B.

    Attributes:
        adds_as_new: whether A1 tells the replicas in AR that they are new (2.7, KAFKA-10314); before, only A2 does,
            whose request the brokers answer as stale.
        watches_isr: whether a move's ISR is watched in ZooKeeper. Where leaders ask for their ISRs (2.7, KIP-497), the
            controller looks at the move when it has answered.
    """

    procedure: ClassVar[Procedure] = KIP_455

    adds_as_new: bool = False
    watches_isr: bool = True

    async def begin(self, c: "Controller", tp: TopicPartition, wanted: ReplicaAssignment) -> None:
        move = Move(tp, wanted.target, wanted.origin)
        await self._update(c, move, wanted)
        c.context.moves[tp] = move
        await self._go_on(c, move, requested=True)

    async def advance(self, c: "Controller", move: Move) -> None:
        await self._go_on(c, move, requested=False)

    async def isr_changed(self, c: "Controller", move: Move) -> None:
        if await self._complete(c, move):
            await self._end_wait(c, move)
            await self.advance(c, move)

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        return any(broker in move.target for broker in brokers)

    # -- the phases ---------------------------------------------------------------------------------------------------

    async def _update(self, c: "Controller", move: Move, wanted: ReplicaAssignment) -> None:
        """Phase U."""
        tp, now = move.tp, c.context.full_assignment(move.tp)
        changes = now != wanted
        async with self._step(c, move, "U1"):
            if changes:
                await actions.write_assignment(c, tp, wanted.replicas, wanted.motion)
        async with self._step(c, move, "U2"):
            if changes:
                c.context.assign_fully(tp, wanted)
        async with self._step(c, move, "U3"):
            unneeded = without(now.replicas, wanted.replicas)
            await actions.go_offline(c, tp, unneeded)
            await actions.delete(c, tp, unneeded)

    async def _go_on(self, c: "Controller", move: Move, *, requested: bool) -> None:
        if self.watches_isr:
            c.watches.state(move.tp)
        move.aim = move.target
        async with self._step(c, move, "check"):
            complete = await self._complete(c, move)
        if requested or not complete:
            await self._add_replicas(c, move, needed=not complete)
        if complete:
            await self._drop_replicas(c, move)

    async def _complete(self, c: "Controller", move: Move) -> bool:
        moving = c.context.full_assignment(move.tp).being_reassigned
        return not moving or await actions.all_in_isr(c, move.tp, move.target)

    async def _add_replicas(self, c: "Controller", move: Move, *, needed: bool) -> None:
        """Phase A."""
        tp, now = move.tp, c.context.full_assignment(move.tp)
        async with self._step(c, move, "A1"):
            if needed:
                await self._announce(c, tp, now)
        async with self._step(c, move, "A2"):
            if needed:
                await actions.start_new(c, tp, now.adding)
        if not move.waiting:
            await self._step(c, move, "wait").reach("before")
            move.waiting = WAIT

    async def _drop_replicas(self, c: "Controller", move: Move) -> None:
        """Phase B."""
        tp, now = move.tp, c.context.full_assignment(move.tp)
        done = ReplicaAssignment(now.target)
        await self._end_wait(c, move)
        async with self._step(c, move, "B1"):
            await c.replicas.handle([(tp, replica) for replica in now.adding], ReplicaState.ONLINE)
        async with self._step(c, move, "B2"):
            c.context.assign_fully(tp, done)
            move.current = done.replicas
        async with self._step(c, move, "B3"):
            await self._move_leader(c, move)
        async with self._step(c, move, "B4"):
            await actions.go_offline(c, tp, now.removing)
        async with self._step(c, move, "B5"):
            await actions.delete(c, tp, now.removing)
        async with self._step(c, move, "B6"):
            await actions.write_assignment(c, tp, done.replicas, done.motion)
        async with self._step(c, move, "B7"):
            await finish(c, move)
        async with self._step(c, move, "B8"):
            c.send_update_metadata(c.context.live_or_shutting_down, (tp,))

    async def _end_wait(self, c: "Controller", move: Move) -> None:
        if move.waiting:
            await self._step(c, move, "wait").reach("after")
            move.waiting = ""

    # -- their work ---------------------------------------------------------------------------------------------------

    async def _announce(self, c: "Controller", tp: TopicPartition, now: ReplicaAssignment) -> None:
        """A1. Raises: StateChangeFailed, as Kafka does: the move stays, until a broker's start, the next request or
        the next controller takes it up again."""
        state = await c.elections.bump_leader_epoch(tp)
        c.batch.begin()
        c.batch.leader_and_isr(now.origin, tp, state, now.replicas, is_new=False)
        c.batch.leader_and_isr(now.adding, tp, state, now.replicas, is_new=self.adds_as_new)
        c.batch.send()

    async def _move_leader(self, c: "Controller", move: Move) -> None:
        """B3. Raises: StateChangeFailed where the partition never had a leader."""
        if move.tp not in c.context.leadership:
            raise StateChangeFailed(f"{move.tp} has never had a leader")
        await actions.move_leader(c, move, move.target)

    def _step(self, c: "Controller", move: Move, step: str) -> Step:
        return actions.step(c, f"kip-455.{step}", move)
