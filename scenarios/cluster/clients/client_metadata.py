"""A client's metadata: the leaders of its partitions (Metadata, 2.3)."""

from collections.abc import Callable

from attrs import define, field

from emulator.network import Network
from emulator.nodes import Process
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata
from scenarios.cluster.clients.question import Question


@define(eq=False)
class ClientMetadata:
    """Requested when something failed, and again while a partition has no leader. A partition that a response leaves
    out keeps its last state.

    A client that ``knows_epochs`` keeps the newest state: that of an older leader epoch comes from a broker whose cache
    is stale (``Metadata.updatePartitionInfo``, 2.3.1). Epochs of a topic that was created again start over; a client
    sees that by the topic's id alone (KAFKA-12257), and otherwise waits for the epoch that it knows.

    Attributes:
        partitions: the last known state of the client's partitions; empty before the first response.
        learnt: called after each response.
    """

    network: Network
    process: Process
    brokers: tuple[int, ...]
    wanted: tuple[TopicPartition, ...]
    backoff_us: int
    timeout_us: int
    learnt: Callable[[], object]
    knows_epochs: bool
    partitions: dict[TopicPartition, PartitionMetadata] = field(factory=dict)
    _question: Question = field(init=False)
    _topic_ids: dict[TopicPartition, str] = field(factory=dict)
    """The id of its topic, by partition; empty before KIP-516 (2.8)."""

    def __attrs_post_init__(self) -> None:
        request = MetadataRequest(tuple(dict.fromkeys(tp.topic for tp in self.wanted)))
        self._question = Question(
            self.network, self.process, self.brokers, self.backoff_us, self.timeout_us, request, self._learn,
            background=True,
        )  # fmt: skip

    def ask(self) -> None:
        """Request an update."""
        self._question.ask()

    def _learn(self, response: MetadataResponse) -> None:
        known = {state.tp: state for state in response.partitions}
        for tp in self.wanted:
            topic_id = response.topic_ids.get(tp.topic, "")
            if tp in known and self._is_newest(known[tp], topic_id):
                self.partitions[tp], self._topic_ids[tp] = known[tp], topic_id
        if any(tp not in known or self.partitions[tp].leader < 0 for tp in self.wanted):
            self.ask()
        self.learnt()

    def _is_newest(self, state: PartitionMetadata, topic_id: str) -> bool:
        before = self.partitions.get(state.tp)
        if before is None or not self.knows_epochs or state.leader_epoch >= before.leader_epoch:
            return True
        return bool(topic_id) and topic_id != self._topic_ids.get(state.tp)
