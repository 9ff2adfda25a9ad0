"""The controller page's onPartitionReassignment, in the order of Kafka 1.1 to 2.3.

OAR: old assigned replicas. RAR: reassigned replicas, the target. AR: assigned replicas.

 1. update AR in ZooKeeper with OAR + RAR
 2. send LeaderAndIsr to every replica in OAR + RAR (with AR as OAR + RAR)
 3. replicas in RAR - OAR -> NewReplica
 4. wait until the replicas in RAR join the ISR
 5. replicas in RAR -> OnlineReplica
 6. set AR to RAR in memory
 7. send LeaderAndIsr with a potential new leader and AR = RAR, same ISR
 8. replicas in OAR - RAR -> Offline (forced out of the ISR)
 9. replicas in OAR - RAR -> NonExistentReplica (deleted)
10. update AR in ZooKeeper with RAR: last, as it is the only place where OAR is stored
11. remove the partition from /admin/reassign_partitions
12. send UpdateMetadata to every broker

A controller that resumes a move finds AR = OAR + RAR in ZooKeeper: it takes OAR to be AR - RAR, its failover
has started the new replicas, and step 3 finds none to start (readings §5). Kafka repeats steps 1 to 3
whenever it takes up a move whose target is not in sync, at failover and when a broker of the target starts;
where the target is in sync it skips them, and here they pass their gates without work.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from attrs import frozen

from controller.reassignment import actions, admin
from controller.reassignment.admin import ByAdminPath
from controller.reassignment.move import Move
from controller.steps import Procedure, phases
from emulator.protocol.assignments import Replicas, union

if TYPE_CHECKING:
    from controller.controller import Controller

WIKI = Procedure.numbered(
    "wiki",
    "write the assignment OAR + RAR to the topic's znode",
    "send LeaderAndIsr to every replica of OAR + RAR",
    "replicas of RAR - OAR become NewReplica",
    "wait until RAR is in the ISR",
    "replicas of RAR become OnlineReplica",
    "the assignment is RAR in the controller's memory",
    "elect a leader from RAR if needed; LeaderAndIsr with assignment RAR",
    "replicas of OAR - RAR go Offline and leave the ISR",
    "replicas of OAR - RAR become NonExistent and are deleted",
    "write the assignment RAR to the topic's znode",
    "remove the partition from the admin path",
    "send UpdateMetadata to every broker",
    phases=phases("wiki", listen="1", start="3", wait="4", leader="7", stop=("8", "9"), record="10", done="11"),
)


def old_and_new(old: Replicas, target: Replicas) -> Replicas:
    """A leader that stays: OAR + RAR learn of it (Kafka's code)."""
    return union(old, target)


def target_only(old: Replicas, target: Replicas) -> Replicas:
    """A leader that stays: RAR learns of it (the page)."""
    return target


@frozen
class Wiki(ByAdminPath):
    """The page's protocol.

    Attributes:
        told_in_step_7: who is told about a leader that stays, of OAR and RAR; an elected one is always told to RAR.
    """

    procedure: ClassVar[Procedure] = WIKI

    told_in_step_7: Callable[[Replicas, Replicas], Replicas] = old_and_new

    async def advance(self, c: "Controller", move: Move) -> None:
        move.aim = move.target
        caught_up = await actions.all_in_isr(c, move.tp, move.target)
        if not (caught_up and move.waiting):
            await self._add_replicas(c, move, needed=not caught_up)
        if caught_up:
            await self._drop_replicas(c, move)

    async def isr_changed(self, c: "Controller", move: Move) -> None:
        if await actions.all_in_isr(c, move.tp, move.target):
            await self.advance(c, move)

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        return any(broker in move.target for broker in brokers)

    async def _add_replicas(self, c: "Controller", move: Move, *, needed: bool) -> None:
        tp, old = move.tp, c.context.replicas(move.tp)
        wide = union(old, move.target)
        move.waiting = ""
        async with actions.step(c, "wiki.1", move):
            if needed:
                await actions.write_assignment(c, tp, wide)
                c.context.assign(tp, wide)
        async with actions.step(c, "wiki.2", move):
            if needed:
                await actions.announce(c, tp, wide, wide)
        async with actions.step(c, "wiki.3", move):
            if needed:
                await actions.start_new(c, tp, wide[len(old) :])
        await actions.step(c, "wiki.4", move).reach("before")
        move.waiting = "wiki.4"

    async def _drop_replicas(self, c: "Controller", move: Move) -> None:
        tp, target = move.tp, move.target
        wide = c.context.replicas(tp)
        dropped = tuple(replica for replica in wide if replica not in target)
        await actions.step(c, "wiki.4", move).reach("after")
        move.waiting = ""
        async with actions.step(c, "wiki.5", move):
            await actions.bring_online(c, tp, target)
        async with actions.step(c, "wiki.6", move):
            c.context.assign(tp, target)
            move.current = target
        async with actions.step(c, "wiki.7", move):
            await actions.move_leader(c, move, self.told_in_step_7(wide, target))
        async with actions.step(c, "wiki.8", move):
            await actions.go_offline(c, tp, dropped)
        async with actions.step(c, "wiki.9", move):
            await actions.delete(c, tp, dropped)
        async with actions.step(c, "wiki.10", move):
            await actions.write_assignment(c, tp, target)
        async with actions.step(c, "wiki.11", move):
            await admin.remove(c, [tp])
        async with actions.step(c, "wiki.12", move):
            c.send_update_metadata(c.context.live_or_shutting_down, (tp,))
