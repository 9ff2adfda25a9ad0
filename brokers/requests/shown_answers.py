"""The answers to administrators, as checkers see them."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.shown import AdministratorAnswered

ASKED = frozenset((
    "AlterConfigs", "AlterPartitionReassignments", "AlterReplicaLogDirs", "ControlledShutdown", "CreatePartitions",
    "CreateTopics", "DeleteGroups", "DeleteTopics", "DescribeCluster", "DescribeConfigs", "DescribeGroups",
    "DescribeLogDirs", "DescribeProducers", "DescribeTransactions", "ElectLeaders", "IncrementalAlterConfigs",
    "ListGroups", "ListPartitionReassignments", "ListTransactions", "OffsetDelete",
))  # fmt: skip
"""The requests of administrators, and of brokers that shut down."""


@frozen
class ShownAnswers:
    """Shows the answers of one broker.

    Attributes:
        count: counts an answer: the request, the answer, and whether it was in the background.
    """

    process: Process
    count: Callable[[Any, Any, bool], object]

    def answered(self, channel: Channel, response: Any, background: bool) -> None:
        """Called with each answer (``Channel.answered``)."""
        request = channel.request
        self.count(request, response, background)
        if request.api.name in ASKED:
            process = self.process
            process.show(AdministratorAnswered, process.node.id, request, response, channel.since_us)
