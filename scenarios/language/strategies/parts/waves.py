"""Batches that end before the next begins: kafka-tools, topicctl, KIP-1335's batches."""

from scenarios.language.strategies.strategy_parts import PlannedMove, PlanProgress, admission


@admission("serial", "one move at a time")
def serial(progress: PlanProgress) -> tuple[PlannedMove, ...]:
    return waves(progress, 1)


@admission("waves-N", "N moves at a time; the next N when all of them have ended")
def waves(progress: PlanProgress, n: int) -> tuple[PlannedMove, ...]:
    return () if progress.in_flight else progress.waiting[:n]
