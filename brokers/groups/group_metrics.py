"""The gauges of a group coordinator: the number of groups, by state, and of offsets (GroupMetadataManager, 2.3)."""

from attrs import define, field

from brokers.groups.group import GroupMetadata, GroupState
from emulator.metrics import Gauge, Metrics, mbean


def _gauge(metrics: Metrics, name: str) -> Gauge:
    return metrics.gauge(mbean("kafka.coordinator.group", "GroupMetadataManager", name))


@define(eq=False)
class GroupMetrics:
    """The gauges of one coordinator, updated at each change: ``changes`` is called before a group's state, ``changed``
    after it."""

    metrics: Metrics
    _groups: Gauge = field(init=False)
    _offsets: Gauge = field(init=False)
    _states: dict[GroupState, Gauge] = field(init=False)
    _kept: dict[GroupMetadata, int] = field(factory=dict)
    """The number of counted offsets of each group."""

    def __attrs_post_init__(self) -> None:
        self._groups = _gauge(self.metrics, "NumGroups")
        self._offsets = _gauge(self.metrics, "NumOffsets")
        self._states = {state: _gauge(self.metrics, f"NumGroups{state}") for state in GroupState}

    def added(self, group: GroupMetadata) -> None:
        self._groups.set(self._groups.value + 1)
        self._kept[group] = 0
        self.changed(group)
        self.offsets_changed(group)

    def removed(self, group: GroupMetadata) -> None:
        self._groups.set(self._groups.value - 1)
        self.changes(group)
        self._offsets.set(self._offsets.value - self._kept.pop(group))

    def changes(self, group: GroupMetadata) -> None:
        """Called before the state of a group changes."""
        gauge = self._states[group.state]
        gauge.set(gauge.value - 1)

    def changed(self, group: GroupMetadata) -> None:
        """Called after the state of a group has changed."""
        gauge = self._states[group.state]
        gauge.set(gauge.value + 1)

    def offsets_changed(self, group: GroupMetadata) -> None:
        """Count the offsets of a group again."""
        count = len(group.committed.offsets)
        if count != self._kept[group]:
            self._offsets.set(self._offsets.value + count - self._kept[group])
            self._kept[group] = count
