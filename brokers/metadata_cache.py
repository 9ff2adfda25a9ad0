"""The metadata with which a broker answers clients, as received from the controller (MetadataCache, 2.3).

Brokers that have received the same updates share one table; a table for each would take most of a large cluster's
memory.
"""

from collections.abc import Callable, Mapping, Sequence
from weakref import ref

from attrs import define, field

from emulator.protocol.leader_and_isr import NO_TOPIC_IDS
from emulator.protocol.metadata import NO_CONTROLLER, MetadataRequest, MetadataResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest

Topics = Mapping[str, Mapping[int, PartitionMetadata]]
Update = tuple[PartitionMetadata, ...]


class Snapshot:
    """All partitions after an update, by topic and number. It is immutable: the next update creates another.

    It remembers its last successor, so that all brokers that hold it and receive the same update share the result. The
    reference is weak: a broker that lags must not keep all later snapshots in memory.

    Attributes:
        deleted: the partitions that the update names as deleted.
        topic_ids: the ids of the topics; empty before KIP-516 (2.8).
    """

    __slots__ = ("__weakref__", "_names", "_next", "_update", "deleted", "topic_ids", "topics")

    def __init__(self, topics: Topics, update: Update, topic_ids: Mapping[str, str] = NO_TOPIC_IDS) -> None:
        self.topics = topics
        self.topic_ids = topic_ids
        self._update = update
        self.deleted = tuple([state.tp for state in update if state.leader == LEADER_DURING_DELETE])
        self._next: ref[Snapshot] | None = None
        self._names: Mapping[str, str] | None = None

    @property
    def topic_names(self) -> Mapping[str, str]:
        """The names of the topics by id. They are made when a client asks by ids for the first time."""
        if self._names is None:
            self._names = {topic_id: topic for topic, topic_id in self.topic_ids.items()}
        return self._names

    def after(self, update: Update, topic_ids: Mapping[str, str] = NO_TOPIC_IDS) -> "Snapshot":
        """The snapshot after ``update``, which names ``topic_ids``."""
        if not update:
            return self
        following = None if self._next is None else self._next()
        if following is None or following._update is not update:
            topics = _updated(self.topics, update)
            following = Snapshot(topics, update, _identified(topics, self.topic_ids, topic_ids))
            self._next = ref(following)
        return following


def _updated(before: Topics, update: Update) -> Topics:
    """``before`` with ``update``; topics that are not in the update are shared."""
    topics = dict(before)
    touched: dict[str, dict[int, PartitionMetadata]] = {}
    for state in update:
        topic, partition = state.tp
        table = touched.get(topic)
        if table is None:
            table = touched[topic] = topics[topic] = dict(before.get(topic, {}))
        if state.leader == LEADER_DURING_DELETE:
            table.pop(partition, None)
        else:
            table[partition] = state
    for topic, table in touched.items():
        if not table:
            del topics[topic]
    return topics


def _identified(topics: Topics, before: Mapping[str, str], named: Mapping[str, str]) -> Mapping[str, str]:
    """The ids of ``topics``; the mapping ``before`` itself where nothing has changed, as in most updates."""
    if named.items() <= before.items() and before.keys() <= topics.keys():
        return before
    return {topic: topic_id for topic, topic_id in {**before, **named}.items() if topic in topics}


NOTHING_KNOWN = Snapshot({}, ())


@define(eq=False)
class MetadataCache:
    """The newest state of each partition.

    Attributes:
        live_brokers: the live brokers, as of the last update.
        controller: the broker that sent the last update.
        deleted: the partitions that the last update named as deleted.
        watchers: called after each update.
    """

    live_brokers: tuple[int, ...] = ()
    controller: int = NO_CONTROLLER
    deleted: Sequence[TopicPartition] = ()
    watchers: list[Callable[[], object]] = field(factory=list)
    _snapshot: Snapshot = NOTHING_KNOWN

    def update(self, request: UpdateMetadataRequest) -> None:
        self.live_brokers = request.live_brokers
        self.controller = request.controller_id
        self._snapshot = self._snapshot.after(request.partitions, request.topic_ids)
        self.deleted = self._snapshot.deleted if request.partitions else ()
        for look in self.watchers:
            look()

    def forget(self) -> None:
        """Free the table, because the process has ended. The other brokers do not share it any more after their next
        update."""
        self._snapshot = NOTHING_KNOWN

    @property
    def topics(self) -> Topics:
        """Everything that is known, by topic and number."""
        return self._snapshot.topics

    @property
    def topic_ids(self) -> Mapping[str, str]:
        """The ids of the topics that are known; empty before KIP-516 (2.8)."""
        return self._snapshot.topic_ids

    @property
    def topic_names(self) -> Mapping[str, str]:
        """The names of the topics that are known, by id (MetadataCache.topicIdsToNames)."""
        return self._snapshot.topic_names

    def knows(self, tp: TopicPartition) -> bool:
        """Whether the partition is in the cache."""
        return tp.partition in self._snapshot.topics.get(tp.topic, ())

    def knows_topic(self, tp: TopicPartition) -> bool:
        """Whether any partition of its topic is in the cache."""
        return tp.topic in self._snapshot.topics

    def partitions_of(self, topic: str) -> Mapping[int, PartitionMetadata]:
        """The partitions of a topic by number; none if it is not in the cache."""
        return self._snapshot.topics.get(topic, {})

    def answer(self, request: MetadataRequest) -> MetadataResponse:
        """The response to a client's request."""
        wanted, topics = request.topics, self._snapshot.topics
        tables = (table.values() for topic, table in topics.items() if wanted is None or topic in wanted)
        known = tuple(state for states in tables for state in states)
        return MetadataResponse(known, self.live_brokers, self.controller, self._snapshot.topic_ids)


def serves_all(_metadata: MetadataCache, _tp: TopicPartition) -> bool:
    """Whether a broker may serve a partition, where its metadata is not asked."""
    return True
