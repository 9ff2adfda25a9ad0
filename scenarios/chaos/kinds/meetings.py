"""Events that meet: requests about one topic at one instant, several topics at once, what has to wait for a broker.

A callback that is lost, or an entry that stays, shows only where a second event comes before the first one is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.histories import deletes_topics, gives_way, new_topic
from scenarios.chaos.kinds.operator_work import OperatorMoves, load_on_passing
from scenarios.faults.actions.brokers import BrokerControlledShutdown
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.reassignments import ReassignCancel, ReassignExecute
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete, TopicExpand
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.plan import Move, Plan
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec, split_partition
from scenarios.language.triggers import At

AT_ONCE: Sequence[tuple[int, Range]] = ((2, (0, 0)), (3, (MS, 20 * MS)), (2, (20 * MS, 500 * MS)))
"""The time between two requests that meet: none, within one transition of the controller, within a few."""
NOTICED = (7 * SECOND, 20 * SECOND)
"""The time for which a broker is away, so that the controller misses it."""
ALONE = 0.3
"""The share of such waits with which a last in-sync replica is to shut down, which waits for another one."""

Request = Callable[[Scope, Draws, TopicSpec], list[Strike]]


def at_once(draws: Draws) -> int:
    span = draws.weighted(AT_ONCE)
    return draws.spread(span) if span[1] else 0


@frozen(kw_only=True)
class Meetings(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        """Add one, unless only a core of the brokers will be healed: requests would wait for the others."""
        if not scope.draft.heals_core:
            self.met(scope, draws)

    def met(self, scope: Scope, draws: Draws) -> None:
        """Add the requests that meet."""
        raise NotImplementedError


# -- requests about a topic that the kind has made ---------------------------------------------------------------------


def _moves(scope: Scope, draws: Draws, topic: TopicSpec) -> list[Strike]:
    """Move partitions of the topic. A move in /admin/reassign_partitions of one that has never had a leader is given up
    (updateLeaderEpoch finds no state), so where moves are asked for there, others are moved."""
    if not OperatorMoves.has_api(scope):
        plan = OperatorMoves().plan(scope, draws)
        return [] if plan is None else [Strike(ReassignExecute(plan=plan))]
    assignment = topic.assignment or ()
    moves = [
        Move(topic=topic.name, partition=number, replicas=tuple(draws.some(scope.brokers, len(replicas))))
        for number, replicas in enumerate(assignment)
        if number == 0 or draws.chance(0.5)
    ]
    return [Strike(ReassignExecute(plan=Plan(partitions=moves)))]


def _expands(_scope: Scope, draws: Draws, topic: TopicSpec) -> list[Strike]:
    return [Strike(TopicExpand(topic=topic.name, partitions=topic.partitions + draws.between((1, 3))))]


def _elects(_scope: Scope, draws: Draws, topic: TopicSpec) -> list[Strike]:
    return [Strike(ElectionPreferred(partitions=topic.partition_names if draws.chance(0.5) else None))]


def _sets(_scope: Scope, draws: Draws, topic: TopicSpec) -> list[Strike]:
    value = draws.between((1, topic.replication_factor))
    series = [Strike(ConfigSet(config={"min.insync.replicas": value}, topic=topic.name))]
    if draws.chance(0.5):
        gone = ConfigSet(remove=("min.insync.replicas",), topic=topic.name)
        series.append(Strike(gone, gap_us=draws.sub("gone").spread((MS, 4 * SECOND))))
    return series


def follows(topic: TopicSpec, series: Sequence[Strike]) -> list[Strike]:
    """The strikes between ``series`` and another request about the topic: its creation, where it was to be deleted,
    mostly while it is still there. The request concerns whichever topic there is."""
    lives = [strike.action for strike in series if isinstance(strike.action, TopicCreate | TopicDelete)]
    return [Strike(TopicCreate(topic=topic))] if isinstance(lives[-1], TopicDelete) else []


def possible(topic: TopicSpec, series: Sequence[Strike], asked: Sequence[Strike]) -> list[Strike]:
    """The strikes of ``asked`` without those that would give the topic no more partitions than it has after
    ``series``."""
    has = topic.partitions
    for strike in series:
        if isinstance(strike.action, TopicCreate):
            has = topic.partitions
        elif isinstance(strike.action, TopicExpand):
            has = strike.action.partitions
    return [strike for strike in asked if not isinstance(strike.action, TopicExpand) or strike.action.partitions > has]


def _deletes(scope: Scope, _draws: Draws, topic: TopicSpec) -> list[Strike]:
    return [Strike(TopicDelete(topic=topic.name))] if deletes_topics(scope) else []


def _cancels(scope: Scope, draws: Draws, topic: TopicSpec) -> list[Strike]:
    moved = _moves(scope, draws, topic)
    if not OperatorMoves.has_api(scope):
        return [*moved, *(strike._replace(gap_us=at_once(draws)) for strike in _moves(scope, draws.sub(2), topic))]
    return [*moved, Strike(ReassignCancel(), gap_us=at_once(draws))]


REQUESTS: Sequence[tuple[int, Request]] = (
    (4, _moves), (2, _expands), (2, _elects), (2, _sets), (4, _deletes), (2, _cancels)
)  # fmt: skip


@chaos(
    "requests-meet",
    "operators ask for several things about one topic at the same instant: a move, a deletion, partitions, a setting",
)
@frozen(kw_only=True)
class RequestsMeet(Meetings):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many topics are asked about so in a run"))
    requests: Range = field(default=(2, 4), metadata=key(COUNT, "how many requests meet"))

    def met(self, scope: Scope, draws: Draws) -> None:
        topic, at_us = new_topic(scope, draws), scope.draft.moment(draws)
        if draws.sub("load").chance(0.4):
            load_on_passing(scope.draft, draws.sub("load/how"), topic, at_us)
        series = [Strike(TopicCreate(topic=topic))]
        for number in range(draws.between(self.requests)):
            own = draws.sub(number)
            asked = possible(topic, series, own.weighted(REQUESTS)(scope, own, topic))
            first, *rest = asked or [Strike(ElectionPreferred())]
            series += follows(topic, series)
            series += [first._replace(gap_us=at_once(own) if number else own.spread((20 * MS, 8 * SECOND))), *rest]
            if own.sub("controller").chance(0.25):
                series.append(gives_way(scope, own)._replace(gap_us=own.spread((MS, 300 * MS))))
        scope.draft.add(At(at_us), series)


# -- several topics at once --------------------------------------------------------------------------------------------


@chaos("several-topics", "some topics are made at once, and deleted or moved at once, also while a broker is away")
@frozen(kw_only=True)
class SeveralTopics(Meetings):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often in a run"))
    topics_made: Range = field(default=(2, 4), metadata=key(COUNT, "how many topics are made"))

    def met(self, scope: Scope, draws: Draws) -> None:
        topics = [new_topic(scope, draws.sub(number)) for number in range(draws.between(self.topics_made))]
        series = [Strike(TopicCreate(topic=topic), gap_us=at_once(draws)) for topic in topics]
        own = draws.sub("then")
        series.append(self._away(scope, own, topics)._replace(gap_us=own.spread((100 * MS, 4 * SECOND))))
        request = own.weighted(((4, _deletes), (2, _moves), (1, _expands)))
        wait_us = own.spread((MS, 6 * SECOND))
        for number, topic in enumerate(topics):
            asked = request(scope, own.sub(number), topic)
            series += [strike._replace(gap_us=at_once(own) if number else wait_us) for strike in asked]
        if own.chance(0.4):
            series.append(gives_way(scope, own)._replace(gap_us=own.spread((MS, 4 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _away(scope: Scope, draws: Draws, topics: Sequence[TopicSpec]) -> Strike:
        """A fault at a broker of several of the topics: most of what they wait for is the same."""
        hosts = [broker for topic in topics for replicas in topic.assignment or () for broker in replicas]
        target = Target(brokers=(draws.choice(hosts),))
        down = Strike(scope.draft.crash(draws), target, draws.spread(NOTICED))
        return draws.weighted(((4, down), (2, strikes.strike(scope, draws, target))))


# -- what has to wait for a broker -------------------------------------------------------------------------------------


@chaos(
    "waits-for-brokers",
    "a broker is away, operators ask for what needs it, and it comes back, perhaps to another controller",
)
@frozen(kw_only=True)
class WaitsForBrokers(Meetings):
    turn = 2

    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often a broker is waited for in a run"))

    def met(self, scope: Scope, draws: Draws) -> None:
        alone = draws.sub("alone")
        if alone.chance(ALONE):
            self._leaves_alone(scope, alone)
        topic, away_us = new_topic(scope, draws), draws.spread(NOTICED)
        name = scope.partition(draws)
        broker = draws.choice(scope.draft.replicas(name))
        way = draws.weighted(((4, scope.draft.crash(draws)), (2, BrokerControlledShutdown())))
        series = [Strike(TopicCreate(topic=topic))]
        series.append(Strike(way, Target(brokers=(broker,)), away_us, draws.spread((100 * MS, 3 * SECOND))))
        begin_us = draws.spread((50 * MS, away_us))
        for number in range(draws.between((1, 2))):
            own = draws.sub(number)
            asked = possible(topic, series, self._asked(scope, own, topic, name, broker))
            series += follows(topic, series)
            series += [strike._replace(gap_us=at_once(own) if number else begin_us) for strike in asked]
        if draws.chance(0.5):
            change = gives_way(scope, draws.sub("controller"))
            series.append(change._replace(gap_us=draws.spread((MS, away_us))))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _leaves_alone(scope: Scope, draws: Draws) -> None:
        """The last in-sync replica is to shut down, asks again and again, and meanwhile another one comes back."""
        name, away_us = scope.partition(draws), draws.spread(NOTICED)
        gone = Strike(scope.draft.crash(draws), Target(role=f"isr({name})-leader"), away_us)
        leaves = strikes.shut_down(scope, draws, Target(role=f"leader({name})"))
        gap_us = max(MS, away_us - draws.spread((MS, 8 * SECOND)))
        scope.draft.add(At(scope.draft.moment(draws)), [gone, leaves._replace(gap_us=gap_us)])

    @staticmethod
    def _asked(scope: Scope, draws: Draws, topic: TopicSpec, name: str, broker: int) -> list[Strike]:
        """A request that needs the broker more often than not."""
        here = scope.draft.replicas(name)
        others = [other for other in scope.brokers if other != broker]
        kept = draws.some(others, max(1, len(here) - 1))
        replicas = (*kept, broker) if draws.chance(0.5) else (broker, *kept)
        if draws.chance(0.4):
            scope.draft.moved(name, replicas)
            own, number = split_partition(name)
            move = Move(topic=own, partition=number, replicas=replicas)
            return [Strike(ReassignExecute(plan=Plan(partitions=[move])))]
        request = draws.weighted(((2, _elects), (2, _expands), (4, _deletes), (2, _moves)))
        return request(scope, draws, topic)
