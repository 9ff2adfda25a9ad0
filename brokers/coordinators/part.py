"""The part of a broker that is a coordinator, with an internal topic. The coordinator is imported and made when it is
first needed, which in many runs it never is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from attrs import define, field

from brokers.replica_manager import ReplicaManager
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.coordinators.appending import Appender


class PartitionCoordinator(Protocol):
    """A coordinator, as far as it follows the leadership of partitions."""

    def elected(self, partition: int, leader_epoch: int) -> object: ...

    def resigned(self, partition: int, leader_epoch: int | None) -> object: ...


C = TypeVar("C", bound=PartitionCoordinator)


@define(eq=False)
class CoordinatorPart(ABC, Generic[C]):
    """A coordinator as the replica manager of its broker sees it: made when it is first needed. It ignores deleted
    partitions."""

    manager: ReplicaManager
    appender: Appender
    _coordinator: C | None = field(default=None, init=False)

    @abstractmethod
    def _made(self) -> C:
        """The coordinator, imported and made."""

    @property
    def coordinator(self) -> C:
        if self._coordinator is None:
            self._coordinator = self._made()
        return self._coordinator

    @property
    def made(self) -> C | None:
        """The coordinator, if it was needed so far."""
        return self._coordinator

    def elected(self, partition: int, leader_epoch: int) -> None:
        self.coordinator.elected(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        if self._coordinator is not None:
            self._coordinator.resigned(partition, leader_epoch)

    @property
    def keeps_anything(self) -> bool:
        return False

    def partitions_deleted(self, partitions: Sequence[TopicPartition]) -> None:
        """Do nothing: no state belongs to these partitions."""
