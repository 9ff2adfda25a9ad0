"""Clients with a coordinator: members of consumer groups, and transactional producers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.configs import ConfigValue
from scenarios.chaos import strikes
from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Scope, Strike
from scenarios.chaos.kind import DrawnChaos, Episodes
from scenarios.cluster.clients.behaviours.committed_reader import CommittedReader
from scenarios.cluster.clients.behaviours.group_member import GroupMember
from scenarios.cluster.clients.behaviours.offset_reader import OffsetReader
from scenarios.cluster.clients.behaviours.transactional import Transactional
from scenarios.faults.actions.brokers import BrokerStop, ZkExpire
from scenarios.faults.actions.elections import ElectionPreferred
from scenarios.faults.actions.machines import BrokerClock
from scenarios.faults.actions.programs import ClientCrash
from scenarios.faults.actions.reassignments import ReassignExecute
from scenarios.language.chaos import COUNT, SHARE, chaos
from scenarios.language.clients import Behaviour
from scenarios.language.plan import Move, Plan
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.targets import Target
from scenarios.language.topic_spec import TopicSpec, split_partition
from scenarios.language.triggers import At, WhenMessage
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

SINCE = "0.11"
"""The first release with transactions (KIP-98), whose groups are in brokers as those of later ones."""
GROUP = "readers"
ONE_OR_THREE = ((3, 1), (1, 3))
EXPIRE = 0.5
"""The share of such seeds in which offsets are kept for a minute, the least that Kafka allows."""
EMPTY, QUIET = "empty", "quiet"
"""Members that all leave and come back, so that their group is empty meanwhile; members that soon commit nothing."""
EXPIRED_US = 80 * SECOND
"""A time by which offsets that were committed soon after the start have expired, if their group let them."""
IDS_EXPIRE = 0.3
"""The share of seeds with transactions in which ids that are not used expire."""
GOES_ON_US = 20 * SECOND
READERS = 0.7
"""The share of seeds with transactions in which someone reads what is committed."""
THERE = 0.7
"""The share of such seeds in which the internal topics are there from the start."""
LACKS_BROKERS = 0.5
"""The share of the other seeds in which fewer brokers than these topics have replicas are alive when they are first
needed."""
PATIENT = 0.15
"""The share of transactional producers that go on adding partitions to a transaction, with pauses."""
IN_THE_MIDDLE = 0.4
"""The share of series of changes of a coordinator that begin at a message of its clients."""
MESSAGES = (
    "AddPartitionsToTxn",
    "TxnOffsetCommit",
    "EndTxn",
    "WriteTxnMarkers",
    "OffsetCommit",
    "JoinGroup",
    "SyncGroup",
)
"""The requests after which something is under way at a coordinator."""
TOGETHER = 0.3
"""The share of seeds with transactions in which several producers commit offsets of one group."""
ASKS = 0.7
"""The share of seeds with a group's offsets in transactions in which someone asks for the group's stable offsets."""
RAISES_SINCE = "2.5"
"""The first release in which a producer may raise its own epoch (KIP-360)."""
DIES_TOO = 0.3
"""The share of changes of a coordinator with which a client dies, for longer than its session."""
IMPATIENT = 0.25
"""The share of groups whose rebalances do not wait for as long as a session lasts: a member that is away for a while is
a member at the end of a rebalance that it has not joined."""
PATIENCE = ((5, 6), (3, 20), (1, 100))
"""The seconds for which rebalances wait for a member."""
CLOCKS = 0.25
"""The share of series in which the clock of a broker that may coordinate is behind."""
WAITS = 0.3
"""The share of changes of a coordinator before which a leader of its clients' records is gone."""
INTERNAL = {"__consumer_offsets": "offsets.topic", "__transaction_state": "transaction.state.log"}
"""The internal topics, each with the beginning of the names of its settings."""
COMPACTED: dict[str, ConfigValue | str] = {"retention.ms": -1, "retention.bytes": -1, "segment.bytes": 100 << 20}
"""Settings of topics whose records are not deleted by their age."""


@frozen(kw_only=True)
class Coordinated(DrawnChaos):
    turn = 1

    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Draw the clients, and internal topics of few partitions: 50 of them, as Kafka has by default, take most of a
        run's time and find nothing more. In some seeds they are there from the start, and strikes and moves hit them
        as they hit other topics."""
        scenario = draft.scenario
        if is_before(PROFILES[scenario.profile].release, SINCE) or not scenario.topics:
            return
        cluster, topics = scenario.cluster, draws.sub("topics")
        replicas = min(3, cluster.brokers)
        found: dict[str, Any] = {
            "offsets.topic.num.partitions": topics.weighted(ONE_OR_THREE),
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.num.partitions": topics.weighted(ONE_OR_THREE),
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": min(2, replicas),
            "group.initial.rebalance.delay.ms": topics.weighted(((2, 0), (1, 3_000))),
            "offsets.retention.check.interval.ms": 5_000,
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": topics.sub("late").choice((1_000, 10_000)),
        }
        if topics.sub("expire").chance(EXPIRE):
            found["offsets.retention.minutes"] = 1
        found |= self.settings(draws)
        topic = draws.choice(scenario.topics)
        made = self.clients(draft, draws, topic.partition_names)
        draft.change(
            cluster=evolve(cluster, config={**found, **cluster.config}), clients=(*scenario.clients, *made)
        )  # fmt: skip
        if topics.sub("there").chance(THERE):
            self._state_internal(draft, topics.sub("placed"))
        elif topics.sub("lacks").chance(LACKS_BROKERS):
            self._lack_brokers(draft, topics.sub("lacks/how"), cluster.brokers - replicas + 1)

    @staticmethod
    def _lack_brokers(draft: Draft, draws: Draws, count: int) -> None:
        """Stop ``count`` brokers, and start the clients while they are away."""
        begin_us, away_us = draft.faults[0], draws.spread((2 * SECOND, 15 * SECOND))
        gone = draws.some(draft.scenario.cluster.ids, count)
        draft.add(At(begin_us), [Strike(BrokerStop(), Target(brokers=tuple(gone)), away_us)])
        late_us = begin_us + draws.spread((100 * MS, SECOND))
        clients = [evolve(client, start_us=max(client.start_us, late_us)) for client in draft.scenario.clients]
        draft.change(clients=tuple(clients))

    @staticmethod
    def _safe(topic: str, settings: Mapping[str, Any]) -> dict[str, ConfigValue | str]:
        """Settings that brokers give to the topic of transactions, so that none is lost."""
        if topic != TRANSACTION_STATE_TOPIC:
            return {}
        least = settings["transaction.state.log.min.isr"]
        return {"min.insync.replicas": least, "unclean.leader.election.enable": False}

    def _state_internal(self, draft: Draft, draws: Draws) -> None:
        """Add the internal topics to the file, as brokers would make them, so that faults can be aimed at them."""
        known = [topic.name for topic in draft.scenario.topics]
        settings, brokers = draft.scenario.settings(), draft.scenario.cluster.ids
        for name, prefix in INTERNAL.items():
            if name in known:
                continue
            partitions = settings[f"{prefix}.num.partitions"]
            replicas = settings[f"{prefix}.replication.factor"]
            assert isinstance(partitions, int)
            assert isinstance(replicas, int)
            placed = [draws.sub(name).sub(each).some(brokers, replicas) for each in range(partitions)]
            topic = TopicSpec(name=name, assignment=placed, config=COMPACTED | self._safe(name, settings))
            draft.change(topics=(*draft.scenario.topics, topic))
            draft.internal = (*draft.internal, *topic.partition_names)

    def settings(self, _draws: Draws) -> dict[str, Any]:
        """Settings that the clients need to be of use."""
        return {}

    @staticmethod
    def end_us(draft: Draft) -> int:
        """When the clients stop: some time after healing, since their coordinators are seldom there before."""
        return max(draft.end_us, draft.faults[1] + GOES_ON_US)

    def clients(self, draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> list[Behaviour]:
        """The clients, which use these partitions."""
        raise NotImplementedError


@chaos("groups", "a consumer group whose members join, commit offsets and leave, also static members")
@frozen(kw_only=True)
class Groups(Coordinated):
    @staticmethod
    def life(draws: Draws) -> str:
        """How the members live: as ever, or so that offsets could expire."""
        return draws.sub("life").weighted(((3, ""), (1, EMPTY), (1, QUIET)))

    def settings(self, draws: Draws) -> dict[str, Any]:
        return {"offsets.retention.minutes": 1} if self.life(draws) else {}

    def clients(self, draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> list[Behaviour]:
        """Members of one group. In some seeds all of them leave early and come back late, so that the group is empty
        meanwhile; in some they have nothing more to commit after a while; two may be the same static member."""
        found: list[Behaviour] = []
        life, impatient = self.life(draws), draws.sub("impatient").chance(IMPATIENT)
        stop_us = max(self.end_us(draft), EXPIRED_US) if life == QUIET else self.end_us(draft)
        for number in range(draws.weighted(((1, 1), (3, 2), (3, 3), (1, 4)))):
            own = draws.sub(number)
            stays = own.weighted(((1, 0), (1, own.between((3, 15)))))
            away = own.sub("away").spread((SECOND, 30 * SECOND)) if life == EMPTY or own.chance(0.1) else 0
            place = own.sub("place").weighted(((4, number), (1, 0)))
            found.append(
                GroupMember(
                    group=GROUP, partitions=partitions, instance=f"static-{place}" if own.chance(0.4) else "",
                    session_us=(30 if impatient else own.choice((6, 10))) * SECOND,
                    rebalance_us=(4 if impatient else own.sub("rebalance").weighted(PATIENCE)) * SECOND,
                    commit_us=own.weighted(((1, 300 * MS), (2, SECOND), (1, 2 * SECOND))),
                    stays=own.sub("empty").between((1, 4)) if life == EMPTY else stays, away_us=away,
                    quiet=own.sub("quiet").between((1, 5)) if life == QUIET else 0,
                    busy=own.sub("busy").weighted(((3, 0), (1, 15))),
                    assigns_us=own.sub("assigns").weighted(((3, 0), (1, 2 * SECOND), (1, 12 * SECOND))),
                    gives_up=own.sub("gives up").weighted(((3, 0), (1, 30))),
                    rejoins=own.sub("rejoins").weighted(((3, 0), (1, 4), (1, 9))),
                    stalls=own.sub("stalls").weighted(((3, 0), (1, 10))),
                    start_us=own.weighted(((3, 0), (1, own.moment((0, draft.faults[1]))))), stop_us=stop_us,
                )
            )  # fmt: skip
        return found


@chaos("transactions", "producers of transactions, two of which may fence each other, with a group's offsets in them")
@frozen(kw_only=True)
class Transactions(Coordinated):
    def settings(self, draws: Draws) -> dict[str, Any]:
        """Transactional ids that no client uses for some seconds expire in some seeds."""
        own = draws.sub("ids")
        if not own.chance(IDS_EXPIRE):
            return {}
        return {
            "transactional.id.expiration.ms": own.sub("after").choice((3_000, 20_000)),
            "transaction.remove.expired.transaction.cleanup.interval.ms": own.sub("every").choice((1_000, 5_000)),
        }

    def clients(self, draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> list[Behaviour]:
        """Producers of transactions, and someone who reads what is committed."""
        zombies = draws.chance(0.3)
        found: list[Behaviour] = []
        readers = draws.sub("readers")
        if readers.chance(READERS):
            waits = readers.weighted(((2, 500 * MS), (1, 5 * SECOND), (1, 0)))
            polls = readers.weighted(((2, 0), (2, SECOND)))
            found.append(
                CommittedReader(
                    partitions=partitions, wait_us=waits, poll_us=max(polls, 0 if waits else 200 * MS),
                    most_bytes=readers.sub("bytes").weighted(((2, 1 << 20), (1, 1), (1, 1_000))),
                    goes_back=readers.sub("back").weighted(((3, 0), (1, 15))),
                    start_us=readers.weighted(((3, 0), (1, readers.moment((0, draft.faults[1]))))),
                    stop_us=self.end_us(draft),
                )
            )  # fmt: skip
        raises = not is_before(PROFILES[draft.scenario.profile].release, RAISES_SINCE)
        together = not zombies and draws.sub("together").chance(TOGETHER)
        for number in range(2 if zombies else draws.between((1, 2)) + together):
            own = draws.sub(number)
            patient = own.sub("patient").chance(PATIENT)
            found.append(
                Transactional(
                    id="writer" if zombies else f"writer-{number}", partitions=partitions,
                    group=GROUP if own.chance(0.5) or together else "",
                    pause_us=own.weighted(((1, 300 * MS), (3, 2 * SECOND))),
                    timeout_us=own.choice((2, 5, 15)) * SECOND, aborts=own.choice((0, 20, 50)),
                    stalls=40 if patient else own.sub("stalls").weighted(((2, 0), (1, 15))),
                    rounds=8 if patient else own.sub("rounds").weighted(((2, 1), (1, 3))),
                    inits=own.sub("inits").weighted(((2, 0), (1, 30))),
                    raises=own.sub("raises").weighted(((2, 0), (1, 30), (1, 80))) if raises else 0,
                    start_us=own.weighted(((3, 0), (1, own.moment((0, draft.faults[1]))))), stop_us=self.end_us(draft),
                )
            )  # fmt: skip
        asks, grouped = draws.sub("asks"), any(one.group for one in found if isinstance(one, Transactional))
        if grouped and asks.chance(ASKS):
            pause_us = asks.weighted(((1, 200 * MS), (2, SECOND)))
            found.append(
                OffsetReader(group=GROUP, partitions=partitions, pause_us=pause_us, stop_us=self.end_us(draft))
            )
        return found


@chaos(
    "coordinators-again",
    "coordinators of groups and transactions change: by moves, elections and faults, and the first one may be back",
)
@frozen(kw_only=True)
class CoordinatorsAgain(Episodes):
    turn = 2

    times: Range = field(default=(1, 3), metadata=key(COUNT, "how many such series there are in a run"))

    def episode(self, scope: Scope, draws: Draws) -> None:
        draft = scope.draft
        if not draft.internal:
            return
        partition = draws.choice(draft.internal)
        series: list[Strike] = []
        if draws.sub("clocks").chance(CLOCKS):
            series.append(
                Strike(self._behind(draws), Target(brokers=(draws.sub("late").choice(draft.replicas(partition)),)))
            )
        for turn in range(draws.between((1, 4))):
            own = draws.sub(turn)
            if own.sub("waits").chance(WAITS):
                series.append(self._gone(scope, own.sub("gone")))
                if own.sub("clocks").chance(CLOCKS):  # between what is decided and its end
                    coordinator = Target(role=f"leader({partition})")
                    gap_us = own.sub("clocks").spread((20 * MS, 2 * SECOND))
                    series.append(Strike(self._behind(own), coordinator, gap_us=gap_us))
            if own.sub("dies").chance(DIES_TOO):
                away_us = own.sub("dies").spread((12 * SECOND, 40 * SECOND))
                dies = Strike(ClientCrash(), Target(role="any client"), away_us)
                series.append(dies._replace(gap_us=own.sub("dies").spread((20 * MS, SECOND))))
            one = self._change(scope, own, partition)
            series.append(one._replace(gap_us=own.spread((20 * MS, 8 * SECOND))))
        at_us, middle = draft.moment(draws), draws.sub("middle")
        if not middle.chance(IN_THE_MIDDLE):
            draft.add(At(at_us), series)
            return
        when = WhenMessage(
            message=middle.choice(MESSAGES), response=middle.chance(0.5), edge="delivered",
            occurrence=middle.between((1, 4)), since=at_us,
        )  # fmt: skip
        draft.add(when, [series[0]._replace(gap_us=0), *series[1:]], at_us=at_us)

    @staticmethod
    def _behind(draws: Draws) -> BrokerClock:
        return BrokerClock(offset_us=-draws.sub("behind").spread((SECOND, 600 * SECOND)))

    @staticmethod
    def _gone(scope: Scope, draws: Draws) -> Strike:
        """A leader that markers wait for is gone for a while."""
        leader = Target(role=f"leader({scope.partition(draws)})")
        one = draws.weighted(((3, strikes.short_crash), (2, strikes.crash), (2, strikes.pause)))(scope, draws, leader)
        return one._replace(gap_us=draws.spread((20 * MS, 4 * SECOND)))

    @staticmethod
    def _change(scope: Scope, draws: Draws, partition: str) -> Strike:
        """An event after which another broker coordinates, or the same one again; or a client that dies meanwhile."""
        leader = Target(role=f"leader({partition})")
        here = scope.draft.replicas(partition)
        free = [broker for broker in scope.brokers if broker not in here]
        there = (*draws.some(free, 1), *draws.some(here, max(1, len(here) - 1)))
        way = draws.weighted(((3, "fault"), (4, "election"), (4, "move"), (2, "client")))
        if way == "election":
            return Strike(ElectionPreferred(partitions=(partition,)))
        if way == "client":
            return Strike(ClientCrash(), Target(role="any client"), draws.spread(strikes.SHORT))
        if way == "move":
            scope.draft.moved(partition, there)
            topic, number = split_partition(partition)
            return Strike(ReassignExecute(plan=Plan(partitions=[Move(topic=topic, partition=number, replicas=there)])))
        ways = (
            (3, strikes.expire),
            (3, strikes.short_crash),
            (2, strikes.shut_down),
            (1, strikes.pause),
            (1, strikes.cut),
        )
        one = draws.weighted(ways)(scope, draws, leader)
        lasts_us = draws.sub("lasts").spread(strikes.SHORT)
        return one if isinstance(one.action, ZkExpire) else one._replace(duration_us=lasts_us)
