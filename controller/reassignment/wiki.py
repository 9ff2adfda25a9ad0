"""The controller page's onPartitionReassignment, in the order of Kafka 1.1 to 2.3.

OAR: old assigned replicas. RAR: reassigned replicas, the target. AR: assigned replicas.

 1. update AR in ZooKeeper with OAR + RAR (in which order: ``Wiki.widened``)
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
has started the new replicas, and step 3 finds none to start (readings §5). Kafka repeats steps 1 to 3 whenever it
resumes a move whose target is not in sync, at failover and when a broker of the target starts; where the target is in
sync it skips them, and here they pass their gates without work.
"""

from collections.abc import Callable
from typing import ClassVar

from attrs import frozen

from controller.context import ControllerContext
from controller.move import Move
from controller.reassignment.protocol import RequestedByZnode
from controller.reassignment.steps_work import StepsWork
from controller.steps import Procedure, phases
from emulator.protocol.assignments import Replicas, union, without
from emulator.protocol.scala_order import set_order
from emulator.protocol.types import TopicPartition

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


def set_of_new_and_old(old: Replicas, target: Replicas) -> Replicas:
    """RAR ++ OAR as a ``Set`` (KafkaController.onPartitionReassignment, 0.8.1 to 2.3.1): up to four replicas, RAR comes
    first, so that elections during the move prefer it."""
    return set_order((*target, *old))


def old_then_new(old: Replicas, target: Replicas) -> Replicas:
    """OAR, then RAR - OAR, as the page's table has them."""
    return union(old, target)


def old_and_new(old: Replicas, target: Replicas) -> Replicas:
    """OAR + RAR, the recipients in Kafka's code."""
    return union(old, target)


def target_only(old: Replicas, target: Replicas) -> Replicas:
    """RAR, the recipients on the page."""
    return target


@frozen
class Wiki(RequestedByZnode):
    """The page's protocol.

    Attributes:
        widened: OAR + RAR of step 1, in the order in which they are written.
        recipients_in_step_7: the brokers, of OAR and RAR, that get step 7's LeaderAndIsr if the leader stays. After an
            election it goes to RAR.
        needs_live_target: whether a move ends, at any step, if a broker of RAR is down when it is begun or when a new
            controller resumes it (before KAFKA-4214, 0.10.1).
    """

    procedure: ClassVar[Procedure] = WIKI

    widened: Callable[[Replicas, Replicas], Replicas] = set_of_new_and_old
    recipients_in_step_7: Callable[[Replicas, Replicas], Replicas] = old_and_new
    needs_live_target: bool = False

    def refuses(self, context: ControllerContext, tp: TopicPartition, target: Replicas) -> str:
        dead = self.needs_live_target and any(broker not in context.live for broker in target)
        return RequestedByZnode.refuses(self, context, tp, target) or ("a new replica is not alive" if dead else "")

    async def advance(self, work: StepsWork, move: Move) -> None:
        move.step_target = move.target
        caught_up = await work.all_in_isr(move.tp, move.target)
        if not (caught_up and move.waiting):
            await self._add_replicas(work, move, needed=not caught_up)
        if caught_up:
            await self._drop_replicas(work, move)

    async def isr_changed(self, work: StepsWork, move: Move) -> None:
        if await work.all_in_isr(move.tp, move.target):
            await self.advance(work, move)

    async def _add_replicas(self, work: StepsWork, move: Move, *, needed: bool) -> None:
        tp, old = move.tp, work.context.replicas(move.tp)
        wide = self.widened(old, move.target)
        move.waiting = ""
        async with work.step("wiki.1", move):
            if needed:
                await work.write_assignment(tp, wide)
                work.context.assign(tp, wide)
        async with work.step("wiki.2", move):
            if needed:
                await work.raise_epoch_and_send(tp, wide, wide)
        async with work.step("wiki.3", move):
            if needed:
                await work.start_new(tp, without(set_order(move.target), old))
        await work.step("wiki.4", move).reach("before")
        move.waiting = "wiki.4"

    async def _drop_replicas(self, work: StepsWork, move: Move) -> None:
        tp, target = move.tp, move.target
        wide = work.context.replicas(tp)
        dropped = tuple(replica for replica in wide if replica not in target)
        await work.step("wiki.4", move).reach("after")
        move.waiting = ""
        async with work.step("wiki.5", move):
            await work.bring_online(tp, target)
        async with work.step("wiki.6", move):
            work.context.assign(tp, target)
            move.current = target
        async with work.step("wiki.7", move):
            await work.move_leader(move, self.recipients_in_step_7(wide, target))
        async with work.step("wiki.8", move):
            await work.go_offline(tp, dropped)
        async with work.step("wiki.9", move):
            await work.delete(tp, dropped)
        async with work.step("wiki.10", move):
            await work.write_assignment(tp, target)
        async with work.step("wiki.11", move):
            await work.remove_from_admin_znode(tp)
        async with work.step("wiki.12", move):
            work.send_update_metadata(tp)
