"""An admission and an order, as a user would add them: importing the file registers both."""

from collections.abc import Sequence

from emulator.streams import Stream
from scenarios.language.strategies.strategy_parts import PlannedMove, PlanProgress, admission, order


@admission("pairs-N", "N pairs of moves at a time; the next pairs when all of them have ended")
def pairs(progress: PlanProgress, n: int) -> tuple[PlannedMove, ...]:
    return () if progress.in_flight else progress.waiting[: 2 * n]


@order("last-first", "from the end of the plan to its beginning")
def last_first(moves: Sequence[PlannedMove], _: Stream) -> list[PlannedMove]:
    return sorted(moves, key=lambda move: -move.place)
