"""Brokers that die, hang, lose their sessions, and come back."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.brokers import BrokerCrash, BrokerPause, ZkExpire
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.kinds import DURATION
from scenarios.language.schema.spans import Range, RangeOf
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.triggers import At

DURATIONS = RangeOf(DURATION)


@chaos("attrition", "brokers crash, with their machine or without, stop or shut down, and start again")
@frozen(kw_only=True)
class Attrition(Episodes):
    times: Range = field(default=(1, 4), metadata=key(COUNT, "how many brokers die in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        target = strikes.role(scope, draws, scope.partition(draws))
        kind = draws.weighted(((6, strikes.crash), (1, strikes.stop), (2, strikes.shut_down)))
        scope.draft.add(At(scope.draft.moment(draws)), [kind(scope, draws, target)])


@chaos("bounces", "a broker restarts several times in a row, sooner than the controller notices")
@frozen(kw_only=True)
class Bounces(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many such series there are in a run"))
    restarts: Range = field(default=(1, 4), metadata=key(COUNT, "how many restarts a series has"))
    down: Range = field(default=(1 * MS, 500 * MS), metadata=key(DURATIONS, "how long the broker is down in each"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        ids = [broker for broker in scope.draft.replicas(partition) if broker in scope.brokers] or scope.brokers
        target = Target(brokers=(draws.choice(ids),))
        crash = scope.draft.crash(draws)
        series = []
        for _ in range(draws.between(self.restarts)):
            down_us = max(MS, draws.spread(self.down))
            series.append(
                Strike(crash, target, down_us, down_us + draws.spread((5 * MS, 3 * SECOND)))
            )  # fmt: skip
        if series:
            scope.draft.add(At(scope.draft.moment(draws)), series)


@chaos("unnoticed-returns", "a broker loses its session and registers again while the controller pauses")
@frozen(kw_only=True)
class UnnoticedReturns(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often it happens in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        """Less than the shortest session: the controller stays what it is, and finds the broker with another epoch."""
        pause = Strike(BrokerPause(), Target(role="controller"), draws.spread((SECOND, 3 * SECOND)))
        expire = Strike(
            ZkExpire(), strikes.role(scope, draws, scope.partition(draws)), gap_us=draws.spread((MS, 500 * MS))
        )
        scope.draft.add(At(scope.draft.moment(draws)), [pause, expire])


@chaos("host-loss", "machines lose power: several at once, or those of a rack, with all that was not flushed")
@frozen(kw_only=True)
class HostLoss(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often power is lost in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        at_us = scope.draft.moment(draws)
        for broker in self._lost(scope, draws):
            crash = BrokerCrash(kind="host")
            scope.draft.add(At(at_us), [Strike(crash, Target(brokers=(broker,)), strikes.until_healed(draws))])

    def _lost(self, scope: Scope, draws: Draws) -> list[int]:
        racks = scope.draft.scenario.cluster.racks
        replicas = scope.draft.replicas(scope.partition(draws))
        rack = draws.between((0, racks - 1))
        in_rack = [broker for broker in scope.brokers if broker % racks == rack]
        whole = racks > 1 and bool(in_rack)
        way = draws.weighted(((3, "replicas"), (2, "rack" if whole else "replicas"), (1, "some")))
        if way == "rack":
            return in_rack
        if way == "replicas":
            return draws.some([broker for broker in replicas if broker in scope.brokers], len(replicas))
        return draws.some(scope.brokers, draws.between((1, len(scope.brokers))))


@chaos("pauses", "brokers stop for a while, as in a long garbage collection, and go on as if nothing had been")
@frozen(kw_only=True)
class Pauses(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        target = strikes.role(scope, draws, scope.partition(draws))
        scope.draft.add(At(scope.draft.moment(draws)), [strikes.pause(scope, draws, target)])


@chaos("session-storms", "ZooKeeper sessions expire, one after the other or the same one again")
@frozen(kw_only=True)
class SessionStorms(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many storms there are in a run"))
    sessions: Range = field(default=(1, 4), metadata=key(COUNT, "how many sessions expire in one"))
    turn = 2

    def episode(self, scope: Scope, draws: Draws) -> None:
        one = strikes.role(scope, draws, scope.partition(draws))
        same = draws.chance(0.4)
        series = []
        for _ in range(draws.between(self.sessions)):
            target = one if same else Target(brokers=(draws.choice(scope.brokers),))
            series.append(Strike(ZkExpire(), target, gap_us=draws.spread((MS, 4 * SECOND))))
        if series:
            scope.draft.add(At(scope.draft.moment(draws)), series)
