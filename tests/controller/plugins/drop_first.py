"""A protocol from outside the package: old replicas are deleted before new ones start.

1. write the assignment RAR, and send it under a new leader epoch
2. delete the replicas of OAR - RAR
3. start the replicas of RAR - OAR
4. wait until RAR is in the ISR
5. remove the partition from /admin/reassign_partitions, and send UpdateMetadata to every broker
"""

from typing import ClassVar

from attrs import frozen

from controller.move import Move
from controller.reassignment.protocol import RequestedByZnode
from controller.reassignment.steps_work import StepsWork
from controller.shapes import Shape
from controller.steps import Procedure, phases
from emulator.protocol.assignments import without

DROP_FIRST = Procedure.numbered(
    "drop-first",
    "write the assignment RAR and send it",
    "delete the replicas of OAR - RAR",
    "start the replicas of RAR - OAR",
    "wait until RAR is in the ISR",
    "remove the partition from the admin path",
    phases=phases("drop-first", listen="1", start="3", wait="4", leader="1", stop="2", record="1", done="5"),
)


@frozen
class DropFirst(RequestedByZnode):
    """Only a partition whose leader stays can be moved."""

    procedure: ClassVar[Procedure] = DROP_FIRST

    async def advance(self, work: StepsWork, move: Move) -> None:
        tp, old, target = move.tp, work.context.replicas(move.tp), move.target
        move.step_target = target
        if not move.waiting:
            async with work.step("drop-first.1", move):
                await work.write_assignment(tp, target)
                work.context.assign(tp, target)
                await work.raise_epoch_and_send(tp, target, target)
            async with work.step("drop-first.2", move):
                await work.go_offline(tp, without(old, target))
                await work.delete(tp, without(old, target))
            async with work.step("drop-first.3", move):
                await work.start_new(tp, without(target, old))
            await work.step("drop-first.4", move).reach("before")
            move.waiting = "drop-first.4"
        if await work.all_in_isr(tp, target):
            await work.step("drop-first.4", move).reach("after")
            await work.bring_online(tp, target)
            async with work.step("drop-first.5", move):
                await work.remove_from_admin_znode(tp)
                work.send_update_metadata(tp)


SHAPE = Shape("drop-first", DROP_FIRST, "old replicas are deleted before new ones start", lambda _: DropFirst())
