"""KAFKA-42 as Kafka 0.8.0 runs it: the seven stages of the ticket.

AR: original list of replicas. RAR: reassigned replicas, the target.

1. register a listener for ISR changes, to detect when RAR is a subset of the ISR
2. start the new replicas RAR - AR
3. wait until they are in sync with the leader
4. if the leader is not in RAR, elect a new leader from RAR
5. stop the old replicas AR - RAR
6. write the new AR
7. remove the partition from /admin/reassign_partitions

The listener refuses a partition that does not exist (the ticket's "previously existed" is a slip, as its fourth test
shows), one whose list stays the same, and one with a dead replica in the new list; a list that only changes its order
is accepted (readings §3). The entry is removed, which the admin command takes for the end.

AR in ZooKeeper stays unchanged until step 6. So a leader never receives the new replicas: it has to admit them as they
fetch. A new replica that dies before step 4 has no stored state from which it could be started again; only the next
controller starts it.

The code marks RAR online between steps 3 and 4, here in step 4, and sends UpdateMetadata after step 7, here in it.
Where RAR is in sync at once, steps 2 and 3 pass their gates without work; the code skips them.
"""

from typing import ClassVar

from attrs import frozen

from controller.context import ControllerContext
from controller.move import Move
from controller.reassignment.protocol import RequestedByZnode
from controller.reassignment.steps_work import StepsWork
from controller.steps import Procedure, Step, phases
from emulator.protocol.assignments import Replicas, without
from emulator.protocol.scala_order import set_order
from emulator.protocol.types import TopicPartition

KAFKA_42 = Procedure.numbered(
    "kafka-42",
    "listen for ISR changes",
    "start new replicas RAR - AR",
    "wait until new replicas are in sync",
    "replicas of RAR become OnlineReplica; elect a leader from RAR if needed",
    "stop old replicas AR - RAR",
    "write the new AR",
    "remove the partition from the admin path",
    phases=phases("kafka-42", listen="1", start="2", wait="3", leader="4", stop="5", record="6", done="7"),
)
"""The procedure; its phases are these stages."""

IN_SYNC = "kafka-42.3"


@frozen
class Kafka42(RequestedByZnode):
    """The ticket's protocol."""

    procedure: ClassVar[Procedure] = KAFKA_42
    follows_znode: ClassVar[bool] = True

    def refuses(self, context: ControllerContext, tp: TopicPartition, target: Replicas) -> str:
        dead = [replica for replica in target if replica not in context.live]
        reason = super().refuses(context, tp, target)
        return reason or (f"replicas {', '.join(map(str, dead))} of the new list are dead" if dead else "")

    async def advance(self, work: StepsWork, move: Move) -> None:
        move.step_target = move.target
        if move.waiting:
            caught_up = await work.all_in_isr(move.tp, move.target)
        else:
            async with self._step(work, move, 1):
                caught_up = await work.all_in_isr(move.tp, move.target)
        if not (caught_up and move.waiting):
            await self._start(work, move, needed=not caught_up)
        if caught_up:
            await self._finish(work, move)

    async def isr_changed(self, work: StepsWork, move: Move) -> None:
        if await work.all_in_isr(move.tp, move.target):
            await self.advance(work, move)

    async def _start(self, work: StepsWork, move: Move, *, needed: bool) -> None:
        old = work.context.replicas(move.tp)
        async with self._step(work, move, 2):
            if needed:
                await work.start_new(move.tp, without(set_order(move.target), old))
        await work.step(IN_SYNC, move).reach("before")
        move.waiting = IN_SYNC

    async def _finish(self, work: StepsWork, move: Move) -> None:
        tp, target = move.tp, move.target
        await work.step(IN_SYNC, move).reach("after")
        move.waiting = ""
        async with self._step(work, move, 4):
            await work.bring_online(tp, target)
            if not work.leader_may_stay(move):
                await work.elect_in_target(tp)
        async with self._step(work, move, 5):
            old = without(set_order(work.context.replicas(tp)), target)
            for replica in old:
                await work.go_offline(tp, [replica])
            for replica in old:
                await work.delete(tp, [replica])
        async with self._step(work, move, 6):
            await work.write_assignment(tp, target)
            work.context.assign(tp, target)
            move.current = target
        async with self._step(work, move, 7):
            await work.remove_from_admin_znode(tp)
            work.send_update_metadata(tp)

    def _step(self, work: StepsWork, move: Move, number: int) -> Step:
        return work.step(f"kafka-42.{number}", move)
