"""Carries a plan out in parts, as Cruise Control, kafka-kit and KIP-1335 do: which moves to request next, and when."""

from collections.abc import Collection, Sequence

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveAnswered, MovePlanned
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import reassign
from scenarios.cluster.clients.tools.adapting import Adaptation
from scenarios.cluster.clients.tools.command_outcome import CommandOutcome
from scenarios.language.strategies import Execution, PlannedMove, PlanProgress, Throttle

ZK = "zk"


@define(eq=False)
class Executor:
    """The execution of one plan.

    Through ZooKeeper there is one batch at a time: the next one when all of it has ended. A batch that the tool refuses
    is requested again move by move, so that one bad move does not delay the others.

    Attributes:
        execution: the operator's half of the strategy.
        via: how moves reach the controller: ``zk`` or ``api``.
        progress: the moves that wait, in order, and those in progress when the operator last checked.
        throttle: the throttle that is set before each batch.
        adaptation: the rule that changes the throttle; None: it stays.
    """

    execution: Execution
    via: str
    progress: PlanProgress
    throttle: Throttle | None = None
    adaptation: Adaptation | None = None
    _refused: list[tuple[str, Errors]] = field(factory=list)
    _one_by_one: int = 0

    @classmethod
    def of(
        cls, execution: Execution, via: str, moves: Sequence[PlannedMove], throttle: Throttle | None = None,
        adaptation: Adaptation | None = None,
    ) -> "Executor":  # fmt: skip
        """The execution of ``moves``, which are given in the order in which they wait."""
        return cls(execution, via, PlanProgress(tuple(moves)), throttle, adaptation)

    def would_ask(self, under_way: Collection[TopicPartition]) -> bool:
        """Whether it will request more moves at its next check, if these partitions are being moved then."""
        return bool(self._next(self._seen(under_way), under_way))

    async def carry_out(self, operator: Operator) -> CommandOutcome:
        """Request all moves, check by check. Returns those that were refused, when none waits any more."""
        for move in self.progress.waiting:
            operator.process.anchor(MovePlanned, move.tp.topic, move.tp.partition, move.target)
        while True:
            under_way = await reassign.in_progress(operator, self.via)
            if under_way is not None:
                self.progress = self._seen(under_way)
                if self.adaptation is not None and self.progress.in_flight:
                    await self.adaptation.look(operator, self.progress)
                    self.throttle = self.adaptation.throttle
                batch = self._next(self.progress, under_way)
                if batch:
                    outcome = await reassign.execute(operator, _targets(batch), self.via, self.throttle)
                    self._answered(operator, batch, outcome)
            if not self.progress.waiting:
                return CommandOutcome(tuple(self._refused))
            await operator.process.world.sleep(self.execution.poll_us, background=True)

    def _seen(self, under_way: Collection[TopicPartition]) -> PlanProgress:
        before = self.progress
        in_flight = tuple(move for move in before.in_flight if move.tp in under_way)
        return PlanProgress(before.waiting, in_flight, before.ended + len(before.in_flight) - len(in_flight))

    def _next(self, progress: PlanProgress, under_way: Collection[TopicPartition]) -> tuple[PlannedMove, ...]:
        if not progress.waiting or (self.via == ZK and under_way):
            return ()
        admitted = self.execution.admission.admit(progress)
        return admitted[:1] if self._one_by_one else admitted

    def _answered(self, operator: Operator, batch: Sequence[PlannedMove], outcome: CommandOutcome) -> None:
        """Note the outcome of a batch. Through ZooKeeper all of it is accepted, or nothing."""
        errors = dict(outcome.errors)
        if self.via == ZK and errors:
            if Errors.REASSIGNMENT_IN_PROGRESS in errors.values():
                return  # another reassignment was faster: wait for its end
            if len(batch) > 1:
                self._one_by_one = len(batch)
                return
            operator.process.anchor(MoveAnswered, *batch[0].tp, next(iter(errors.values())).name)
        self._one_by_one = max(0, self._one_by_one - 1)
        self._refused += errors.items()
        gone = batch if self.via == ZK and errors else [m for m in batch if _turned_down(errors.get(str(m.tp)))]
        progress = self.progress
        self.progress = PlanProgress(
            tuple(move for move in progress.waiting if move not in batch),
            (*progress.in_flight, *(move for move in batch if move not in gone)),
            progress.ended + len(gone),
        )


async def carry_out(operator: Operator, executor: Executor) -> CommandOutcome:
    """Run ``executor`` as a command of the operator."""
    return await executor.carry_out(operator)


def _targets(batch: Sequence[PlannedMove]) -> dict[TopicPartition, tuple[int, ...]]:
    return {move.tp: move.target for move in batch}


def _turned_down(error: Errors | None) -> bool:
    """Whether a move was refused. Without a response in time it may have been accepted."""
    return error not in (None, Errors.REQUEST_TIMED_OUT)
