"""Everything at once, as kafka-reassign-partitions.sh does: the default."""

from scenarios.language.strategies.strategy_parts import PlannedMove, PlanProgress, admission


@admission("whole-plan", "every move at once, in one request (the default)")
def whole_plan(progress: PlanProgress) -> tuple[PlannedMove, ...]:
    return progress.waiting
