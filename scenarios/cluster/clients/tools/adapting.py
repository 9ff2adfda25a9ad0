"""A throttle whose rate changes while a plan is carried out, by a rule of the strategy's (``+aimd-10``)."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, evolve, field

from emulator.kernel import World
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.assignments import Assignments, read_assignments
from scenarios.cluster.clients.tools.throttle import limit
from scenarios.language.strategies import Look, PlannedMove, PlanProgress, Throttle


@define(eq=False)
class Adaptation:
    """The throttle of one plan. The rule is asked once before anything is requested, then at every look of the operator
    while the plan is under way; a rate that is not the one in force is set on the plan's brokers.

    Attributes:
        throttle: the throttle with the rate in force.
        metric: the present value of a metric, by its name in scenario files.
    """

    world: World
    throttle: Throttle
    metric: Callable[[str], int]
    moves: tuple[PlannedMove, ...]
    _memory: dict[str, float] = field(factory=dict)

    def begin(self) -> None:
        """Choose the first rate."""
        self._choose(PlanProgress(self.moves), None)

    async def look(self, operator: Operator, progress: PlanProgress) -> None:
        """Choose the next rate, and set it where it is another one."""
        before = self.throttle.rate
        self._choose(progress, before)
        if self.throttle.rate != before:
            targets: Assignments = {move.tp: move.target for move in self.moves}
            existing = await read_assignments(operator.zk, (tp.topic for tp in targets))
            await limit(operator, self.throttle, existing, targets)

    async def look_at_last(self, operator: Operator, under_way: tuple[TopicPartition, ...]) -> None:
        """Likewise, once everything has been requested; ``under_way``: the partitions that are being moved."""
        in_flight = tuple(move for move in self.moves if move.tp in under_way)
        await self.look(operator, PlanProgress((), in_flight, len(self.moves) - len(in_flight)))

    def _choose(self, progress: PlanProgress, rate: int | None) -> None:
        rule = self.throttle.rule
        assert rule is not None
        look = Look(self.world.now / 1_000_000, progress, rate, self._memory, self.metric)
        self.throttle = evolve(self.throttle, rate=rule.choose(look))
