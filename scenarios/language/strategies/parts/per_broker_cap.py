"""A bound for each broker, as Cruise Control's num.concurrent.partition.movements.per.broker."""

from collections import Counter

from scenarios.language.strategies.strategy_parts import PlannedMove, PlanProgress, admission


@admission("per-broker-cap-N", "at most N moves under way that add a replica to, or remove one from, any one broker")
def per_broker_cap(progress: PlanProgress, n: int) -> list[PlannedMove]:
    """The moves whose brokers have room. A move that has to wait for a broker does not hold up those after it."""
    busy = Counter(broker for move in progress.in_flight for broker in (*move.added, *move.removed))
    admitted = []
    for move in progress.waiting:
        brokers = (*move.added, *move.removed)
        if all(busy[broker] < n for broker in brokers):
            busy.update(brokers)
            admitted.append(move)
    return admitted
