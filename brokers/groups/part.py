"""The part of a broker that coordinates groups. It is imported and made when something first asks for it: runs without
groups do without."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define

from brokers.replica_manager import ReplicaManager
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.coordinators.appending import Appender
    from brokers.groups.coordinator import GroupCoordinator


@define(eq=False)
class GroupsPart:
    """One broker's, as a ``brokers.replica_manager.manager.Coordinator``."""

    manager: ReplicaManager
    appender: Appender
    _coordinator: GroupCoordinator | None = None

    @property
    def coordinator(self) -> GroupCoordinator:
        found = self._coordinator
        if found is None:
            from brokers.groups.coordinator import GroupCoordinator

            found = self._coordinator = GroupCoordinator(self.manager.process, self.manager, self.appender)
        return found

    def elected(self, partition: int, leader_epoch: int) -> None:
        self.coordinator.elected(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        if self._coordinator is not None:
            self._coordinator.resigned(partition, leader_epoch)

    @property
    def keeps_anything(self) -> bool:
        return self._coordinator is not None and self._coordinator.keeps_anything

    def partitions_deleted(self, partitions: Sequence[TopicPartition]) -> None:
        self.coordinator.partitions_deleted(partitions)
