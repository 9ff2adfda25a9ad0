"""Everything at once, as kafka-reassign-partitions.sh does: the default."""

from scenarios.language.strategies.registry import PlannedMove, Progress, admission


@admission("whole-plan", "every move at once, in one request (the default)")
def whole_plan(progress: Progress) -> tuple[PlannedMove, ...]:
    return progress.waiting
