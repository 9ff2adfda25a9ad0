"""The actions of operators: moves, topics made and deleted, settings changed, elections."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.shape import Possible, drawn, topic_settings
from scenarios.cluster.clients.tools.throttle import RATES, REASSIGNMENT_RATES
from scenarios.faults.actions.brokers import BrokerControlledShutdown
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.reassignments import API, ReassignCancel, ReassignExecute
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete, TopicExpand
from scenarios.language.chaos import COUNT, chaos
from scenarios.language.plan import ANY_LOG_DIR, Move, Plan
from scenarios.language.schema.kinds import Integer
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.strategies import SHAPES
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec, split_partition
from scenarios.language.triggers import At
from scenarios.language.workloads import WorkloadSpec
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

COPIES_SINCE = "1.1"
"""The first release that moves replicas between the log directories of a broker (KIP-113)."""
OF_ALL_BROKERS = ("min.insync.replicas", "unclean.leader.election.enable")


def copies_replicas(draft: Draft) -> bool:
    """Whether the release moves replicas between log directories."""
    return not is_before(PROFILES[draft.scenario.profile].release, COPIES_SINCE)


def unthrottle() -> ConfigSet:
    """Take all throttles away: a cluster whose load is above them would never converge."""
    return ConfigSet(remove=(*RATES, *REASSIGNMENT_RATES), brokers=Target(mode="all"))


@chaos(
    "moves", "partitions are moved, alone or together; moves that overlap are replaced or cancelled where the API can"
)
@frozen(kw_only=True)
class OperatorMoves(Episodes):
    times: Range = field(default=(1, 3), metadata=key(COUNT, "how many plans are handed over in a run"))
    least_replicas: int = field(
        default=1, metadata=key(Integer(1, 100), "the fewest replicas that a plan leaves a partition which has as many")
    )

    def episode(self, scope: Scope, draws: Draws) -> None:
        plan = self.plan(scope, draws)
        if plan is None:
            return
        throttle = self._throttle(draws.sub("throttle"))
        scope.draft.throttles |= throttle is not None
        copies = draws.sub("copies").choice((None, 10_000, 100_000)) if plan.directories() else None
        execute = ReassignExecute(
            plan=plan, via=self._via(scope, draws), throttle=throttle, log_dirs_throttle=copies
        )  # fmt: skip
        series = [Strike(execute)]
        soon_us = draws.spread((MS, 5 * SECOND))
        if self.has_api(scope) and draws.chance(0.4):
            partitions = tuple(plan.targets()) if draws.chance(0.5) else None
            series.append(Strike(ReassignCancel(partitions=partitions), gap_us=soon_us))
        elif draws.chance(0.35) and (other := self.plan(scope, draws.sub("override"))) is not None:
            series.append(Strike(ReassignExecute(plan=other, via=API if self.has_api(scope) else None), gap_us=soon_us))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def has_api(scope: Scope) -> bool:
        """Whether moves can be asked for through KIP-455's API."""
        return SHAPES[scope.draft.scenario.strategy.parsed.shape].api

    def _via(self, scope: Scope, draws: Draws) -> str | None:
        """The way to request a move: by the API in every other move, where there is one; else as the profile's tool
        does."""
        return API if draws.chance(0.5) and self.has_api(scope) else None

    @staticmethod
    def _throttle(draws: Draws) -> int | None:
        return draws.weighted(((4, None), (1, 2_000), (1, 20_000), (1, 200_000)))

    def plan(self, scope: Scope, draws: Draws) -> Plan | None:
        """A plan for some partitions, each with drawn replicas: other ones, fewer or more, or in another order. Where
        brokers have several log directories, these are drawn, too."""
        first = scope.partition(draws)
        others = [name for name in scope.partitions if name != first]
        names = [first, *draws.some(others, draws.weighted(((4, 0), (2, 1), (1, len(others)))))]
        moves = []
        for name in names:
            replicas = self._target(scope, draws.sub(name), name)
            if replicas:
                topic, number = split_partition(name)
                log_dirs = self._log_dirs(scope, draws.sub(name).sub("log_dirs"), len(replicas))
                moves.append(Move(topic=topic, partition=number, replicas=replicas, log_dirs=log_dirs))
                scope.draft.moved(name, replicas)
        return Plan(partitions=moves) if moves else None

    @staticmethod
    def _log_dirs(scope: Scope, draws: Draws, count: int) -> tuple[str, ...]:
        """The directory of each replica, where the release can be asked for one."""
        cluster = scope.draft.scenario.cluster
        if cluster.log_dirs < 2 or not copies_replicas(scope.draft) or draws.chance(0.4):
            return ()
        return tuple(draws.choice((ANY_LOG_DIR, *cluster.log_dir_names)) for _ in range(count))

    def _target(self, scope: Scope, draws: Draws, name: str) -> tuple[int, ...]:
        current = scope.draft.replicas(name)
        least = min(self.least_replicas, len(current))
        count = max(least, len(current) + draws.weighted(((5, 0), (1, 1), (1, -1))))
        count = min(count, len(scope.brokers))
        way = draws.weighted(((3, "one"), (3, "any"), (2, "back"), (1, "order")))
        if way == "back":
            return scope.draft.before(name)
        if way == "order":
            return tuple(draws.some(current, len(current)))
        if way == "any":
            return tuple(draws.some(scope.brokers, count))
        kept = draws.some(current, len(current) - 1)
        new = [broker for broker in scope.brokers if broker not in current]
        return (*kept, *draws.some(new, count - len(kept)))[:count] or current


@chaos("elections", "preferred replicas are elected, and leaders shut down one after the other")
@frozen(kw_only=True)
class Elections(Episodes):
    times: Range = field(default=(1, 4), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        partitions = (partition,) if draws.chance(0.5) else None
        election = Strike(ElectionPreferred(partitions=partitions))
        leader = Target(role=f"leader({partition})")
        gap_us = draws.spread((MS, 4 * SECOND))
        shut = strikes.shut_down(scope, draws, leader)
        expire = strikes.expire(scope, draws, leader)
        series = draws.weighted(
            (
                (3, [election]),
                (2, [shut, election._replace(gap_us=gap_us)]),
                (2, [shut, shut._replace(gap_us=gap_us)]),
                (1, [expire, expire._replace(gap_us=gap_us), election._replace(gap_us=gap_us)]),
            )
        )
        scope.draft.add(At(scope.draft.moment(draws)), series)


@chaos("returned-leaders", "a leader is restarted in order, and preferred replicas are elected once it is back")
@frozen(kw_only=True)
class ReturnedLeaders(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        partition = scope.partition(draws)
        down_us = draws.spread((100 * MS, 2 * SECOND))
        restart = Strike(BrokerControlledShutdown(), Target(role=f"leader({partition})"), down_us)
        election = Strike(ElectionPreferred(), gap_us=down_us + draws.spread((2 * SECOND, 8 * SECOND)))
        scope.draft.add(At(scope.draft.moment(draws)), [restart, election])


def load_on_passing(draft: Draft, draws: Draws, topic: TopicSpec, at_us: int) -> None:
    """Add a load from about when the topic exists until after it is deleted, or everything is healed."""
    batches = draws.between((1, 4))
    acks = draws.weighted(((3, "all"), (1, "1")))
    start_us = at_us + draws.spread((50 * MS, 2 * SECOND))
    load = WorkloadSpec(
        topic=topic.name, producer_rate=5 * batches * topic.partitions, message_size=100,
        acks=acks, linger_us=SECOND // batches, start_us=start_us, stop_us=max(start_us, draft.faults[1]) + SECOND,
    )  # fmt: skip
    draft.change(workloads=(*draft.scenario.workloads, load))


@chaos("topic-life", "topics are made, get partitions, and are deleted, also while they are written to")
@frozen(kw_only=True)
class TopicLife(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how many topics live so in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft = scope.draft
        name = f"passing-{len(draft.made)}"
        draft.made.append(name)
        replicas = draws.between((1, min(3, len(scope.brokers))))
        partitions = draws.between((1, 3))
        assignment = [draws.some(scope.brokers, replicas) for _ in range(partitions)]
        at_us = draft.moment(draws)
        topic = TopicSpec(name=name, assignment=assignment)
        chain = [Strike(TopicCreate(topic=topic))]
        if draws.sub("load").chance(0.4):
            load_on_passing(draft, draws.sub("load/how"), topic, at_us)
        if (config := draws.sub("config")).chance(0.3):
            found = drawn(config, topic_settings(replicas)) or {"min.insync.replicas": replicas}
            chain.append(Strike(ConfigSet(config=found, topic=name), gap_us=config.spread((MS, SECOND))))
        if draws.chance(0.4):
            partitions += draws.between((1, 2))
            chain.append(Strike(TopicExpand(topic=name, partitions=partitions), gap_us=draws.spread((MS, 8 * SECOND))))
        deletes = PROFILES[draft.scenario.profile].policies.deletes_topics
        if deletes and draws.chance(0.8):
            chain.append(Strike(TopicDelete(topic=name), gap_us=draws.spread((MS, 8 * SECOND))))
        draft.add(At(at_us), chain)


@chaos("configuration", "settings of topics and brokers change while the cluster runs, and may change back")
@frozen(kw_only=True)
class Configuration(Episodes):
    times: Range = field(default=(1, 3), metadata=key(COUNT, "how many changes there are in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        topic = draws.choice(scope.topics)
        action = self._of_topic(topic, draws) if draws.chance(0.6) else self._of_brokers(scope, draws)
        series = [Strike(action)]
        scope.draft.throttles |= any(name in RATES for name in action.config)
        if draws.chance(0.5):
            back = ConfigSet(remove=tuple(action.config), topic=action.topic, brokers=action.brokers)
            series.append(Strike(back, gap_us=draws.spread((10 * MS, 15 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _of_topic(topic: TopicSpec, draws: Draws) -> ConfigSet:
        throttled: Possible = (
            ("leader.replication.throttled.replicas", ((1, "*"),)),
            ("follower.replication.throttled.replicas", ((1, "*"),)),
        )
        name, values = draws.choice((*topic_settings(topic.replication_factor), *throttled))
        value: Any = draws.weighted([one for one in values if one[1] is not None])
        return ConfigSet(config={name: value}, topic=topic.name)

    @staticmethod
    def _of_brokers(scope: Scope, draws: Draws) -> ConfigSet:
        fetchers = scope.draft.scenario.settings()["num.replica.fetchers"]
        name, values = draws.choice(
            (
                ("num.replica.fetchers", (fetchers, 2 * fetchers)),
                ("min.insync.replicas", (1, 2)),
                ("unclean.leader.election.enable", (True, False)),
                ("log.segment.bytes", (4 << 10, 64 << 10)),
                ("log.retention.ms", (2_000, 30_000)),
                *((throttle, (10_000, 100_000)) for throttle in RATES),
            )
        )
        # One broker's own value of these counts only while it leads, or is the controller.
        own = name in RATES or (draws.chance(0.3) and name not in OF_ALL_BROKERS)
        brokers = Target(brokers=draws.some(scope.brokers, draws.between((1, len(scope.brokers))))) if own else None
        return ConfigSet(config={name: draws.choice(values)}, brokers=brokers)
