"""Batches that end before the next begins: kafka-tools, topicctl, KIP-1335's batches."""

from scenarios.language.strategies.registry import PlannedMove, Progress, admission


@admission("serial", "one move at a time")
def serial(progress: Progress) -> tuple[PlannedMove, ...]:
    return waves(progress, 1)


@admission("waves-N", "N moves at a time; the next N when all of them have ended")
def waves(progress: Progress, n: int) -> tuple[PlannedMove, ...]:
    return () if progress.in_flight else progress.waiting[:n]
