"""FindCoordinator: any broker says which broker coordinates a group, by its metadata; the first one that is asked
creates ``__consumer_offsets`` (KafkaApis.handleFindCoordinatorRequest, 2.3)."""

from collections.abc import Awaitable, Callable

from attrs import define

from brokers.groups.records import GROUP_METADATA_TOPIC
from brokers.groups.store import GroupStore
from emulator.logger import get_logger
from emulator.protocol.errors import NO_ERROR, ApiException, Errors
from emulator.protocol.groups.find_coordinator import CoordinatorType, FoundCoordinator
from emulator.zookeeper import SessionExpired

CreateTopic = Callable[[str, int, int, dict[str, str]], Awaitable[object]]
"""Creates a topic: its name, how many partitions and replicas, its settings. Raises: ApiException, SessionExpired."""


@define(eq=False)
class CoordinatorFinder:
    """One broker's."""

    store: GroupStore
    create_topic: CreateTopic
    _creating: bool = False

    def find(self, key: str, key_type: int) -> FoundCoordinator:
        """The coordinator of ``key``; COORDINATOR_NOT_AVAILABLE until it is known."""
        if key_type == CoordinatorType.TRANSACTION:
            return FoundCoordinator(key, Errors.UNSUPPORTED_VERSION, message="transactions are not emulated")
        if key_type != CoordinatorType.GROUP:
            return FoundCoordinator(key, Errors.INVALID_REQUEST, message=f"{key_type} is no type of coordinators")
        metadata = self.store.manager.metadata
        partitions = metadata.partitions_of(GROUP_METADATA_TOPIC)
        if not partitions:
            self._create()
            return FoundCoordinator(key, Errors.COORDINATOR_NOT_AVAILABLE)
        state = partitions.get(self.store.partition_for(key))
        if state is None or state.leader not in metadata.live_brokers:
            return FoundCoordinator(key, Errors.COORDINATOR_NOT_AVAILABLE)
        return FoundCoordinator(key, NO_ERROR, state.leader)

    def _create(self) -> None:
        """Begin to create the topic, if enough brokers are alive."""
        alive, config = len(self.store.manager.metadata.live_brokers), self.store.config
        if alive < config.replication_factor:
            get_logger("brokers.groups").error(
                "too few brokers are alive for __consumer_offsets", alive=alive, wanted=config.replication_factor
            )
        elif not self._creating:
            self._creating = True
            self.store.process.spawn(self._create_topic, name="create __consumer_offsets")

    async def _create_topic(self) -> None:
        config = self.store.config
        settings = {"cleanup.policy": "compact", "segment.bytes": str(config.segment_bytes)}
        try:
            await self.create_topic(GROUP_METADATA_TOPIC, config.num_partitions, config.replication_factor, settings)
        except (ApiException, SessionExpired) as refused:  # another broker was faster; or a client asks again
            get_logger("brokers.groups").info("__consumer_offsets is not created", reason=str(refused))
        finally:
            self._creating = False
