"""The gauges of a group coordinator: how many groups it has, in which states, and how many offsets
(GroupMetadataManager, 2.3)."""

from attrs import define, field

from brokers.groups.group import Group, GroupState
from emulator.metrics import Gauge, Metrics, mbean


def _gauge(metrics: Metrics, name: str) -> Gauge:
    return metrics.gauge(mbean("kafka.coordinator.group", "GroupMetadataManager", name))


@define(eq=False)
class GroupMetrics:
    """What changes is counted when it changes: ``changes`` before a group's state, ``changed`` after it."""

    metrics: Metrics
    _groups: Gauge = field(init=False)
    _offsets: Gauge = field(init=False)
    _states: dict[GroupState, Gauge] = field(init=False)
    _kept: dict[Group, int] = field(factory=dict)
    """How many offsets of each group are counted."""

    def __attrs_post_init__(self) -> None:
        self._groups = _gauge(self.metrics, "NumGroups")
        self._offsets = _gauge(self.metrics, "NumOffsets")
        self._states = {state: _gauge(self.metrics, f"NumGroups{state}") for state in GroupState}

    def added(self, group: Group) -> None:
        self._groups.set(self._groups.value + 1)
        self._kept[group] = 0
        self.changed(group)
        self.offsets_changed(group)

    def removed(self, group: Group) -> None:
        self._groups.set(self._groups.value - 1)
        self.changes(group)
        self._offsets.set(self._offsets.value - self._kept.pop(group))

    def changes(self, group: Group) -> None:
        """Its state is about to change."""
        gauge = self._states[group.state]
        gauge.set(gauge.value - 1)

    def changed(self, group: Group) -> None:
        """Its state has changed."""
        gauge = self._states[group.state]
        gauge.set(gauge.value + 1)

    def offsets_changed(self, group: Group) -> None:
        """It has more offsets, or fewer."""
        count = len(group.committed.offsets)
        if count != self._kept[group]:
            self._offsets.set(self._offsets.value + count - self._kept[group])
            self._kept[group] = count
