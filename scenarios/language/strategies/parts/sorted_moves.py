"""Orders by a property of each move. Equal moves keep the plan's order."""

from collections.abc import Sequence

from emulator.streams import Stream
from scenarios.language.strategies.strategy_parts import PlannedMove, order

Moves = Sequence[PlannedMove]


@order("plan", "as the plan lists them (the default)")
def plan(moves: Moves, _: Stream) -> list[PlannedMove]:
    return sorted(moves, key=lambda move: move.place)


@order("topic-partition", "by topic, then by partition")
def topic_partition(moves: Moves, _: Stream) -> list[PlannedMove]:
    return sorted(plan(moves, _), key=lambda move: move.tp)


@order("smallest-first", "those with the fewest bytes to copy first")
def smallest_first(moves: Moves, _: Stream) -> list[PlannedMove]:
    return sorted(plan(moves, _), key=lambda move: move.bytes)


@order("largest-first", "those with the most bytes to copy first")
def largest_first(moves: Moves, _: Stream) -> list[PlannedMove]:
    return sorted(plan(moves, _), key=lambda move: -move.bytes)


@order("leader-last", "moves whose leader has to move last, as kafka-kit's phased reassignment does")
def leader_last(moves: Moves, _: Stream) -> list[PlannedMove]:
    return sorted(plan(moves, _), key=lambda move: move.leader_moves)
