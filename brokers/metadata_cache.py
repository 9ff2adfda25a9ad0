"""What a broker tells clients, as the controller told it. Entries are shared between brokers and never mutated."""

from attrs import define, field

from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest


@define(eq=False)
class MetadataCache:
    """The newest state of each partition, and the brokers alive."""

    partitions: dict[TopicPartition, PartitionMetadata] = field(factory=dict)
    live_brokers: tuple[int, ...] = ()

    def update(self, request: UpdateMetadataRequest) -> None:
        """Take over an UpdateMetadata request."""
        self.live_brokers = request.live_brokers
        for state in request.partitions:
            if state.leader == LEADER_DURING_DELETE:
                self.partitions.pop(state.tp, None)
            else:
                self.partitions[state.tp] = state

    def answer(self, request: MetadataRequest) -> MetadataResponse:
        """What a client is told about ``request.topics``; about everything if it names none."""
        wanted = request.topics
        known = tuple(state for tp, state in self.partitions.items() if not wanted or tp.topic in wanted)
        return MetadataResponse(known, self.live_brokers)
