"""The base of the checkers of what coordinators have in their topic."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from brokers.groups.config import GROUP_METADATA_TOPIC
from emulator.protocol.events import NodeCrashed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.past.changes import StateWritten


class CoordinatorsLog(Checker):
    """The base. An unclean election, a deletion of the topic, or the crash of a machine may lose what is there.

    Attributes:
        topic: __consumer_offsets, or __transaction_state.
    """

    topic: ClassVar[str] = GROUP_METADATA_TOPIC

    @abstractmethod
    def forget_written(self) -> None:
        """Forget what was written before: it may be lost."""

    def on_crashed(self, event: NodeCrashed) -> None:
        if event.kind == "host":
            self.forget_written()

    def on_written(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if event.tp.topic == self.topic and before is not None:
            unclean = state is not None and state.leader >= 0 and state.leader not in before.isr
            if state is None or unclean:
                self.forget_written()

    def coordinates(self, node: int, home: TopicPartition) -> bool:
        """Whether a broker leads a partition as ZooKeeper has it, in its leader epoch."""
        leads, state = self.cluster.leads(node, home), self.cluster.state(home)
        if leads is None or state is None:
            return False
        return (state.leader, state.leader_epoch) == (node, leads.leader_epoch)
