"""Replication throttles, and replicas that fall behind under them."""

from __future__ import annotations

from attrs import evolve, field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.operator_work import OperatorMoves
from scenarios.cluster.clients.tools.throttle import LISTS, RATES, REASSIGNMENT_RATES
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.reassignments import ReassignExecute
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import split_partition
from scenarios.language.triggers import At

EVERYWHERE = Target(mode="all")
LOW = ((4, 200), (2, 1_000), (1, 5_000), (1, 50_000))
"""Bytes a second, and how often: about what the loads of a default run write to a broker, and mostly so much less that
what a crash of some seconds leaves to fetch exceeds a window of eleven seconds."""


@chaos("throttles", "replication is throttled, on one side or on both, and replicas that are behind have to catch up")
@frozen(kw_only=True)
class ReplicationThrottles(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often in a run"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Often with fetches that bring little: else a replica catches up with the one answer that exceeds a quota."""
        draft.throttles = True
        if (fetches := draws.sub("fetches")).chance(0.8):
            cluster = draft.scenario.cluster
            config = {
                "replica.fetch.max.bytes": fetches.weighted(((3, 1_000), (1, 4_000), (1, 20_000))),
                **cluster.config,
            }
            draft.change(cluster=evolve(cluster, config=config))
        super().draw(draft, draws)

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, partition = scope.draft, scope.partition(draws)
        sides = draws.weighted(((2, (0, 1)), (1, (0,)), (1, (1,))))
        only_added = OperatorMoves.has_api(scope) and draws.chance(0.5)  # KIP-542: only the replicas that a move adds
        rates = tuple((REASSIGNMENT_RATES if only_added else RATES)[side] for side in sides)
        rate = ConfigSet(config=dict.fromkeys(rates, draws.weighted(LOW)), brokers=EVERYWHERE)
        series = [Strike(rate)]
        if not only_added:
            lists = ConfigSet(config={LISTS[side]: "*" for side in sides}, topic=split_partition(partition)[0])
            series.append(Strike(lists, gap_us=draws.spread((MS, 200 * MS))))
        if only_added or draws.chance(0.4):
            series += self._move(scope, draws.sub("move"))
        if draws.chance(0.7):
            behind = strikes.role(scope, draws, partition)
            gap_us = draws.spread((10 * MS, 2 * SECOND))
            series.append(strikes.short_crash(scope, draws, behind)._replace(gap_us=gap_us))
        if draws.chance(0.5):
            lifted = ConfigSet(remove=rates, brokers=EVERYWHERE)
            series.append(Strike(lifted, gap_us=draws.spread((4 * SECOND, 25 * SECOND))))
        draft.add(At(draft.moment(draws)), series)

    @staticmethod
    def _move(scope: Scope, draws: Draws) -> list[Strike]:
        """Some partitions are moved, as one of the brokers that get them is back, or just before it restarts: so it has
        more to fetch than what is moved."""
        plan = OperatorMoves().plan(scope, draws)
        if plan is None:
            return []
        move, first = ReassignExecute(plan=plan), plan.partitions[0]
        before = scope.draft.before(f"{first.topic}-{first.partition}")
        new = [broker for broker in first.replicas if broker not in before] or first.replicas
        crash = strikes.short_crash(scope, draws, Target(brokers=(draws.choice(new),)))
        soon_us = draws.spread((10 * MS, SECOND))
        return draws.weighted(
            (
                (2, [Strike(move, gap_us=soon_us)]),
                (3, [crash._replace(gap_us=soon_us), Strike(move, gap_us=(crash.duration_us or 0) + soon_us)]),
                (2, [Strike(move, gap_us=soon_us), crash._replace(gap_us=soon_us)]),
            )
        )
