"""T6: what brokers measure is possible."""

from __future__ import annotations

from emulator.metrics.metric_events import GaugeSet, TimerUpdated
from emulator.protocol.events import ConsumerLag, NodeStarted
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.gauge_facts import GaugeNegative, TimeImpossible, TimeUnpaired
from scenarios.observe.mbeans import CONSUMER_LAG

BY_TIME_OF_DAY = "QueueTimeMs"
WAITED, SERVED = "name=RequestQueueTimeMs", "name=LocalTimeMs"


class TimesTrue(Checker):
    """No time that a broker has measured is negative, or longer than its process has lived, and no gauge is negative.

    Verified: whenever a timer records a time, or a gauge changes. Of each request that a handler takes both its time in
        the queue and its time in the thread are recorded (RequestMetrics, 0.8 to 2.7).

    Not verified: that a time is the right one; how long something was in a queue of a broker whose clock was set or is
        wrong: Kafka takes that by the time of day (ControllerEventManager and ControllerChannelManager, 2.3).
    """

    ids = ("T6",)
    statement = (
        "0 ≤ time ≤ uptime, gauge ≥ 0: no time measured by a broker is longer than its process has lived, and no "
        "metric is negative"
    )
    catches = ("KAFKA-2678",)
    fails_when = "a time in a queue is taken the wrong way round"

    def begin(self) -> None:
        self._started: dict[int, int] = {}
        self._unserved: dict[int, str] = {}
        """Recorded time in the queue of a request whose time in the thread is not recorded yet, by broker."""

    def on_started(self, event: NodeStarted) -> None:
        self._started[event.node] = event.t_us
        self._unserved.pop(event.node, None)

    def on_timed(self, event: TimerUpdated) -> None:
        if WAITED in event.metric or SERVED in event.metric:
            self._pair(event)
        if event.node in self.now.clocks and BY_TIME_OF_DAY in event.metric:
            return
        lived_us = event.t_us - self._started.get(event.node, 0)
        if not 0 <= event.duration_us <= lived_us:
            self.violated(event, TimeImpossible(event.node, event.metric, event.duration_us, lived_us))

    def _pair(self, event: TimerUpdated) -> None:
        """The time in a thread follows that in the queue, of the same kind of request."""
        waited = self._unserved.pop(event.node, "")
        if WAITED in event.metric:
            self._unserved[event.node] = event.metric
            missing = waited.replace(WAITED, SERVED)
        else:
            found = event.metric.replace(SERVED, WAITED)
            missing = "" if found == waited else found
        if missing:
            self.violated(event, TimeUnpaired(event.node, event.metric, missing))

    def on_gauge(self, event: GaugeSet) -> None:
        if event.value < 0:
            self.violated(event, GaugeNegative(event.node, event.metric, event.value))

    def on_lag(self, event: ConsumerLag) -> None:
        """-1: the gauge was removed."""
        if event.lag < -1:
            self.violated(event, GaugeNegative(event.node, CONSUMER_LAG, event.lag))
