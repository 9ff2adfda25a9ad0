"""A protocol of somebody else's: old replicas are deleted before new ones start. It loses data on purpose.

1. write the assignment RAR, and send it under a new leader epoch
2. delete the replicas of OAR - RAR
3. start the replicas of RAR - OAR
4. wait until RAR is in the ISR
5. remove the partition from /admin/reassign_partitions, and send UpdateMetadata to every broker
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from controller.reassignment import actions, admin
from controller.reassignment.admin import ByAdminPath
from controller.reassignment.move import Move
from controller.reassignment.registry import Shape
from controller.steps import Procedure, phases
from emulator.protocol.assignments import without

if TYPE_CHECKING:
    from controller.controller import Controller

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
class DropFirst(ByAdminPath):
    """Only a partition whose leader stays can be moved."""

    procedure: ClassVar[Procedure] = DROP_FIRST

    async def advance(self, c: "Controller", move: Move) -> None:
        tp, old, target = move.tp, c.context.replicas(move.tp), move.target
        move.aim = target
        if not move.waiting:
            async with actions.step(c, "drop-first.1", move):
                await actions.write_assignment(c, tp, target)
                c.context.assign(tp, target)
                await actions.announce(c, tp, target, target)
            async with actions.step(c, "drop-first.2", move):
                await actions.go_offline(c, tp, without(old, target))
                await actions.delete(c, tp, without(old, target))
            async with actions.step(c, "drop-first.3", move):
                await actions.start_new(c, tp, without(target, old))
            await actions.step(c, "drop-first.4", move).reach("before")
            move.waiting = "drop-first.4"
        if await actions.all_in_isr(c, tp, target):
            await actions.step(c, "drop-first.4", move).reach("after")
            await actions.bring_online(c, tp, target)
            async with actions.step(c, "drop-first.5", move):
                await admin.remove(c, [tp])
                c.send_update_metadata(c.context.live_or_shutting_down, (tp,))

    async def isr_changed(self, c: "Controller", move: Move) -> None:
        await self.advance(c, move)

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        return any(broker in move.target for broker in brokers)


SHAPE = Shape("drop-first", DROP_FIRST, "old replicas are deleted before new ones start", lambda _: DropFirst())
