"""Metadata for real clients: what the broker's cache says, and topics that are created because a client asks for them
(KafkaApis.handleTopicMetadataRequest, 2.3)."""

from attrs import define, evolve

from brokers.metadata_cache import MetadataCache, Topics
from brokers.policies import BrokerPolicies
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from brokers.topic_creation import INTERNAL_TOPICS, AdminZkClient
from emulator.logger import get_logger
from emulator.network import Channel
from emulator.protocol.clients.metadata import (
    ClientMetadataRequest,
    ClientMetadataResponse,
    PartitionAnswer,
    TopicAnswer,
)
from emulator.protocol.errors import NO_ERROR, ApiException, Errors
from emulator.protocol.types import NO_LEADER
from emulator.protocol.update_metadata import PartitionMetadata
from emulator.zookeeper import SessionExpired


@define(eq=False)
class ClientMetadataHandler:
    """Answers real clients. While a topic is being created, its connection waits, as in Kafka."""

    manager: ReplicaManager
    admin_zk: AdminZkClient

    @property
    def _cache(self) -> MetadataCache:
        return self.manager.metadata

    @property
    def _policies(self) -> BrokerPolicies:
        return self.manager.policies

    @handles(ClientMetadataRequest)
    def metadata(self, request: ClientMetadataRequest, channel: Channel) -> None:
        known = self._cache.topics
        unknown = [topic for topic in dict.fromkeys(request.topics or ()) if topic not in known]
        if unknown and request.creates and self._policies.config.auto_create_topics_enable:
            self.manager.process.spawn(self._create_and_answer, request, channel, unknown, name="create topics")
        else:
            self._answer(request, channel, dict.fromkeys(unknown, Errors.UNKNOWN_TOPIC_OR_PARTITION))

    async def _create_and_answer(self, request: ClientMetadataRequest, channel: Channel, topics: list[str]) -> None:
        self._answer(request, channel, {topic: await self._create(topic) for topic in topics})

    async def _create(self, topic: str) -> Errors:
        """Create a topic with the settings for such topics. The error that its client gets: its leaders are not elected
        yet."""
        if topic in INTERNAL_TOPICS:
            return Errors.UNKNOWN_TOPIC_OR_PARTITION
        config = self._policies.config
        try:
            await self.admin_zk.create_topic(topic, config.num_partitions, config.default_replication_factor)
        except ApiException as refused:
            if refused.error.code is not Errors.TOPIC_ALREADY_EXISTS:  # otherwise another broker was faster
                log = get_logger("brokers.metadata")
                log.warning("the topic was not created", topic=topic, why=str(refused))
                return refused.error.code
        except SessionExpired:
            return Errors.UNKNOWN_SERVER_ERROR
        return Errors.LEADER_NOT_AVAILABLE

    def _answer(self, request: ClientMetadataRequest, channel: Channel, unknown: dict[str, Errors]) -> None:
        known = self._cache.topics
        wanted = known if request.topics is None else dict.fromkeys(request.topics)
        alive = self._cache.live_brokers
        answers = tuple(
            _described(topic, known, alive, request.only_alive)
            if topic in known
            else TopicAnswer(topic, unknown.get(topic, Errors.UNKNOWN_TOPIC_OR_PARTITION))
            for topic in wanted
        )
        states = tuple(partition.state for answer in answers for partition in answer.partitions)
        response = ClientMetadataResponse(states, alive, self._cache.controller, answers)
        channel.reply(response, response.size)


def _described(topic: str, known: Topics, alive: tuple[int, ...], only_alive: bool) -> TopicAnswer:
    states = sorted(known[topic].values(), key=lambda state: state.tp.partition)
    return TopicAnswer(topic, NO_ERROR, tuple(_seen(state, alive, only_alive) for state in states))


def _seen(state: PartitionMetadata, alive: tuple[int, ...], only_alive: bool) -> PartitionAnswer:
    """A partition as a client sees it (MetadataCache.getPartitionMetadata, 2.7)."""
    error = NO_ERROR
    if state.leader not in alive:
        state, error = evolve(state, leader=NO_LEADER), Errors.LEADER_NOT_AVAILABLE
    if only_alive:
        living = evolve(state, replicas=_those(state.replicas, alive), isr=_those(state.isr, alive))
        if not error and (living.replicas, living.isr) != (state.replicas, state.isr):
            error = Errors.REPLICA_NOT_AVAILABLE
        state = living
    return PartitionAnswer(error, state)


def _those(brokers: tuple[int, ...], alive: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(broker for broker in brokers if broker in alive)
