"""The metrics of one process, under Kafka's names. The code that measures something registers it here.

A metric is written to the trace when it changes. Values that change with every record are written at the instants of a
grid; rates and quantiles are not written, because a reader can compute them.
"""

from collections.abc import Callable, Collection
from typing import Any, Protocol, TypeVar

from attrs import define, field

from emulator.kernel import World
from emulator.metrics.grid import GAUGES_US, IDLE_METERS_US, METERS_US, REQUESTS_US, Grid
from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated


class Emitter(Protocol):
    """A process, as far as its metrics use it.

    Attributes:
        emit: records an event in the trace. Once the process is dead, it is a function that raises.
    """

    emit: Callable[..., Any]

    @property
    def world(self) -> World: ...

    def call_later(self, delay_us: int, fn: Callable[[Any], object], /) -> object: ...


def mbean(domain: str, type: str, name: str, **tags: object) -> str:
    """Kafka's name of a metric, with its tags in the order given. A tag with the value ``""`` is left out."""
    given = "".join(f",{key}={value}" for key, value in tags.items() if value != "")
    return f"{domain}:type={type},name={name}{given}"


def short_name(metric: str) -> str:
    """The value of ``name=`` in the name of a metric; ``""`` for an attribute."""
    return metric.partition("name=")[2].partition(",")[0]


def tag(metric: str, key: str) -> str:
    """The value of a tag in the name of a metric; ``""`` where it has none."""
    return metric.partition(f",{key}=")[2].partition(",")[0]


def type_name(metric: str) -> str:
    """The value of ``type=`` in the name of a metric or of an attribute."""
    return metric.partition("type=")[2].partition(",")[0].partition(":")[0]


def attribute(domain: str, type: str, name: str) -> str:
    """The name of an attribute of an MBean without ``name=`` (those of org.apache.kafka.common.metrics), as Kafka's
    JmxTool prints it."""
    return f"{domain}:type={type}:{name}"


@define(eq=False, repr=False, weakref_slot=False)
class Metric:
    """One metric of a process."""

    _metrics: "Metrics"
    name: str


@define(eq=False, repr=False, weakref_slot=False)
class Gauge(Metric):
    """A value that is written as soon as it changes."""

    value: int = field(default=0, init=False)

    def set(self, value: int) -> None:
        """Set the gauge, and write it if it changed."""
        if value != self.value:
            self.value = value
            self._metrics.write(GaugeSet, self.name, value)


@define(eq=False, repr=False, weakref_slot=False)
class SampledGauge(Gauge):
    """A value that changes with the data: after ``changed``, it is read at the next instant of the grid."""

    _read: Callable[[], int]
    _due: bool = field(default=False, init=False)

    def changed(self) -> None:
        """Note that the value may have changed."""
        if not self._due:
            self._due = True
            self._metrics.gauges.add(self)

    def write(self) -> None:
        """Read the value and write it if it changed. Called by the grid."""
        self._due = False
        self.set(self._read())


class Unmarked(Protocol):
    """Events that a meter counts and that are not simulated."""

    def take(self) -> int:
        """The number of such events since the last call."""

    def written(self) -> None:
        """Called after the count was written: the next event has to mark the meter."""


@define(eq=False, repr=False, weakref_slot=False)
class Meter(Metric):
    """A count of events, from which a reader computes rates.

    Attributes:
        count: the number of marked events.
        unmarked: further events to count, which are not simulated.
    """

    count: int = field(default=0, init=False)
    unmarked: Unmarked | None = field(default=None, init=False)
    _written: int = field(default=0, init=False)
    _since_us: int = field(default=0, init=False)
    _due: bool = field(default=False, init=False)
    _due_idly: bool = field(default=False, init=False)

    def mark(self, count: int = 1) -> None:
        """Count ``count`` more events."""
        if not self._due:
            self._begin()
            self._due = True
            self._metrics.meters.add(self)
        self.count += count

    def mark_idly(self) -> None:
        """Count one more event of a kind that an idle cluster produces all the time. It is written late, on the
        slow grid."""
        if not (self._due or self._due_idly):
            self._begin()
            self._due_idly = True
            self._metrics.idle_meters.add(self)
        self.count += 1

    def add_since(self, count: int, since_us: int) -> None:
        """Add and write ``count`` events seen since ``since_us``. For callers that keep their own count and report it
        once per instant of the grid."""
        self._since_us = since_us
        self.count += count
        self.write()

    def _begin(self) -> None:
        if self.count == self._written:
            self._since_us = self._metrics.world.now

    def write(self) -> None:
        """Write the count, unless it was written already since the last event. Called by the grid."""
        unmarked = self.unmarked
        if unmarked is not None:
            self.count += unmarked.take()
        self._due = self._due_idly = False
        if self.count != self._written:
            self._written = self.count
            self._metrics.write(MeterMarked, self.name, self.count, self._since_us)
        if unmarked is not None:
            unmarked.written()

    @property
    def is_due(self) -> bool:
        """Whether a grid is going to write it."""
        return self._due or self._due_idly


@define(eq=False, repr=False, weakref_slot=False)
class KafkaTimer(Metric):
    """Durations, from which a reader computes rates and quantiles. Kafka's histograms of times are timers here."""

    def update(self, duration_us: int) -> None:
        self._metrics.write(TimerUpdated, self.name, duration_us)


M = TypeVar("M", bound=Metric)


@define(eq=False, repr=False)
class Metrics:
    """The registry of one process; it ends with the process.

    Attributes:
        node: the id of the machine, which every event of a metric carries.
        lacks: names (``name=`` alone) and types (``type=``) of metrics that the release does not have. They are
            measured all the same and never written, so the code that measures does not have to ask.
        gauges, meters, request_meters, idle_meters: the grids on which values that change often are written.
    """

    _process: Emitter
    node: int
    lacks: Collection[str] = ()
    world: World = field(init=False)
    gauges: Grid = field(init=False)
    meters: Grid = field(init=False)
    request_meters: Grid = field(init=False)
    idle_meters: Grid = field(init=False)
    _grids: tuple[Grid, ...] = field(init=False)
    _hidden: dict[str, None] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.world = self._process.world
        self._grids = self.gauges, self.meters, self.request_meters, self.idle_meters = tuple(
            Grid(period_us, self.time_us, self._process.call_later)
            for period_us in (GAUGES_US, METERS_US, REQUESTS_US, IDLE_METERS_US)
        )

    def time_us(self) -> int:
        """Virtual time in microseconds. Unlike the machine's clock it is never skewed."""
        return self.world.now

    def write_due(self) -> None:
        """Write the values that changed since the last instants of the grids, for a reader that needs those of now."""
        for grid in self._grids:
            grid.write()

    def gauge(self, name: str) -> Gauge:
        """Register a gauge that its owner sets."""
        return self._registered("gauge", Gauge(self, name))

    def sampled(self, name: str, read: Callable[[], int]) -> SampledGauge:
        """Register a gauge that is read when its owner has called ``changed``."""
        return self._registered("gauge", SampledGauge(self, name, read))

    def meter(self, name: str) -> Meter:
        return self._registered("meter", Meter(self, name))

    def derived(self, name: str) -> None:
        """Register a gauge that a reader computes from other metrics."""
        self._registered("derived", Metric(self, name))

    def timer(self, name: str) -> KafkaTimer:
        return self._registered("timer", KafkaTimer(self, name))

    def remove(self, metric: Metric) -> None:
        """Unregister ``metric``. Whatever is written under its name later is dropped."""
        if isinstance(metric, Meter):
            metric.write()
        self.write(MetricRemoved, metric.name)
        self._hidden[metric.name] = None

    def has(self, name: str) -> bool:
        """Whether the release has the metric of this full name."""
        return short_name(name) not in self.lacks and type_name(name) not in self.lacks

    def write(self, kind: type, name: str, *values: Any) -> None:
        """Record an event of one metric; nothing if the release lacks the metric or it was removed."""
        if name not in self._hidden:
            self._process.emit(kind, self.node, name, *values)

    def _registered(self, kind: str, metric: M) -> M:
        if self.has(metric.name):
            self._process.emit(MetricRegistered, self.node, kind, metric.name)
            self._hidden.pop(metric.name, None)
        else:
            self._hidden[metric.name] = None
        return metric
