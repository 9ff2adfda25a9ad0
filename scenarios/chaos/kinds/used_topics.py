"""Topics that groups and transactions use, and that are deleted meanwhile; readers with fetch sessions."""

from __future__ import annotations

from attrs import evolve, field, frozen

from scenarios.chaos.block_draws import MS, Draws
from scenarios.chaos.draft import SECOND, Draft, Strike
from scenarios.chaos.kind import DrawnChaos
from scenarios.chaos.kinds.coordinated import Coordinated
from scenarios.cluster.clients.behaviours.group_member import GroupMember
from scenarios.cluster.clients.behaviours.session_reader import SessionReader
from scenarios.cluster.clients.behaviours.transactional import Transactional
from scenarios.faults.actions.topic_actions import TopicCreate, TopicDelete
from scenarios.language.chaos import SHARE, chaos
from scenarios.language.clients import Behaviour
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import TopicSpec
from scenarios.language.triggers import At
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

SESSIONS_SINCE = "1.1"
"""The first release with fetch sessions (KIP-227)."""
SLOTS = "max.incremental.fetch.session.cache.slots"


@chaos("used-topics", "a topic that members of a group or transactional producers use is deleted, and may come again")
@frozen(kw_only=True)
class UsedTopics(DrawnChaos):
    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        scenario = draft.scenario
        users = [one for one in scenario.clients if isinstance(one, GroupMember | Transactional)]
        if not users or not PROFILES[scenario.profile].policies.deletes_topics:
            return
        name, brokers = f"used-{len(draft.made)}", scenario.cluster.ids
        draft.made.append(name)
        replicas = draws.between((1, min(3, len(brokers))))
        partitions = draws.between((1, 2))
        topic = TopicSpec(name=name, assignment=[draws.some(brokers, replicas) for _ in range(partitions)])
        last = draws.choice(users)
        used = [one for one in users if one is last or draws.chance(0.5)]
        draft.change(
            clients=tuple(self._using(one, topic) if one in used else one for one in scenario.clients)
        )  # fmt: skip
        draft.add(At(draws.moment((100 * MS, 2 * SECOND))), [Strike(TopicCreate(topic=topic))])
        goes = [Strike(TopicDelete(topic=name))]
        again = draws.sub("again")
        if again.chance(0.4):
            goes.append(Strike(TopicCreate(topic=topic), gap_us=again.spread((5 * MS, 8 * SECOND))))
            if again.chance(0.3):
                goes.append(Strike(TopicDelete(topic=name), gap_us=again.spread((100 * MS, 8 * SECOND))))
        draft.add(At(draft.moment(draws)), goes)

    @staticmethod
    def _using(client: Behaviour, topic: TopicSpec) -> Behaviour:
        """The client, which uses the topic, too. What a producer has for a deleted topic, it gives up soon."""
        assert isinstance(client, GroupMember | Transactional)
        partitions = (*client.partitions, *topic.partition_names)
        if isinstance(client, Transactional):
            return evolve(client, partitions=partitions, delivery_us=min(client.timeout_us, 5 * SECOND))
        return evolve(client, partitions=partitions)


@chaos("fetch-sessions", "consumers that read in fetch sessions and change what they read, also where brokers keep few")
@frozen(kw_only=True)
class FetchSessions(DrawnChaos):
    turn = 1

    share: float = field(default=0.5, metadata=key(SHARE, "the share of seeds that have it"))

    def draw(self, draft: Draft, draws: Draws) -> None:
        scenario = draft.scenario
        if is_before(PROFILES[scenario.profile].release, SESSIONS_SINCE) or not scenario.topics:
            return
        partitions = tuple(
            name for topic in scenario.topics if topic.partition_names[0] not in draft.internal
            for name in topic.partition_names
        )  # fmt: skip
        made = [self._reader(draft, draws.sub(number), partitions) for number in range(draws.between((1, 2)))]
        draft.change(clients=(*scenario.clients, *made))
        if draws.sub("slots").chance(0.4):
            cluster = scenario.cluster
            draft.change(cluster=evolve(cluster, config={SLOTS: draws.sub("slots").choice((1, 2)), **cluster.config}))

    @staticmethod
    def _reader(draft: Draft, draws: Draws, partitions: tuple[str, ...]) -> SessionReader:
        return SessionReader(
            partitions=partitions, wait_us=draws.weighted(((3, 500 * MS), (1, 2 * SECOND))),
            changes=draws.weighted(((1, 0), (3, draws.between((2, 12))))),
            start_us=draws.weighted(((3, 0), (1, draws.moment((0, draft.faults[1]))))),
            stop_us=Coordinated.end_us(draft),
        )  # fmt: skip
