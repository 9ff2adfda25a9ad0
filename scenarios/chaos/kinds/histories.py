"""Histories: the same again, and there and back. A controller, a setting, a topic's name, a replica or a leader is what
it was before, with something done in between; a request comes twice.

State that should have ended with its term shows only where the same comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.hunting import CONTROLLER
from scenarios.chaos.kinds.operator_work import OF_ALL_BROKERS, OperatorMoves, load_on_passing
from scenarios.faults.actions.brokers import BrokerControlledShutdown, BrokerCrash, BrokerPause, ZkExpire
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.links import LinkDelay
from scenarios.faults.actions.reassignments import ReassignExecute
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete, TopicExpand
from scenarios.faults.actions.zookeeper import ControllerResign
from scenarios.language.actions import DelaySpec
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.plan import Move, Plan
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import ZOOKEEPER_PEER, Target
from scenarios.language.topic_spec import TopicSpec, split_partition
from scenarios.language.triggers import At
from scenarios.profiles import PROFILES

HELD_BACK_US = 500 * MS
"""The time by which all other brokers learn later that there is no controller: it is less than the shortest session."""
BETWEEN = ((2, (20 * MS, 300 * MS)), (3, (300 * MS, 4 * SECOND)), (2, (4 * SECOND, 12 * SECOND)))
"""The time between two steps of a history: within a failover, within a session, after one has ended."""
FETCHERS = "num.replica.fetchers"

Deed = Callable[[Scope, Draws], list[Strike]]


def gap(draws: Draws) -> int:
    """The time between two steps of a history."""
    return draws.spread(draws.weighted(BETWEEN))


def gives_way(scope: Scope, draws: Draws) -> Strike:
    """The controller's end: by hand, by its session, or by a restart that is short or long."""
    resign, expire = Strike(ControllerResign()), Strike(ZkExpire(), CONTROLLER)
    return draws.weighted(((3, resign), (3, expire), (2, strikes.short_crash(scope, draws, CONTROLLER))))


def takes_over(scope: Scope, broker: int) -> list[Strike]:
    """A change of the controller that ``broker`` wins: the others hear later of it."""
    others = tuple(other for other in scope.draft.scenario.cluster.ids if other != broker)
    late = LinkDelay(peer=(ZOOKEEPER_PEER,), direction="from", delay=DelaySpec(latency_us=HELD_BACK_US))
    held = Strike(late, Target(brokers=others), 2 * HELD_BACK_US)
    return [held, Strike(ControllerResign(), gap_us=MS)]


# -- what is done in between ------------------------------------------------------------------------------------------


def _election(scope: Scope, _draws: Draws) -> list[Strike]:
    return [Strike(ElectionPreferred())]


def _restart(scope: Scope, draws: Draws) -> list[Strike]:
    return [strikes.short_crash(scope, draws, strikes.role(scope, draws, scope.partition(draws)))]


def _absence(scope: Scope, draws: Draws) -> list[Strike]:
    """A broker is away for longer than a session, and is missed."""
    broker = Target(brokers=(draws.choice(scope.brokers),))
    return [Strike(scope.draft.crash(draws), broker, draws.spread((7 * SECOND, 20 * SECOND)))]


def move(scope: Scope, draws: Draws) -> list[Strike]:
    plan = OperatorMoves().plan(scope, draws)
    return [Strike(ReassignExecute(plan=plan))] if plan is not None else []


def _setting(scope: Scope, draws: Draws) -> list[Strike]:
    topic = draws.choice(scope.topics)
    return [Strike(ConfigSet(config={"min.insync.replicas": draws.between((1, 2))}, topic=topic.name))]


def passing(scope: Scope, draws: Draws) -> list[Strike]:
    """A topic is made, may get partitions, and is deleted again."""
    topic = new_topic(scope, draws)
    series = [Strike(TopicCreate(topic=topic))]
    if draws.chance(0.4):
        more = topic.partitions + draws.between((1, 2))
        series.append(Strike(TopicExpand(topic=topic.name, partitions=more), gap_us=gap(draws)))
    return [*series, Strike(TopicDelete(topic=topic.name), gap_us=gap(draws))] if deletes_topics(scope) else series


DEEDS: Sequence[tuple[int, Deed]] = (
    (3, _absence), (2, _restart), (2, move), (2, passing), (1, _election), (1, _setting)
)  # fmt: skip


def deed(scope: Scope, draws: Draws) -> list[Strike]:
    """Something that the controller has to deal with."""
    return draws.weighted(DEEDS)(scope, draws)


def deletes_topics(scope: Scope) -> bool:
    return PROFILES[scope.draft.scenario.profile].policies.deletes_topics


def new_topic(scope: Scope, draws: Draws, name: str = "") -> TopicSpec:
    """A topic that the method makes; ``name``: of one that was there before."""
    draft = scope.draft
    if not name:
        name = f"passing-again-{len(draft.made_again)}"
        draft.made_again.append(name)
    replicas = draws.between((1, min(3, len(scope.brokers))))
    assignment = [draws.some(scope.brokers, replicas) for _ in range(draws.between((1, 3)))]
    return TopicSpec(name=name, assignment=assignment)


# -- kinds ------------------------------------------------------------------------------------------------------------


@chaos("controllers-again", "a broker is controller, another one, then the first again, and each has work to do")
@frozen(kw_only=True)
class ControllersAgain(Episodes):
    turn = 3

    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many such series there are in a run"))
    terms: Range = field(default=(3, 4), metadata=key(COUNT, "how many terms a series has"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        pair = draws.some(scope.brokers, 2)
        series: list[Strike] = []
        for term in range(draws.between(self.terms)):
            own = draws.sub(term)
            first, *rest = takes_over(scope, pair[term % len(pair)])
            series += [first._replace(gap_us=gap(own.sub("before"))), *rest]
            if own.chance(0.75):
                first, *rest = deed(scope, own.sub("deed")) or [Strike(ElectionPreferred())]
                series += [first._replace(gap_us=own.spread((20 * MS, 3 * SECOND))), *rest]
        if series:
            scope.draft.add(At(scope.draft.moment(draws)), series)


@chaos("names-again", "a topic is deleted and another one made under its name, soon or late, also while written to")
@frozen(kw_only=True)
class NamesAgain(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many names are used again in a run"))
    lives: Range = field(default=(2, 3), metadata=key(COUNT, "how many topics have the name, one after the other"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        if not deletes_topics(scope):
            return
        draft, at_us = scope.draft, scope.draft.moment(draws)
        topic, series = new_topic(scope, draws), list[Strike]()
        if draws.sub("load").chance(0.6):
            load_on_passing(draft, draws.sub("load/how"), topic, at_us)
        for life in range(draws.between(self.lives)):
            own = draws.sub(life)
            if life:
                series.append(Strike(TopicDelete(topic=topic.name), gap_us=gap(own)))
                if own.chance(0.4):
                    series.append(self._meanwhile(scope, own)._replace(gap_us=own.spread((MS, SECOND))))
                topic = topic if own.chance(0.4) else new_topic(scope, own.sub("topic"), topic.name)
            series.append(Strike(TopicCreate(topic=topic), gap_us=own.sub("again").spread((5 * MS, 8 * SECOND))))
        draft.add(At(at_us), series)

    @staticmethod
    def _meanwhile(scope: Scope, draws: Draws) -> Strike:
        """A fault while the topic is being deleted."""
        away = strikes.short_crash(scope, draws, Target(brokers=(draws.choice(scope.brokers),)))
        return draws.weighted(((2, away), (3, gives_way(scope, draws))))


SETTINGS: Sequence[tuple[str, tuple[Any, ...]]] = (
    ("min.insync.replicas", (1, 2, 3)), ("unclean.leader.election.enable", (True, False)),
    ("retention.ms", (2_000, 60_000)), ("segment.bytes", (4 << 10, 256 << 10)),
    ("max.message.bytes", (100_000, 1_000_000)),
)  # fmt: skip
"""Settings of topics that are changed back and forth, each with its values."""


@chaos("settings-again", "a setting changes there and back, and a broker misses a change, or learns of it late")
@frozen(kw_only=True)
class SettingsAgain(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many settings change so in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        name, values = draws.choice(SETTINGS)
        topic = draws.choice(scope.topics)
        of_all = name in OF_ALL_BROKERS and draws.chance(0.3)
        where = None if of_all else topic.name
        series: list[Strike] = []
        order = draws.some(values, 2)
        for value in (*order, order[0])[: draws.between((2, 3))]:
            if draws.chance(0.6):
                series.append(self._misses(scope, draws)._replace(gap_us=draws.spread((MS, 2 * SECOND))))
            series.append(Strike(ConfigSet(config={name: value}, topic=where), gap_us=gap(draws)))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _misses(scope: Scope, draws: Draws) -> Strike:
        """A fault by which a broker learns late of the next change, or never."""
        target = strikes.role(scope, draws, scope.partition(draws))
        pause = Strike(BrokerPause(), target, draws.spread((SECOND, 9 * SECOND)))
        ways = ((4, strikes.expire(scope, draws, target)), (2, pause), (2, strikes.cut(scope, draws, target)))
        return draws.weighted((*ways, (1, strikes.short_crash(scope, draws, target))))


@chaos("pools-resized", "the number of fetcher threads changes while followers are behind, once or several times")
@frozen(kw_only=True)
class PoolsResized(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many series of changes there are in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        now, series = scope.draft.scenario.settings()[FETCHERS], list[Strike]()
        assert isinstance(now, int)
        if draws.chance(0.6):
            series.append(strikes.short_crash(scope, draws, strikes.role(scope, draws, scope.partition(draws))))
        for _ in range(draws.between((1, 3))):
            # A running broker takes at most twice as many, and at least half as many (KIP-226).
            now = draws.choice([count for count in {-(-now // 2): 0, now + 1: 0, 2 * now: 0} if count != now])
            series.append(Strike(ConfigSet(config={FETCHERS: now}), gap_us=draws.spread((5 * MS, 6 * SECOND))))
            if draws.chance(0.4):
                target = strikes.role(scope, draws, scope.partition(draws))
                series.append(strikes.strike(scope, draws, target)._replace(gap_us=draws.spread((MS, 2 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)


@chaos("replicas-again", "replicas are moved away and back, and away again, also before the copy is complete")
@frozen(kw_only=True)
class ReplicasAgain(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many replicas go and come in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        name = scope.partition(draws)
        topic, number = split_partition(name)
        here = scope.draft.replicas(name)
        free = [broker for broker in scope.brokers if broker not in here]
        if not free:
            return
        leaves, comes = draws.choice(here), draws.choice(free)
        there = tuple(comes if broker == leaves else broker for broker in here)
        series = []
        for turn in range(draws.between((2, 4))):
            own, replicas = draws.sub(turn), (here if turn % 2 else there)
            plan = Plan(partitions=[Move(topic=topic, partition=number, replicas=replicas)])
            series.append(Strike(ReassignExecute(plan=plan), gap_us=gap(own)))
            scope.draft.moved(name, replicas)
            if own.chance(0.5):
                series.append(
                    self._at_one_of_them(scope, own, (leaves, comes))._replace(gap_us=own.spread((MS, SECOND)))
                )
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _at_one_of_them(scope: Scope, draws: Draws, pair: tuple[int, int]) -> Strike:
        target = Target(brokers=(draws.choice(pair),))
        return draws.weighted(((3, strikes.strike(scope, draws, target)), (2, gives_way(scope, draws))))


@chaos("leaders-again", "leadership goes from a broker to another and back, several times, in order or by faults")
@frozen(kw_only=True)
class LeadersAgain(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many such series there are in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        leader = Target(role=f"leader({partition})")
        series: list[Strike] = []
        for turn in range(draws.between((1, 3))):
            own = draws.sub(turn)
            down_us = own.spread((50 * MS, 5 * SECOND))
            ways = ((3, BrokerControlledShutdown()), (2, BrokerCrash(kind="process")))
            away = own.weighted(
                ((2, Strike(ZkExpire(), leader)), *((w, Strike(way, leader, down_us)) for w, way in ways))
            )
            series.append(away._replace(gap_us=gap(own)))
            back = Strike(ElectionPreferred(partitions=(partition,)))
            series.append(back._replace(gap_us=down_us + own.spread((50 * MS, 6 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)


@chaos("requests-twice", "an operator's request comes twice: a plan, a topic's deletion, an election, a setting")
@frozen(kw_only=True)
class RequestsTwice(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many requests come twice in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        series = self._asked(scope, draws)
        if not series:
            return
        *before, last = series
        own = draws.sub("again")
        again = last._replace(gap_us=own.spread((MS, 4 * SECOND)))
        between: list[Strike] = []
        if own.chance(0.4):
            between = [gives_way(scope, own)._replace(gap_us=own.spread((MS, SECOND)))]
        scope.draft.add(At(scope.draft.moment(draws)), [*before, last, *between, again])

    @staticmethod
    def _asked(scope: Scope, draws: Draws) -> list[Strike]:
        """The request that is made twice, after what it needs."""
        possible: list[tuple[int, Deed]] = [(3, move), (2, _election), (1, _setting)]
        if deletes_topics(scope):
            possible.append((3, passing))
        return draws.weighted(possible)(scope, draws)
