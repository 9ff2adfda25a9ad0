"""What a trace says of metrics. ``node``: the machine whose process shows them; ``metric``: Kafka's name, as
``kafka.server:type=ReplicaManager,name=LeaderCount``.

A metric exists from its first event until it is removed or its process ends; then all of that process are gone.
"""

from typing import NamedTuple


class MetricRegistered(NamedTuple):
    """A metric exists. ``kind``: gauge, meter, timer, or derived: a gauge that a reader computes. A gauge is
    0, nothing has been counted or timed."""

    t_us: int
    seq: int
    cause: int
    node: int
    kind: str
    metric: str


class MetricRemoved(NamedTuple):
    """What was measured is gone, and so is its metric."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str


class GaugeSet(NamedTuple):
    """A gauge has another value from now on."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str
    value: int


class MeterMarked(NamedTuple):
    """A meter has counted ``total`` since it was registered: what was not in the last such event, from ``since_us`` on.
    Written once a second while it counts."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str
    total: int
    since_us: int


class TimerUpdated(NamedTuple):
    """Something that is timed has taken ``duration_us``. Kafka shows it in milliseconds."""

    t_us: int
    seq: int
    cause: int
    node: int
    metric: str
    duration_us: int
