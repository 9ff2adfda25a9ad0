"""An act is held up while the cluster changes around it: what it was about is no longer as it was when it goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.halfway import HALFWAY, MOMENTS, Halfway
from scenarios.chaos.kinds.histories import deed, gives_way, move
from scenarios.faults.actions.brokers import ZkExpire
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.intercepted import MessageHold
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At, WhenMessage

HELD = ((3, (20 * MS, 500 * MS)), (3, (500 * MS, 5 * SECOND)), (1, (5 * SECOND, 12 * SECOND)))
"""How long an act is held up."""
Change = Callable[[Scope, Draws, str], list[Strike]]


def _fetches(scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    """A follower's fetch is on its way, or its answer."""
    follower = Target(brokers=(draws.choice(scope.draft.replicas(scope.partition(draws))),))
    edge = draws.choice(("sent", "delivered", "answered"))
    return WhenMessage(message="Fetch", edge=edge, source=follower, occurrence=nth, since=since_us), follower


def _produces(scope: Scope, draws: Draws, nth: int, since_us: int) -> Halfway:
    leader = Target(role=f"leader({scope.partition(draws)})")
    edge = draws.choice(("sent", "delivered"))
    return WhenMessage(message="Produce", edge=edge, target=leader, occurrence=nth, since=since_us), leader


ACTS = (*MOMENTS, (3, _fetches), (1, _produces))


def _elects(_scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    return [Strike(ElectionPreferred(partitions=draws.choice((None, (partition,)))))]


def _restarts(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    one = draws.choice((Target(role=f"leader({partition})"), Target(role=f"any isr({partition})-leader")))
    return [strikes.short_crash(scope, draws, one)]


def _expires(_scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    return [Strike(ZkExpire(), draws.choice((Target(role=f"leader({partition})"), Target(role="controller"))))]


def _falls_behind(scope: Scope, draws: Draws, partition: str) -> list[Strike]:
    return [strikes.pause(scope, draws, Target(role=f"any isr({partition})-leader"))]


CHANGES: Sequence[tuple[int, Change]] = (
    (4, _elects), (4, _restarts), (2, _expires), (2, _falls_behind),
    (3, lambda scope, draws, _partition: move(scope, draws)),
    (3, lambda scope, draws, _partition: [gives_way(scope, draws)]),
    (3, lambda scope, draws, _partition: deed(scope, draws)),
)  # fmt: skip


@chaos(
    "held-up",
    "an act under way, such as a change of an ISR, a fetch or a control request, is held up while things change",
)
@frozen(kw_only=True)
class HeldUp(Episodes):
    turn = 3

    times: Range = field(default=(1, 4), metadata=key(COUNT, "how many acts are held up in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, partition = scope.draft, scope.partition(draws)
        since_us, held_us = draft.moment(draws), draws.spread(draws.weighted(HELD))
        if draws.sub("provoked").chance(0.6):
            own = draws.sub("provoked/by")
            draft.add(At(since_us), own.weighted(CHANGES)(scope, own, partition))
        nth = draws.between(draws.weighted(HALFWAY))
        when, _ = draws.weighted(ACTS)(scope, draws.sub("moment"), nth, since_us)
        series = [Strike(MessageHold(), None, held_us)]
        left_us = held_us
        for number in range(draws.between((1, 2))):
            own = draws.sub(number)
            first, *rest = own.weighted(CHANGES)(scope, own, partition) or _elects(scope, own, partition)
            gap_us = own.spread((MS, max(2 * MS, left_us)))
            left_us = max(2 * MS, left_us - gap_us)
            series += [first._replace(gap_us=gap_us), *rest]
        draft.add(when, series, at_us=since_us)
