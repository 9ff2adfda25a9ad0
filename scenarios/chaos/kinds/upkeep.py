"""The daily work of operators: restarts in turn, copies between disks, looks at moves, mistakes, unclean elections."""

from __future__ import annotations

from attrs import evolve, field, frozen

from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import Episodes
from scenarios.chaos.kinds.histories import deletes_topics, new_topic
from scenarios.chaos.kinds.meetings import at_once
from scenarios.chaos.kinds.operator_work import copies_replicas
from scenarios.chaos.kinds.work import ShortLogs
from scenarios.faults.actions.brokers import BrokerControlledShutdown, BrokerCrash, BrokerStop
from scenarios.faults.actions.config_actions import ConfigSet
from scenarios.faults.actions.elections import ElectionPreferred, ElectionUnclean
from scenarios.faults.actions.mistakes import ReassignMistake
from scenarios.faults.actions.reassignments import ReassignExecute, ReassignList, ReassignVerify
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete, TopicExpand
from scenarios.language.actions import Action
from scenarios.language.chaos import COUNT, SHARE, chaos
from scenarios.language.plan import Move, Plan
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.strategies import SHAPES
from scenarios.language.targets import Target
from scenarios.language.topic_spec import split_partition
from scenarios.language.triggers import At
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

API_SINCE = "2.2"
"""The first release that answers ElectLeaders (KIP-183)."""
UNCLEAN = 0.3
"""The share of elections that are asked for as unclean ones."""


@chaos("rolling-restarts", "the brokers are restarted one after the other, in an order that is drawn, in the same way")
@frozen(kw_only=True)
class RollingRestarts(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often all are restarted in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        kill = BrokerCrash(kind="process")
        ways: tuple[tuple[int, Action], ...] = ((4, BrokerControlledShutdown()), (1, BrokerStop()), (2, kill))
        way = draws.weighted(ways)
        down = draws.weighted(((1, (MS, 20 * MS)), (2, strikes.MOMENT), (3, strikes.SHORT), (1, (SECOND, 10 * SECOND))))
        pause = draws.weighted(((2, (MS, 200 * MS)), (3, (200 * MS, 3 * SECOND)), (2, (3 * SECOND, 8 * SECOND))))
        series = []
        for broker in draws.some(scope.brokers, len(scope.brokers)):
            down_us = draws.spread(down)
            series.append(Strike(way, Target(brokers=(broker,)), down_us, down_us + draws.spread(pause)))
        scope.draft.add(At(scope.draft.moment(draws)), series)


@chaos("copies", "replicas are moved to other log directories of their brokers, and back, from 1.1 on (KIP-113)")
@frozen(kw_only=True)
class Copies(Episodes):
    times: Range = field(default=(1, 3), metadata=key(COUNT, "how often replicas are moved so in a run"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw copies between log directories, where the release has them."""
        if not copies_replicas(draft):
            return
        if draws.sub("short").chance(0.4):  # the copied segments are soon deleted
            ShortLogs().draw(draft, draws.sub("short/logs"))
        cluster = draft.scenario.cluster
        draft.change(cluster=evolve(cluster, log_dirs=max(2, cluster.log_dirs)))
        super().draw(draft, draws)

    def episode(self, scope: Scope, draws: Draws) -> None:
        first = scope.partition(draws)
        others = [name for name in scope.partitions if name != first]
        names = [first, *draws.some(others, draws.weighted(((2, 0), (1, 1), (1, len(others)))))]
        throttle = draws.weighted(((2, None), (1, 10_000), (1, 100_000)))
        plan = self._plan(scope, draws, names)
        series = [Strike(ReassignExecute(plan=plan, log_dirs_throttle=throttle))]
        looks = draws.sub("looks")
        while len(series) < 4 and looks.chance(0.7):
            series.append(Strike(ReassignVerify(plan=plan), gap_us=looks.spread((MS, 3 * SECOND))))
        most = len(series) + 2
        while len(series) < most and draws.chance(0.4):  # back and forth, even before a copy is complete
            again = ReassignExecute(plan=self._plan(scope, draws, names))
            series.append(Strike(again, gap_us=draws.spread((MS, 8 * SECOND))))
        if draws.chance(0.4):
            target = strikes.role(scope, draws, first)
            series.append(strikes.strike(scope, draws, target)._replace(gap_us=draws.spread((MS, 4 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)

    @staticmethod
    def _plan(scope: Scope, draws: Draws, names: list[str]) -> Plan:
        directories = scope.draft.scenario.cluster.log_dir_names
        moves = []
        for name in names:
            topic, number = split_partition(name)
            replicas = scope.draft.replicas(name)
            log_dirs = tuple(draws.choice(directories) for _ in replicas)
            moves.append(Move(topic=topic, partition=number, replicas=replicas, log_dirs=log_dirs))
        return Plan(partitions=moves)


@chaos("looks-at-moves", "an operator asks how far moves are, as the tools do: --verify, and the API's list")
@frozen(kw_only=True)
class LooksAtMoves(Episodes):
    turn = 3

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft = scope.draft
        own = [(draft.faults[0], entry) for entry in draft.scenario.method]
        all_entries = [*own, *((chain.at_us, entry) for chain in draft.chains for entry in chain.entries)]
        executed = [(at_us, entry.action) for at_us, entry in all_entries if isinstance(entry.action, ReassignExecute)]
        if not executed:
            return
        at_us, move = draws.choice(executed)
        looks: list[Strike] = [Strike(ReassignVerify(plan=move.plan, via=move.via))]
        if SHAPES[scope.draft.scenario.strategy.parsed.shape].api and draws.chance(0.5):
            looks.append(Strike(ReassignList(), gap_us=draws.spread((MS, SECOND))))
        scope.draft.add(At(at_us + draws.spread((MS, 20 * SECOND))), looks)


@chaos("mistakes", "an operator asks by the API for replicas that no partition can have: none, one twice, or a -1")
@frozen(kw_only=True)
class Mistakes(Episodes):
    def episode(self, scope: Scope, draws: Draws) -> None:
        """Draw a mistaken request by the API. Where moves are requested in ZooKeeper, the tool refuses such a plan
        itself."""
        if not SHAPES[scope.draft.scenario.strategy.parsed.shape].api:
            return
        partition = scope.partition(draws)
        replicas = scope.draft.replicas(partition)
        wrong = draws.choice(((), (*replicas, replicas[0]), (*replicas[1:], -1)))
        scope.draft.add(At(scope.draft.moment(draws)), [Strike(ReassignMistake(partition=partition, replicas=wrong))])


@chaos(
    "unclean-elections",
    "in-sync replicas die one after the other; an operator has another one elected, or changes something",
)
@frozen(kw_only=True)
class UncleanElections(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how often in a run"))
    short_logs: float = field(
        default=0.0, metadata=key(SHARE, "the share of such seeds in which logs are short, so that their starts move")
    )

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw the elections, in some seeds on short logs: a replica that is elected behind the others may end before
        the starts of their logs."""
        if draws.sub("short").chance(self.short_logs):
            ShortLogs().draw(draft, draws.sub("short/logs"))
        super().draw(draft, draws)

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, partition = scope.draft, scope.partition(draws)
        leader = Target(role=f"leader({partition})")
        series = [strikes.crash(scope, draws, Target(role=f"any isr({partition})-leader"))]
        for _ in range(draws.between((1, len(draft.replicas(partition)) - 1 or 1))):
            lost = Strike(draft.crash(draws), leader, draws.spread(strikes.LONG))
            series.append(lost._replace(gap_us=draws.spread((SECOND, 10 * SECOND))))
        asked = Strike(self._asked(draws.sub("asked"), partition), gap_us=draws.spread((MS, 8 * SECOND)))
        draft.add(At(draft.moment(draws)), [*series, asked])

    @staticmethod
    def _asked(draws: Draws, partition: str) -> Action:
        """A request of an operator about a partition that has no leader, or about its topic meanwhile."""
        other = ConfigSet(config={"segment.bytes": 100_000}, topic=split_partition(partition)[0])
        preferred = ElectionPreferred(partitions=(partition,))
        return draws.weighted(((4, ElectionUnclean(partitions=(partition,))), (2, other), (1, preferred)))


@chaos(
    "asked-elections",
    "elections are asked for at odd times: twice, of what is led or deleted, by the API too, also unclean ones",
)
@frozen(kw_only=True)
class AskedElections(Episodes):
    times: Range = field(default=(1, 2), metadata=key(COUNT, "how often in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft, series = scope.draft, list[Strike]()
        partition = scope.partition(draws)
        if not draft.heals_core and deletes_topics(scope) and draws.chance(0.4):
            topic = new_topic(scope, draws.sub("topic"))
            series.append(Strike(TopicCreate(topic=topic)))
            gone = Strike(TopicDelete(topic=topic.name), gap_us=draws.spread((MS, 3 * SECOND)))
            asked = self._asked(scope, draws.sub("of passing"), topic.partition_names[0])
            both = [gone, Strike(asked, gap_us=at_once(draws))]
            series += both if draws.chance(0.5) else both[::-1]
        elif draws.chance(0.6):
            series.append(strikes.short_crash(scope, draws, strikes.role(scope, draws, partition)))
        for number in range(draws.between((1, 3))):
            own = draws.sub(number)
            series.append(Strike(self._asked(scope, own, partition), gap_us=own.spread((MS, 4 * SECOND))))
        draft.add(At(draft.moment(draws)), series)

    @staticmethod
    def _asked(scope: Scope, draws: Draws, partition: str) -> Action:
        profile = PROFILES[scope.draft.scenario.profile]
        partitions = draws.weighted(((3, (partition,)), (1, None), (1, (*scope.partitions,))))
        if draws.chance(UNCLEAN):
            return ElectionUnclean(partitions=partitions)
        by_api = not is_before(profile.release, API_SINCE) and draws.chance(0.6)
        return ElectionPreferred(partitions=partitions, via="api" if by_api else None)


@chaos("expansions", "topics that are written to get more partitions, and go on")
@frozen(kw_only=True)
class Expansions(Episodes):
    times: Range = field(default=(1, 1), metadata=key(COUNT, "how many topics get more partitions in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        topic = draws.choice(scope.topics)
        more = TopicExpand(topic=topic.name, partitions=topic.partitions + draws.between((1, 3)))
        series = [Strike(more)]
        if draws.chance(0.4):
            target = strikes.role(scope, draws, scope.partition(draws))
            series.append(strikes.strike(scope, draws, target)._replace(gap_us=draws.spread((MS, 2 * SECOND))))
        scope.draft.add(At(scope.draft.moment(draws)), series)
