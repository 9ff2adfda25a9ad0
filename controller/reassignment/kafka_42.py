"""KAFKA-42 as Kafka 0.8.0 runs it: the seven stages of the ticket.

AR: original list of replicas. RAR: reassigned replicas, the target.

1. register a listener for ISR changes, to detect when RAR is a subset of the ISR
2. start the new replicas RAR - AR
3. wait until they are in sync with the leader
4. if the leader is not in RAR, elect a new leader from RAR
5. stop the old replicas AR - RAR
6. write the new AR
7. remove the partition from /admin/reassign_partitions

The listener refuses a partition that does not exist (the ticket's "previously existed" is a slip, its fourth test
says so), one whose list stays the same, and one with a dead replica in the new list; a list that only changes
its order is accepted (readings §3). The entry is removed, which the admin command takes for the end.

AR in ZooKeeper stays what it was until step 6. So a leader is never told of the new replicas: it has to take them in as
they fetch. A new replica that dies before step 4 has no state to come back from, and nobody starts it again
before the next controller does.

The code marks RAR online between steps 3 and 4, here in step 4, and sends UpdateMetadata after step 7, here in it.
Where RAR is in sync at once, steps 2 and 3 pass their gates without work; the code skips them.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from controller.reassignment import actions, admin
from controller.reassignment.admin import ByAdminPath
from controller.reassignment.move import Move
from controller.steps import Procedure, Step, phases
from emulator.protocol.assignments import Replicas
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

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
"""The phases are these stages."""

IN_SYNC = "kafka-42.3"


@frozen
class Kafka42(ByAdminPath):
    """The ticket's protocol."""

    procedure: ClassVar[Procedure] = KAFKA_42
    follows_znode: ClassVar[bool] = True

    def refuses(self, c: "Controller", tp: TopicPartition, target: Replicas) -> str:
        dead = [replica for replica in target if replica not in c.context.live]
        reason = super().refuses(c, tp, target)
        return reason or (f"replicas {', '.join(map(str, dead))} of the new list are dead" if dead else "")

    async def advance(self, c: "Controller", move: Move) -> None:
        move.aim = move.target
        if move.waiting:
            caught_up = await actions.all_in_isr(c, move.tp, move.target)
        else:
            async with self._step(c, move, 1):
                caught_up = await actions.all_in_isr(c, move.tp, move.target)
        if not (caught_up and move.waiting):
            await self._start(c, move, needed=not caught_up)
        if caught_up:
            await self._finish(c, move)

    async def isr_changed(self, c: "Controller", move: Move) -> None:
        if await actions.all_in_isr(c, move.tp, move.target):
            await self.advance(c, move)

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        return any(broker in move.target for broker in brokers)

    async def _start(self, c: "Controller", move: Move, *, needed: bool) -> None:
        old = c.context.replicas(move.tp)
        async with self._step(c, move, 2):
            if needed:
                await actions.start_new(c, move.tp, [replica for replica in move.target if replica not in old])
        await actions.step(c, IN_SYNC, move).reach("before")
        move.waiting = IN_SYNC

    async def _finish(self, c: "Controller", move: Move) -> None:
        tp, target = move.tp, move.target
        await actions.step(c, IN_SYNC, move).reach("after")
        move.waiting = ""
        async with self._step(c, move, 4):
            await actions.bring_online(c, tp, target)
            if not actions.leader_may_stay(c, move):
                await actions.elect_in_target(c, tp)
        async with self._step(c, move, 5):
            old = [replica for replica in c.context.replicas(tp) if replica not in target]
            for replica in old:
                await actions.go_offline(c, tp, [replica])
            for replica in old:
                await actions.delete(c, tp, [replica])
        async with self._step(c, move, 6):
            await actions.write_assignment(c, tp, target)
            c.context.assign(tp, target)
            move.current = target
        async with self._step(c, move, 7):
            await admin.remove(c, [tp])
            c.send_update_metadata(c.context.live_or_shutting_down, (tp,))

    def _step(self, c: "Controller", move: Move, number: int) -> Step:
        return actions.step(c, f"kafka-42.{number}", move)
