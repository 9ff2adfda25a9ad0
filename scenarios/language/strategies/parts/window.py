"""A bound on the moves in progress: the next move begins as one ends (KIP-1335, incremental)."""

from scenarios.language.strategies.strategy_parts import PlannedMove, PlanProgress, admission


@admission("window-N", "at most N moves under way; another as one ends")
def window(progress: PlanProgress, n: int) -> tuple[PlannedMove, ...]:
    return progress.waiting[: max(0, n - len(progress.in_flight))]
