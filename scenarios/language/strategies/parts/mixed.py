"""Orders that spread moves."""

from collections import Counter
from collections.abc import Sequence

from emulator.streams import Stream
from scenarios.language.strategies.strategy_parts import PlannedMove, order


@order("round-robin-by-broker", "one from each leading broker in turn, so that no single broker sends everything")
def round_robin_by_broker(moves: Sequence[PlannedMove], _: Stream) -> list[PlannedMove]:
    turns: Counter[int] = Counter()
    keys = {}
    for move in sorted(moves, key=lambda move: move.place):
        leader = move.before[0] if move.before else -1
        keys[move.place] = turns[leader], leader
        turns[leader] += 1
    return sorted(moves, key=lambda move: keys[move.place])


@order("random", "shuffled, the same for every run with the same seed")
def random(moves: Sequence[PlannedMove], stream: Stream) -> list[PlannedMove]:
    shuffled = sorted(moves, key=lambda move: move.place)
    for last in range(len(shuffled) - 1, 0, -1):
        other = stream.below(last + 1)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled
