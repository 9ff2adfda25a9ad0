"""Brokers that are away for long, and what is asked for meanwhile: it concerns them and does not need them."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.brokers import BrokerControlledShutdown, BrokerCrash
from scenarios.faults.actions.reassignments import ReassignExecute
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.plan import Move, Plan
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import split_partition
from scenarios.language.triggers import At

KNOWN = (8 * SECOND, 16 * SECOND)
"""A time after which the controller has missed a broker, and its replicas have left their ISRs."""
AWAY = (25 * SECOND, 60 * SECOND)


@chaos(
    "moves-from-the-dead", "a partition is moved while one of its brokers is down for long, which may stay its replica"
)
@frozen(kw_only=True)
class MovesFromTheDead(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        """Draw a move that adds live brokers alone. It is over once these have caught up, or the broker is back."""
        draft, name = scope.draft, scope.partition(draws)
        here = draft.replicas(name)
        free = [broker for broker in scope.brokers if broker not in here]
        if draft.heals_core or not free or len(here) < 2:
            return
        dead = draws.choice(here)
        live = [broker for broker in here if broker != dead]
        kept = draws.some(live, draws.between((1, len(live))))
        stays = (dead,) if draws.sub("stays").chance(0.6) else ()
        replicas = (*kept, *draws.some(free, 1), *stays)
        draft.moved(name, replicas)
        topic, number = split_partition(name)
        move = ReassignExecute(plan=Plan(partitions=[Move(topic=topic, partition=number, replicas=replicas)]))
        down = Strike(BrokerCrash(kind="process"), Target(brokers=(dead,)), draws.spread(AWAY))
        draft.add(At(draft.moment(draws)), [down, Strike(move, gap_us=draws.spread(KNOWN))])


@chaos("last-in-sync", "a leader that is alone in the ISR shuts down, and the other replicas come back meanwhile")
@frozen(kw_only=True)
class LastInSync(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, name = scope.draft, scope.partition(draws)
        here = draft.replicas(name)
        if len(here) < 2:
            return
        stays, *others = draws.some(here, len(here))
        alone_us = draws.spread(KNOWN)
        series = []
        for number, broker in enumerate(others):
            back_us = alone_us + draws.sub(number).spread((100 * MS, 12 * SECOND))
            series.append(
                Strike(BrokerCrash(kind="process"), Target(brokers=(broker,)), back_us, 0 if not number else MS)
            )
        shut_down = Strike(BrokerControlledShutdown(), Target(brokers=(stays,)), strikes.until_healed(draws), alone_us)
        draft.add(At(draft.moment(draws)), [*series, shut_down])
