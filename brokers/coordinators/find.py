"""FindCoordinator: any broker says which broker coordinates a group or a transactional id, by its metadata; the first
one that is asked creates the coordinators' topic (KafkaApis.handleFindCoordinatorRequest, 2.3)."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from attrs import define, field

from brokers.coordinators.internal_topic import InternalTopicPartitions
from brokers.metadata_cache import MetadataCache
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, ApiException, Errors
from emulator.protocol.groups.find_coordinator import FoundCoordinator
from emulator.zookeeper import SessionExpired

CreateTopic = Callable[[str, int, int, dict[str, str]], Awaitable[object]]
"""A function that creates a topic: its name, how many partitions and replicas, its settings. Raises: ApiException,
SessionExpired."""


class InternalTopicConfig(Protocol):
    """The numbers of partitions and replicas with which a coordinators' topic is created."""

    @property
    def num_partitions(self) -> int: ...
    @property
    def replication_factor(self) -> int: ...


class CoordinatorStore(Protocol):
    """The state of the coordinators of one kind (``GroupMetadataManager``,
    ``brokers.transactions.transaction_state_manager``)."""

    @property
    def partitions(self) -> InternalTopicPartitions: ...

    @property
    def config(self) -> InternalTopicConfig: ...

    @property
    def topic_settings(self) -> dict[str, str]: ...


@define(eq=False)
class CoordinatorFinder:
    """The FindCoordinator requests of one broker.

    Attributes:
        store_of: the store of the coordinators of a ``CoordinatorType``; None: Kafka has no such type.
    """

    process: Process
    metadata: MetadataCache
    store_of: Callable[[int], CoordinatorStore | None]
    create_topic: CreateTopic
    _creating: dict[str, None] = field(factory=dict)

    def find(self, key: str, key_type: int) -> FoundCoordinator:
        """The coordinator of ``key``; COORDINATOR_NOT_AVAILABLE until it is known."""
        store = self.store_of(key_type)
        if store is None:
            return FoundCoordinator(key, Errors.INVALID_REQUEST, message=f"{key_type} is no type of coordinators")
        metadata = self.metadata
        partitions = metadata.partitions_of(store.partitions.topic)
        if not partitions:
            self._create(store)
            return FoundCoordinator(key, Errors.COORDINATOR_NOT_AVAILABLE)
        state = partitions.get(store.partitions.partition_for(key))
        if state is None or state.leader not in metadata.live_brokers:
            return FoundCoordinator(key, Errors.COORDINATOR_NOT_AVAILABLE)
        return FoundCoordinator(key, NO_ERROR, state.leader)

    def _create(self, store: CoordinatorStore) -> None:
        """Begin to create the topic, if enough brokers are alive."""
        alive, wanted, topic = len(self.metadata.live_brokers), store.config.replication_factor, store.partitions.topic
        if alive < wanted:
            get_logger("brokers.coordinators").error(
                f"too few brokers are alive for {topic}", alive=alive, wanted=wanted
            )
        elif topic not in self._creating:
            self._creating[topic] = None
            self.process.spawn(self._create_topic, topic, store, name=f"create {topic}")

    async def _create_topic(self, topic: str, store: CoordinatorStore) -> None:
        config = store.config
        try:
            await self.create_topic(topic, config.num_partitions, config.replication_factor, store.topic_settings)
        except (ApiException, SessionExpired) as refused:  # another broker was faster; or a client asks again
            get_logger("brokers.coordinators").info(f"{topic} is not created", reason=str(refused))
        finally:
            del self._creating[topic]
