"""The metrics of one process, by Kafka's names: whoever measures something registers it here.

They reach the trace when they change. What changes with every record is written at the instants of a grid; rates and
quantiles are not written at all, since a reader can compute them.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, TypeVar

from emulator.metrics.events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated
from emulator.metrics.grid import GAUGES_US, IDLE_METERS_US, METERS_US, Grid

if TYPE_CHECKING:
    from emulator.nodes.process import Process


def mbean(domain: str, type: str, name: str, **tags: object) -> str:
    """Kafka's name of a metric, with its tags in the order given; a tag without a value is left out."""
    given = "".join(f",{key}={value}" for key, value in tags.items() if value != "")
    return f"{domain}:type={type},name={name}{given}"


def short_name(metric: str) -> str:
    """What ``name=`` says in the name of a metric; nothing in that of an attribute."""
    return metric.partition("name=")[2].partition(",")[0]


def type_name(metric: str) -> str:
    """What ``type=`` says in the name of a metric or of an attribute."""
    return metric.partition("type=")[2].partition(",")[0].partition(":")[0]


def attribute(domain: str, type: str, name: str) -> str:
    """An attribute of a metric without a name of its own (those of Kafka's own library), as Kafka's JmxTool prints
    it."""
    return f"{domain}:type={type}:{name}"


class Metric:
    """What all of them are: a name, under which something may be written until the process ends."""

    __slots__ = ("_metrics", "name")

    def __init__(self, metrics: "Metrics", name: str) -> None:
        self._metrics = metrics
        self.name = name


class Gauge(Metric):
    """A value that is written at once when it changes."""

    __slots__ = ("value",)

    def __init__(self, metrics: "Metrics", name: str) -> None:
        super().__init__(metrics, name)
        self.value = 0

    def set(self, value: int) -> None:
        """It is ``value`` from now on."""
        if value != self.value:
            self.value = value
            self._metrics.write(GaugeSet, self.name, value)


class SampledGauge(Gauge):
    """A value that changes with the data: it is read at the next instant of the grid after ``changed``."""

    __slots__ = ("_due", "_read")

    def __init__(self, metrics: "Metrics", name: str, read: Callable[[], int]) -> None:
        super().__init__(metrics, name)
        self._read = read
        self._due = False

    def changed(self) -> None:
        """It may have another value."""
        if not self._due:
            self._due = True
            self._metrics.gauges.add(self)

    def write(self) -> None:
        """The instant has come."""
        self._due = False
        self.set(self._read())


class Meter(Metric):
    """A count, of which a reader makes rates."""

    __slots__ = ("_due", "_due_idly", "_since_us", "_written", "count")

    def __init__(self, metrics: "Metrics", name: str) -> None:
        super().__init__(metrics, name)
        self.count = 0
        self._written = 0
        self._since_us = 0
        self._due = False
        self._due_idly = False

    def mark(self, count: int = 1) -> None:
        """So many more."""
        if not self._due:
            self._begin()
            self._due = True
            self._metrics.meters.add(self)
        self.count += count

    def mark_idly(self) -> None:
        """One more, of which an idle cluster sees many: it need not be written soon."""
        if not (self._due or self._due_idly):
            self._begin()
            self._due_idly = True
            self._metrics.idle_meters.add(self)
        self.count += 1

    def tell(self, count: int, since_us: int) -> None:
        """So many more since then: who counts by itself, and says so at an instant of the grid."""
        self._since_us = since_us
        self.count += count
        self.write()

    def _begin(self) -> None:
        if self.count == self._written:
            self._since_us = self._metrics.time_us()

    def write(self) -> None:
        """The instant has come; nothing to write where another instant was faster."""
        self._due = self._due_idly = False
        if self.count != self._written:
            self._written = self.count
            self._metrics.write(MeterMarked, self.name, self.count, self._since_us)


class Timer(Metric):
    """Durations, of which a reader makes rates and quantiles. Kafka's histograms of times are timers here."""

    __slots__ = ()

    def update(self, duration_us: int) -> None:
        """It took so long this time."""
        self._metrics.write(TimerUpdated, self.name, duration_us)


M = TypeVar("M", bound=Metric)


class Metrics:
    """The registry of one process; it ends with it.

    Attributes:
        lacks: the names (``name=`` alone) and types (``type=``) of what the release does not have. It is measured all
            the same, and nobody sees it: those who measure need not ask.
        gauges, meters, idle_meters: when what changes often is written.
    """

    def __init__(self, process: "Process") -> None:
        self._process = process
        self.lacks: Collection[str] = ()
        self.gauges, self.meters, self.idle_meters = (
            Grid(period_us, self.time_us, process.call_later) for period_us in (GAUGES_US, METERS_US, IDLE_METERS_US)
        )
        self._hidden: dict[str, None] = {}

    def time_us(self) -> int:
        """Virtual time in microseconds, whatever the machine's own clock shows."""
        return self._process.world.now

    def gauge(self, name: str) -> Gauge:
        """A gauge that is set."""
        return self._registered("gauge", Gauge(self, name))

    def sampled(self, name: str, read: Callable[[], int]) -> SampledGauge:
        """A gauge that is read when it has changed."""
        return self._registered("gauge", SampledGauge(self, name, read))

    def meter(self, name: str) -> Meter:
        return self._registered("meter", Meter(self, name))

    def derived(self, name: str) -> None:
        """A gauge that a reader computes from other metrics."""
        self._registered("derived", Metric(self, name))

    def timer(self, name: str) -> Timer:
        return self._registered("timer", Timer(self, name))

    def remove(self, metric: Metric) -> None:
        """It measures nothing any more."""
        if isinstance(metric, Meter):
            metric.write()
        self.write(MetricRemoved, metric.name)
        self._hidden[metric.name] = None

    def has(self, name: str) -> bool:
        """Whether the release has the metric of this full name."""
        return short_name(name) not in self.lacks and type_name(name) not in self.lacks

    def write(self, kind: type, name: str, *values: Any) -> None:
        """Record that of one metric; nothing where the release lacks it."""
        if name not in self._hidden:
            self._process.emit(kind, self._process.node.id, name, *values)

    def _registered(self, kind: str, metric: M) -> M:
        if self.has(metric.name):
            self._process.emit(MetricRegistered, self._process.node.id, kind, metric.name)
            self._hidden.pop(metric.name, None)
        else:
            self._hidden[metric.name] = None
        return metric
