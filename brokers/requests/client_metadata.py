"""Metadata (API 3): what the broker's cache says, and topics that are created because a client asks for them.

Behavior (KafkaApis.handleTopicMetadataRequest, 2.3): a topic that is not in the cache is created where the client and
the broker allow it, an internal one always; its client gets LEADER_NOT_AVAILABLE. Emulated clients create nothing, and
get the leaders in the cache whether these are alive or not.

Version notes:

- v0: replicas that are not alive are left out, with REPLICA_NOT_AVAILABLE
- v10 (2.8, KIP-516): answers have topic ids; v12 (3.1): topics can be asked for by them, and none is created then
- 2.8 (KAFKA-9751): an internal topic is created only where the client and the settings allow it, and a name that no
  topic can have is INVALID_TOPIC_EXCEPTION: ``internal_topics_need_leave``
- up to 2.3 a partition without a leader has no ISR (KAFKA-8442): ``shows_isr_of_leaderless``; up to 2.4 no leader epoch
  (KAFKA-9261): ``shows_epoch_of_leaderless``
- from v6 (2.0, KAFKA-6546) up to 2.6 its error is LISTENER_NOT_FOUND (KAFKA-10312): ``leaderless_lacks_listener``
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, evolve, field

from brokers.broker_policies import BrokerPolicies
from brokers.metadata_cache import MetadataCache, Topics
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from brokers.topic_creation import AdminZkClient, check_name
from emulator.logger import get_logger
from emulator.network import Channel
from emulator.protocol.clients.metadata import (
    ClientMetadataRequest,
    ClientMetadataResponse,
    PartitionAnswer,
    TopicAnswer,
)
from emulator.protocol.errors import NO_ERROR, ApiException, Errors
from emulator.protocol.fetch import NO_EPOCH
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.types import NO_LEADER
from emulator.protocol.update_metadata import PartitionMetadata
from emulator.zookeeper import SessionExpired

if TYPE_CHECKING:
    from brokers.coordinators.find import CoordinatorStore

MOST_TOLD = 1000
"""The refused topics that a broker remembers. A client may ask for any number of names."""


@define(eq=False)
class MetadataHandler:
    """Answers clients. While a topic is being created, its connection waits, as in Kafka.

    Attributes:
        internal_topic: the function from an internal topic to its coordinators' store; None: not an internal topic.
    """

    manager: ReplicaManager
    admin_zk: AdminZkClient
    internal_topic: "Callable[[str], CoordinatorStore | None]"
    _told: dict[str, Errors] = field(factory=dict)
    """The topics whose refusal is in the log, each with its error."""

    @property
    def _cache(self) -> MetadataCache:
        return self.manager.metadata

    @property
    def _policies(self) -> BrokerPolicies:
        return self.manager.policies

    @handles(MetadataRequest)
    def metadata(self, request: MetadataRequest, channel: Channel) -> None:
        """Answer an emulated client."""
        response = self._cache.answer(request)
        channel.reply(response, response.size)

    @handles(ClientMetadataRequest)
    def metadata_for_client(self, request: ClientMetadataRequest, channel: Channel) -> None:
        """Answer a real client. One that asks by topic ids gets the topics that have them (handleTopicMetadataRequest,
        3.1). An internal topic is created whatever the client and the settings allow
        (KafkaApis.getTopicMetadata)."""
        known = self._cache.topics
        if request.topic_ids:
            self._answer(request, channel, known, {})
            return
        unknown = [topic for topic in dict.fromkeys(request.topics or ()) if topic not in known]
        creates = request.creates and self._policies.config.auto_create_topics_enable
        asks = self._policies.internal_topics_need_leave
        created = [topic for topic in unknown if creates or (not asks and self.internal_topic(topic) is not None)]
        errors = {topic: _why_unknown(topic) if asks else Errors.UNKNOWN_TOPIC_OR_PARTITION for topic in unknown}
        if created:
            self.manager.process.spawn(self._create_and_answer, request, channel, errors, created, name="create topics")
        else:
            self._answer(request, channel, known, errors)

    async def _create_and_answer(
        self, request: ClientMetadataRequest, channel: Channel, errors: dict[str, Errors], created: list[str]
    ) -> None:
        """The first of several may have leaders before the last is created; its client is not answered so."""
        known = self._cache.topics
        for topic in created:
            errors[topic] = await self._create(topic)
        self._answer(request, channel, known, errors)

    async def _create(self, topic: str) -> Errors:
        """Create a topic with the settings for such topics. The error that its client gets: its leaders are not elected
        yet."""
        if self._policies.internal_topics_need_leave and _why_unknown(topic) is Errors.INVALID_TOPIC_EXCEPTION:
            return Errors.INVALID_TOPIC_EXCEPTION  # before the brokers are counted (AutoTopicCreationManager)
        config, internal = self._policies.config, self.internal_topic(topic)
        partitions, factor = config.num_partitions, config.default_replication_factor
        if internal is not None:
            partitions, factor = internal.config.num_partitions, internal.config.replication_factor
            if len(self._cache.live_brokers) < factor:
                return Errors.INVALID_REPLICATION_FACTOR
        try:
            settings = None if internal is None else internal.topic_settings
            await self.admin_zk.create_topic(topic, partitions, factor, settings)
        except ApiException as refused:
            if refused.error.code is not Errors.TOPIC_ALREADY_EXISTS:  # otherwise another broker was faster
                self._tell(topic, refused)
                return refused.error.code
        except SessionExpired:
            return Errors.UNKNOWN_SERVER_ERROR
        return Errors.LEADER_NOT_AVAILABLE

    def _wanted(self, request: ClientMetadataRequest, known: Topics) -> tuple[list[str], Iterable[str]]:
        """The ids that no topic has, and the topics of the answer."""
        if not request.topic_ids:
            return [], known if request.topics is None else dict.fromkeys(request.topics)
        named, wanted = self._cache.topic_names, dict.fromkeys(request.topic_ids)
        return [each for each in wanted if each not in named], [named[each] for each in wanted if each in named]

    def _tell(self, topic: str, refused: ApiException) -> None:
        """Log that a topic was not created: once, though its client asks again several times a second."""
        code = refused.error.code
        if self._told.get(topic) is not code:
            if len(self._told) >= MOST_TOLD:
                del self._told[next(iter(self._told))]
            self._told[topic] = code
            get_logger("brokers.metadata").warning("the topic was not created", topic=topic, why=str(refused))

    def _answer(
        self, request: ClientMetadataRequest, channel: Channel, known: Topics, errors: dict[str, Errors]
    ) -> None:
        ids = self._cache.topic_ids
        unknown_ids, wanted = self._wanted(request, known)
        alive, policies = self._cache.live_brokers, self._policies
        is_alive = self.manager.process.node.id in alive
        mistaken = policies.leaderless_lacks_listener and is_alive and request.names_listeners
        leaderless = _Leaderless(
            Errors.LISTENER_NOT_FOUND if mistaken else Errors.LEADER_NOT_AVAILABLE,
            policies.shows_isr_of_leaderless,
            policies.shows_epoch_of_leaderless,
        )
        answers = tuple(
            TopicAnswer(topic, errors[topic])
            if topic in errors
            else _described(topic, known, alive, request.only_alive, leaderless, ids.get(topic, ""))
            for topic in wanted
        )
        answers = (*(TopicAnswer("", Errors.UNKNOWN_TOPIC_ID, (), each) for each in unknown_ids), *answers)
        states = tuple(partition.state for answer in answers for partition in answer.partitions)
        response = ClientMetadataResponse(states, alive, self._cache.controller, ids, topics=answers)
        channel.reply(response, response.size)


class _Leaderless(NamedTuple):
    """The answer for a partition whose leader is not alive: its error, and whether its ISR and its leader epoch are
    shown."""

    error: Errors
    isr: bool
    epoch: bool


def _described(
    topic: str, known: Topics, alive: tuple[int, ...], only_alive: bool, leaderless: _Leaderless, topic_id: str
) -> TopicAnswer:
    states = sorted(known[topic].values(), key=lambda state: state.tp.partition)
    seen = tuple(_seen(state, alive, only_alive, leaderless) for state in states)
    return TopicAnswer(topic, NO_ERROR, seen, topic_id)


def _seen(
    state: PartitionMetadata, alive: tuple[int, ...], only_alive: bool, leaderless: _Leaderless
) -> PartitionAnswer:
    """A partition as a client sees it (MetadataCache.getPartitionMetadata, 2.7)."""
    error = NO_ERROR
    if state.leader not in alive:
        isr, epoch = state.isr if leaderless.isr else (), state.leader_epoch if leaderless.epoch else NO_EPOCH
        state, error = evolve(state, leader=NO_LEADER, leader_epoch=epoch, isr=isr), leaderless.error
    if only_alive:
        living = evolve(state, replicas=_those(state.replicas, alive), isr=_those(state.isr, alive))
        if not error and (living.replicas, living.isr) != (state.replicas, state.isr):
            error = Errors.REPLICA_NOT_AVAILABLE
        state = living
    return PartitionAnswer(error, state)


def _those(brokers: tuple[int, ...], alive: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(broker for broker in brokers if broker in alive)


def _why_unknown(topic: str) -> Errors:
    """The error for a topic that does not exist, and is not created."""
    try:
        check_name(topic)
    except ApiException as refused:
        return refused.error.code
    return Errors.UNKNOWN_TOPIC_OR_PARTITION
