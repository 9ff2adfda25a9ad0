"""KAFKA-6794: one replica at a time. Never released; readings §2, says how its text is read.

CR: current replicas. FTR: final target replicas. One hop (``plan_hop``): NR, the first of FTR that is not in
CR, joins; DR, the first n = max(0, |CR| - |FTR|) of the excess ER = CR - FTR, leader last, is dropped;
TR = CR + NR - DR. The hop without an NR is the last; its TR is FTR, in FTR's order.

One family: more than one may join in a hop (``width-K``; with all of them it is all at once, in two hops), and n may be
taken literally, with the sign that the ticket's text gives it (``grow-then-shrink``).

 1. wait until CR is entirely in the ISR
 2. calculate the hop
 3. wait until all brokers of TR are alive
 4. the last hop's new replica -> OnlineReplica
 5. update CR in ZooKeeper with TR
 6. send LeaderAndIsr to all replicas in CR + NR
 7. NR -> NewReplica
 8. set CR to TR in memory
 9. send LeaderAndIsr with a potential new leader and CR = TR, same ISR, to every broker in TR
10. replicas in DR -> Offline (forced out of the ISR)
11. replicas in DR -> NonExistentReplica (deleted)
12. remove the partition from /admin/reassign_partitions: in the last hop only, where alone it has a gate;
    it is the one place that holds FTR
13. send UpdateMetadata to every broker

Step 5 goes before 9 and 10, against the page's advice to write AR last: after a crash in between no controller knows
of the dropped replica any more, and in the last hop the move looks done. Kept, to be measured. After a failover a move
goes on at step 1, from CR in ZooKeeper; its hops are then counted from 1 again, since their number is not stored.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar

from attrs import frozen

from controller.move import Move
from controller.reassignment.protocol import Awaited, RequestedByZnode
from controller.reassignment.steps_work import StepsWork
from controller.states import ReplicaState
from controller.steps import Procedure, Span, Step, phases
from emulator.protocol.assignments import Replicas, without

KAFKA_6794 = Procedure.numbered(
    "kafka-6794",
    "wait until CR is in the ISR",
    "calculate the next hop: ER, DR, NR, TR",
    "wait until every broker of TR is alive",
    "replicas that the last hop added become OnlineReplica",
    "write the assignment TR to the topic's znode",
    "send LeaderAndIsr to every replica of CR + NR",
    "replicas of NR become NewReplica",
    "CR is TR in the controller's memory",
    "elect a leader from TR if needed; LeaderAndIsr with assignment TR",
    "replicas of DR go Offline and leave the ISR",
    "replicas of DR become NonExistent and are deleted",
    "remove the partition from the admin path (after the last hop only)",
    "send UpdateMetadata to every broker",
    phases={
        **phases("kafka-6794", listen="1", start="7", leader="9", stop=("10", "11"), record="5", done="12"),
        # Each hop begins by waiting for what the hop before it added.
        "move.wait": Span("kafka-6794.1", "kafka-6794.1", next_hop=True),
    },
)
"""``move.record`` comes before ``move.leader``: step 5 writes the assignment first (readings §2). ``move.done`` is
reached once, in the last hop."""

IN_SYNC, ALIVE = "kafka-6794.1", "kafka-6794.3"
"""The steps that wait."""

Surplus = Callable[[int, int], int]


def above_target(current: int, final: int) -> int:
    """n as the ticket's example has it: the number by which CR is larger than FTR."""
    return max(0, current - final)


def literal(current: int, final: int) -> int:
    """n = size(FTR) - size(CR), as the ticket's text has it. No replica is dropped until the last hop, unless the
    number of replicas grows: then old ones are dropped as new ones join, and a single one before any other has its
    data."""
    return max(0, final - current)


@frozen
class Hop:
    """One hop's plan.

    Attributes:
        new: NR, the replicas that join.
        dropped: DR, the replicas that leave.
        target: TR, the replicas after the hop.
        last: whether the move ends with this hop.
    """

    new: Replicas
    dropped: Replicas
    target: Replicas
    last: bool


def plan_hop(
    current: Replicas, final: Replicas, leader: int, *, width: int | None = 1, surplus: Surplus = above_target
) -> Hop:
    """Calculate the next hop from CR, FTR and the leader.

    ``width``: how many join in one hop, None for all; ``surplus``: n, from the sizes of CR and FTR. The last hop drops
    every replica that is not in FTR.
    """
    excess = sorted(without(current, final), key=lambda replica: replica == leader)
    new = without(final, current)[:width]
    if not new:
        return Hop((), tuple(excess), final, last=True)
    dropped = tuple(excess[: surplus(len(current), len(final))])
    return Hop(new, dropped, (*without(current, dropped), *new), last=False)


@frozen
class Kafka6794(RequestedByZnode):
    """The ticket's protocol.

    Attributes:
        width: the number of replicas that join in a hop, None for all.
        surplus: n, how many leave, from the sizes of CR and FTR.
    """

    procedure: ClassVar[Procedure] = KAFKA_6794

    width: int | None = 1
    surplus: Surplus = above_target

    async def advance(self, work: StepsWork, move: Move) -> None:
        while (hop := await self._ready(work, move)) is not None:
            await self._perform(work, move, hop)
            if hop.last:
                return
            move.hop += 1

    def concerns(self, move: Move, brokers: Sequence[int]) -> bool:
        return any(broker in move.waits_for or broker in move.target for broker in brokers)

    def awaits(self, step: str, current: Replicas, target: Replicas, leader: int) -> Awaited | None:
        if step == IN_SYNC:
            return Awaited(current)
        if step != ALIVE:
            return None
        return Awaited(plan_hop(current, target, leader, width=self.width, surplus=self.surplus).target, alive=True)

    async def _ready(self, work: StepsWork, move: Move) -> Hop | None:
        """Steps 1 to 3: the next hop once both waits are over, else None.

        After a wait for brokers the ISR is checked again: it may have shrunk meanwhile.
        """
        current = work.context.replicas(move.tp)
        resumed = move.hop == 1 and not move.waiting
        if not move.waiting:
            await self._wait(work, move, IN_SYNC)
        state = await work.read_state(move.tp)
        if state is None or any(replica not in state.isr for replica in current):
            if resumed and state is not None:
                # The previous controller may have died between steps 5 and 6: without a new leader epoch the leader
                # would never learn of the replica that step 5 has added, and the wait would never end.
                await work.raise_epoch_and_send(move.tp, current, current)
            if move.waiting != IN_SYNC:
                await self._wait(work, move, IN_SYNC)
            return None
        hop = plan_hop(current, move.target, state.leader, width=self.width, surplus=self.surplus)
        if move.waiting == IN_SYNC:
            await self._step(work, move, 1).reach("after")
            async with self._step(work, move, 2):
                move.step_target = hop.target
            await self._wait(work, move, ALIVE)
        move.step_target = hop.target
        move.waits_for = tuple(broker for broker in hop.target if broker not in work.context.live)
        if move.waits_for:
            return None
        await self._step(work, move, 3).reach("after")
        move.waiting = ""
        return hop

    async def _wait(self, work: StepsWork, move: Move, step: str) -> None:
        await work.step(step, move, hop=move.hop).reach("before")
        move.waiting = step

    async def _perform(self, work: StepsWork, move: Move, hop: Hop) -> None:
        """Steps 4 to 13."""
        tp, current = move.tp, work.context.replicas(move.tp)
        wide = (*current, *hop.new)
        async with self._step(work, move, 4):
            added = [r for r in current if work.context.replica_state(tp, r) is ReplicaState.NEW]
            await work.bring_online(tp, added)
        async with self._step(work, move, 5):
            await work.write_assignment(tp, hop.target)
        async with self._step(work, move, 6):
            # Until step 8 the assignment in memory is CR + NR, as in the requests: step 7's has to contain NR.
            work.context.assign(tp, wide)
            move.current = current
            await work.raise_epoch_and_send(tp, wide, wide)
        async with self._step(work, move, 7):
            await work.start_new(tp, hop.new)
        async with self._step(work, move, 8):
            work.context.assign(tp, hop.target)
            move.current = hop.target
        async with self._step(work, move, 9):
            await work.move_leader(move, hop.target)
        async with self._step(work, move, 10):
            await work.go_offline(tp, hop.dropped)
        async with self._step(work, move, 11):
            await work.delete(tp, hop.dropped)
        if hop.last:
            async with self._step(work, move, 12):
                await work.remove_from_admin_znode(tp)
        async with self._step(work, move, 13):
            work.send_update_metadata(tp)

    def _step(self, work: StepsWork, move: Move, number: int) -> Step:
        return work.step(f"kafka-6794.{number}", move, hop=move.hop)
