"""failedPartitions (KIP-461): the partitions of one manager that are not fetched any more because of an error."""

from collections.abc import Iterable

from attrs import define, field

from emulator.metrics import Gauge
from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from fetchers.kinds import Records


@define(eq=False)
class FailedPartitions:
    """The failed partitions of one manager. Only a higher leader epoch or StopReplica removes one.

    Attributes:
        count: the gauge FailedPartitionsCount.
    """

    process: Process
    records: Records
    count: Gauge
    _failed: dict[TopicPartition, None] = field(factory=dict)

    def __len__(self) -> int:
        return len(self._failed)

    def __contains__(self, tp: TopicPartition) -> bool:
        return tp in self._failed

    def add(self, tp: TopicPartition, fetcher: str, leader_epoch: int, reason: str, error: str) -> None:
        self._failed[tp] = None
        self.count.set(len(self._failed))
        self.process.emit(
            self.records.failed, self.process.node.id, fetcher, tp.topic, tp.partition, leader_epoch, reason, error
        )

    def remove(self, partitions: Iterable[TopicPartition], reason: str) -> None:
        for tp in partitions:
            if tp in self._failed:
                del self._failed[tp]
                self.count.set(len(self._failed))
                self.process.emit(self.records.failure_cleared, self.process.node.id, tp.topic, tp.partition, reason)
