"""The part of a broker that coordinates something by an internal topic. Its coordinator is imported and made when
something first asks for it: runs without do without."""

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
    """A coordinator, as far as it goes by the leadership of partitions."""

    def elected(self, partition: int, leader_epoch: int) -> object: ...

    def resigned(self, partition: int, leader_epoch: int | None) -> object: ...


C = TypeVar("C", bound=PartitionCoordinator)


@define(eq=False)
class CoordinatorPart(ABC, Generic[C]):
    """One broker's, as a ``brokers.replica_manager.manager.Coordinator`` that deleted partitions do not concern."""

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

    def elected(self, partition: int, leader_epoch: int) -> None:
        self.coordinator.elected(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        if self._coordinator is not None:
            self._coordinator.resigned(partition, leader_epoch)

    @property
    def keeps_anything(self) -> bool:
        return False

    def partitions_deleted(self, partitions: Sequence[TopicPartition]) -> None:
        """Nothing is kept of them."""
