"""What a broker tells clients, as the controller told it. Entries are shared between brokers and never mutated."""

from attrs import define, field

from emulator.protocol.metadata import NO_CONTROLLER, MetadataRequest, MetadataResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest


@define(eq=False)
class MetadataCache:
    """The newest state of each partition, the brokers alive, and who told it."""

    partitions: dict[TopicPartition, PartitionMetadata] = field(factory=dict)
    live_brokers: tuple[int, ...] = ()
    controller: int = NO_CONTROLLER

    def update(self, request: UpdateMetadataRequest) -> None:
        """Take over an UpdateMetadata request."""
        self.live_brokers = request.live_brokers
        self.controller = request.controller_id
        for state in request.partitions:
            if state.leader == LEADER_DURING_DELETE:
                self.partitions.pop(state.tp, None)
            else:
                self.partitions[state.tp] = state

    def answer(self, request: MetadataRequest) -> MetadataResponse:
        """What a client is told about ``request.topics``."""
        wanted = request.topics
        if wanted == ():
            return MetadataResponse((), self.live_brokers, self.controller)
        known = tuple(state for tp, state in self.partitions.items() if wanted is None or tp.topic in wanted)
        return MetadataResponse(known, self.live_brokers, self.controller)
