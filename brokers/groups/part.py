"""The part of a broker that coordinates groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define

from brokers.coordinators.part import CoordinatorPart
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.groups.coordinator import GroupCoordinator


@define(eq=False)
class GroupsPart(CoordinatorPart["GroupCoordinator"]):
    """The part of one broker. It deletes the offsets of deleted partitions, too."""

    def _made(self) -> GroupCoordinator:
        from brokers.groups.coordinator import GroupCoordinator

        return GroupCoordinator(self.manager.process, self.manager, self.appender)

    @property
    def keeps_anything(self) -> bool:
        return self._coordinator is not None and self._coordinator.keeps_anything

    def partitions_deleted(self, partitions: Sequence[TopicPartition]) -> None:
        self.coordinator.partitions_deleted(partitions)
