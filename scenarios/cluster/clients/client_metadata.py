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
    partitions: dict[TopicPartition, PartitionMetadata] = field(factory=dict)
    _question: Question = field(init=False)

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
            if tp in known:
                self.partitions[tp] = known[tp]
        if any(tp not in known or known[tp].leader < 0 for tp in self.wanted):
            self.ask()
        self.learnt()
