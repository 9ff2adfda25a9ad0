"""Events of metrics. ``node`` is the machine whose process has the metric, ``metric`` is Kafka's name, such as
``kafka.server:type=ReplicaManager,name=LeaderCount``.

A metric exists from its first event until it is removed, or until its process ends.
"""

from typing import NamedTuple


class MetricRegistered(NamedTuple):
    """A metric was registered. A gauge begins at 0, a meter or a timer without a value.

    Attributes:
        kind: ``gauge``, ``meter``, ``timer``, or ``derived``: a gauge that a reader computes from other metrics.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    kind: str
    metric: str


class MetricRemoved(NamedTuple):
    """A metric was unregistered, because what it measured is gone."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str


class GaugeSet(NamedTuple):
    """The value of a gauge changed."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str
    value: int


class MeterMarked(NamedTuple):
    """The count of a meter, written once per second while it counts.

    Attributes:
        total: counted since the meter was registered.
        since_us: the time of the first counted event that was not in the previous ``MeterMarked``.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str
    total: int
    since_us: int


class TimerUpdated(NamedTuple):
    """A timer recorded one duration. Kafka shows it in milliseconds."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str
    duration_us: int
