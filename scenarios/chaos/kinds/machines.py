"""Machines that are slow, or whose clocks are wrong; clients that die."""

from __future__ import annotations

from attrs import frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.machines import BrokerClock, BrokerSlow
from scenarios.faults.actions.programs import ClientCrash
from scenarios.language.chaos import chaos
from scenarios.language.targets import Target
from scenarios.language.triggers import At


@chaos("clock-skew", "the clocks of machines are wrong, are set, or drift")
@frozen(kw_only=True)
class ClockSkew(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        sign = draws.choice((-1, 1))
        amount_us = sign * draws.spread((MS, 3600 * SECOND))
        drift = draws.choice((0.0001, 0.01, 0.5, -0.5))
        clock = draws.weighted(
            (
                (2, BrokerClock(offset_us=amount_us)),
                (2, BrokerClock(step_us=amount_us)),
                (1, BrokerClock(drift=drift)),
            )
        )
        target = strikes.role(scope, draws, scope.partition(draws))
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(clock, target, strikes.until_healed(draws, 0.5))])


@chaos("slow-brokers", "the machine of a broker has little CPU time left")
@frozen(kw_only=True)
class SlowBrokers(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        slow = BrokerSlow(cpu=draws.choice((0.02, 0.1, 0.3)))
        target = strikes.role(scope, draws, scope.partition(draws))
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(slow, target, strikes.lasting(draws))])


@chaos("client-crashes", "producers and consumers are killed, and start again")
@frozen(kw_only=True)
class ClientCrashes(Episodes):
    turn = 3

    def episode(self, scope: Scope, draws: Draws) -> None:
        if scope.draft.scenario.workloads or scope.draft.scenario.consumers:
            crash = Strike(ClientCrash(), Target(role="any client"), strikes.until_healed(draws))
            scope.draft.add(At(scope.draft.moment(draws)), [crash])
