"""Carries a plan out bit by bit, as Cruise Control, kafka-kit and KIP-1335 do: what to ask for, and when to look."""

from collections.abc import Collection, Sequence

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveAnswered, MovePlanned
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import reassign
from scenarios.cluster.clients.tools.outcome import Outcome
from scenarios.language.strategies import Execution, PlannedMove, Progress, Throttle

ZK = "zk"


@define(eq=False)
class Executor:
    """One plan under way.

    What ZooKeeper takes, it takes one batch at a time: the next one when all of it has ended. A batch that the tool
    refuses is handed in again move by move, so that one bad move does not hold up the others.

    Attributes:
        execution: the operator's half of the strategy.
        via: how moves reach the controller: ``zk`` or ``api``.
        progress: what waits, in its order, and what is under way as far as the operator has seen.
        throttle: what is set before each batch.
    """

    execution: Execution
    via: str
    progress: Progress
    throttle: Throttle | None = None
    _refused: list[tuple[str, Errors]] = field(factory=list)
    _one_by_one: int = 0

    @classmethod
    def of(
        cls, execution: Execution, via: str, moves: Sequence[PlannedMove], throttle: Throttle | None = None
    ) -> "Executor":
        """One for ``moves``, which stand in the order in which they are to wait."""
        return cls(execution, via, Progress(tuple(moves)), throttle)

    def would_ask(self, under_way: Collection[TopicPartition]) -> bool:
        """Whether it will ask for more at its next look, if then these partitions' moves are what is under way."""
        return bool(self._next(self._seen(under_way), under_way))

    async def carry_out(self, operator: Operator) -> Outcome:
        """Ask for everything, look by look. Returns what was refused, when nothing waits any more."""
        for move in self.progress.waiting:
            operator.process.anchor(MovePlanned, move.tp.topic, move.tp.partition, move.target)
        while True:
            under_way = await reassign.in_progress(operator, self.via)
            if under_way is not None:
                self.progress = self._seen(under_way)
                batch = self._next(self.progress, under_way)
                if batch:
                    outcome = await reassign.execute(operator, _targets(batch), self.via, self.throttle)
                    self._answered(operator, batch, outcome)
            if not self.progress.waiting:
                return Outcome(tuple(self._refused))
            await operator.process.world.sleep(self.execution.poll_us, background=True)

    def _seen(self, under_way: Collection[TopicPartition]) -> Progress:
        before = self.progress
        in_flight = tuple(move for move in before.in_flight if move.tp in under_way)
        return Progress(before.waiting, in_flight, before.ended + len(before.in_flight) - len(in_flight))

    def _next(self, progress: Progress, under_way: Collection[TopicPartition]) -> tuple[PlannedMove, ...]:
        if not progress.waiting or (self.via == ZK and under_way):
            return ()
        admitted = self.execution.admission.admit(progress)
        return admitted[:1] if self._one_by_one else admitted

    def _answered(self, operator: Operator, batch: Sequence[PlannedMove], outcome: Outcome) -> None:
        """The batch was handed in. By way of ZooKeeper all of it is taken, or nothing."""
        errors = dict(outcome.errors)
        if self.via == ZK and errors:
            if Errors.REASSIGNMENT_IN_PROGRESS in errors.values():
                return  # somebody was faster: wait for him
            if len(batch) > 1:
                self._one_by_one = len(batch)
                return
            operator.process.anchor(MoveAnswered, *batch[0].tp, next(iter(errors.values())).name)
        self._one_by_one = max(0, self._one_by_one - 1)
        self._refused += errors.items()
        gone = batch if self.via == ZK and errors else [m for m in batch if _turned_down(errors.get(str(m.tp)))]
        progress = self.progress
        self.progress = Progress(
            tuple(move for move in progress.waiting if move not in batch),
            (*progress.in_flight, *(move for move in batch if move not in gone)),
            progress.ended + len(gone),
        )


async def carry_out(operator: Operator, executor: Executor) -> Outcome:
    """The command."""
    return await executor.carry_out(operator)


def _targets(batch: Sequence[PlannedMove]) -> dict[TopicPartition, tuple[int, ...]]:
    return {move.tp: move.target for move in batch}


def _turned_down(error: Errors | None) -> bool:
    """Without an answer in time a request may have been granted."""
    return error not in (None, Errors.REQUEST_TIMED_OUT)
