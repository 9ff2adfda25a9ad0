"""Links that are slow, cut, or cut one after the other, and connections that are reset."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.faults.actions.brokers import BrokerPause, BrokerResume, BrokerStart
from scenarios.faults.actions.intercepted import MessageCut
from scenarios.faults.actions.links import (
    HostFlap,
    HostIsolate,
    HostReconnect,
    LinkCut,
    LinkDelay,
    LinkHeal,
    LinkLimit,
    LinkLoss,
)
from scenarios.faults.actions.networks import NetworkPartition
from scenarios.language.actions import Action, DelaySpec
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import BROKERS_PEER, CLIENTS, ZOOKEEPER_PEER, Target
from scenarios.language.triggers import At, WhenMessage

LATE = 0.3
"""The share of resets just before everything heals."""


@chaos("clogging", "links become slow, one way or both: of two brokers, or to ZooKeeper, the controller, all others")
@frozen(kw_only=True)
class Clogging(Episodes):
    times: Range = field(default=(1, 5), metadata=key(COUNT, "how many links become slow in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        at_us = scope.draft.moment(draws)
        if draws.chance(0.5) or len(scope.brokers) < 2:
            target = strikes.role(scope, draws, scope.partition(draws))
            scope.draft.add(At(at_us), [strikes.clog(scope, draws, target)])
            return
        one, other = draws.some(scope.brokers, 2)
        delay = DelaySpec(latency_us=draws.spread((5 * MS, 5 * SECOND)))
        direction = draws.choice(("both", "to", "from"))
        action = LinkDelay(peer=Target(brokers=(other,)), direction=direction, delay=delay)
        scope.draft.add(At(at_us), [Strike(action, Target(brokers=(one,)), strikes.lasting(draws))])


@chaos("cuts", "links are cut, one way or both, and machines are isolated: from brokers, ZooKeeper, clients, or all")
@frozen(kw_only=True)
class NetworkCuts(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        target = strikes.role(scope, draws, scope.partition(draws))
        way = draws.weighted(((4, "cut"), (2, "pair"), (2, "isolate"), (1, "clients")))
        at = At(scope.draft.moment(draws))
        if way == "pair" and len(scope.brokers) > 1:
            one, other = draws.some(scope.brokers, 2)
            direction = draws.choice(("both", "to", "from"))
            cut = LinkCut(peer=Target(brokers=(other,)), direction=direction)
            scope.draft.add(at, [Strike(cut, Target(brokers=(one,)), strikes.until_healed(draws))])
        elif way == "isolate":
            scope.draft.add(at, [strikes.isolate(scope, draws, target)])
        elif way == "clients" and (scope.draft.scenario.workloads or scope.draft.scenario.consumers):
            cut = LinkCut(peer=Target(role=CLIENTS))
            scope.draft.add(at, [Strike(cut, target, strikes.lasting(draws))])
        else:
            scope.draft.add(at, [strikes.cut(scope, draws, target)])


@chaos("network-partitions", "the brokers are divided into groups that do not reach each other, or not one way")
@frozen(kw_only=True)
class NetworkPartitions(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often it happens in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        groups = draws.weighted(((4, 2), (1, 3)))
        divided = NetworkPartition(
            into=min(groups, len(scope.brokers)), with_zookeeper=draws.chance(0.5), one_way=draws.chance(0.3)
        )
        if len(scope.brokers) > 1:
            strike = Strike(divided, None, strikes.until_healed(draws))
            scope.draft.add(At(scope.draft.moment(draws)), [strike])


@chaos("lossy-links", "links lose packets, or have little bandwidth, as TCP feels it")
@frozen(kw_only=True)
class LossyLinks(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        loss, rate = draws.choice((0.01, 0.1, 0.3)), draws.choice((20_000, 200_000, 2_000_000))
        peer = draws.weighted(((3, BROKERS_PEER), (1, ZOOKEEPER_PEER)))
        action: Action = LinkLoss(peer=peer, loss=loss) if draws.chance(0.6) else LinkLimit(peer=peer, rate=rate)
        target = strikes.role(scope, draws, scope.partition(draws))
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(action, target, strikes.lasting(draws))])


@chaos("resets", "connections over which followers fetch are reset, as by a firewall that forgets them")
@frozen(kw_only=True)
class Resets(Episodes):
    """Connections are reset. No broker dies and no session ends, so that followers have to go on by themselves.

    Some are the last thing that happens. After earlier ones new roles let the fetchers go on anyway.
    """

    turn = 3

    times: Range = field(default=(1, 4), metadata=key(COUNT, "how many connections are reset in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        since_us = scope.draft.moment(draws)
        if draws.sub("late").chance(LATE):
            since_us = scope.draft.faults[1] - SECOND
        fetch = WhenMessage(
            message="Fetch",
            response=draws.chance(0.3),
            edge=draws.choice(("sent", "delivered")),
            source=Target(brokers=(draws.choice(scope.brokers),)),
            occurrence=draws.between((1, 8)),
            since=since_us,
        )
        scope.draft.add(fetch, [Strike(MessageCut())], at_us=since_us)


@chaos("flapping", "a network card goes down and comes up again, again and again")
@frozen(kw_only=True)
class FlappingLinks(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many cards flap in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        down_us, up_us = draws.spread((50 * MS, 8 * SECOND)), draws.spread((50 * MS, 8 * SECOND))
        target = strikes.role(scope, draws, scope.partition(draws))
        flap = Strike(HostFlap(down=down_us, up=up_us), target, draws.spread((SECOND, 30 * SECOND)))
        scope.draft.add(At(scope.draft.moment(draws)), [flap])


@chaos(
    "swizzle", "several brokers are lost one by one, in one order, and come back in another (FoundationDB's swizzling)"
)
@frozen(kw_only=True)
class Swizzle(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often it happens in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        count = draws.between((min(2, len(scope.brokers)), len(scope.brokers)))
        lost = draws.some(scope.brokers, count)
        back = draws.some(lost, count)
        pace = draws.choice(((MS, 200 * MS), (100 * MS, 2 * SECOND), (SECOND, 8 * SECOND)))
        lose, bring_back = self._ways(scope, draws)
        at_us = scope.draft.moment(draws)
        scope.draft.add(At(at_us), _one_by_one(draws, lose, lost, pace))
        at_us += draws.moment((0, 15 * SECOND)) + count * pace[0]
        scope.draft.add(At(min(at_us, scope.draft.faults[1])), _one_by_one(draws, bring_back, back, pace))

    @staticmethod
    def _ways(scope: Scope, draws: Draws) -> tuple[Action, Action]:
        cut = LinkCut(peer=ZOOKEEPER_PEER), LinkHeal(peer=ZOOKEEPER_PEER)
        crash = scope.draft.crash(draws), BrokerStart()
        return draws.choice([crash, crash, (HostIsolate(), HostReconnect()), cut, (BrokerPause(), BrokerResume())])


def _one_by_one(draws: Draws, action: Action, brokers: list[int], pace: Range) -> list[Strike]:
    return [Strike(action, Target(brokers=(broker,)), gap_us=draws.spread(pace)) for broker in brokers]
