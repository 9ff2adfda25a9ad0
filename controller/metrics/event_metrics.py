"""The event queue's metrics: ControllerEventManager, ControllerState and the timers of ControllerStats."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from controller.events import ControllerState
from emulator.metrics import KafkaTimer, mbean
from emulator.nodes import Process


class EventMetrics:
    """The metrics of one broker's queue; ``size`` returns its length."""

    def __init__(self, process: Process, size: Callable[[], int]) -> None:
        metrics = process.metrics
        self._process = process
        self._state = metrics.gauge(mbean("kafka.controller", "KafkaController", "ControllerState"))
        self._queue_time = metrics.timer(mbean("kafka.controller", "ControllerEventManager", "EventQueueTimeMs"))
        self._queue_size = metrics.sampled(mbean("kafka.controller", "ControllerEventManager", "EventQueueSize"), size)
        self._timers: dict[ControllerState, KafkaTimer] = {
            state: metrics.timer(mbean("kafka.controller", "ControllerStats", state.timer))
            for state in ControllerState
            if state is not ControllerState.IDLE
        }

    def put(self) -> None:
        """The queue length changed."""
        self._queue_size.changed()

    @contextmanager
    def handling(self, state: ControllerState, put_us: int) -> Iterator[None]:
        """Time the processing of an event that was put at ``put_us``, whether or not it fails. The processing is timed
        by a clock that is never set (KafkaTimer, 2.3), the wait in the queue by the time of day
        (ControllerEventManager, 2.3)."""
        began_us = self._process.monotonic_us
        self._queue_size.changed()
        self._state.set(int(state))
        self._queue_time.update(self._process.clock_us - put_us)
        try:
            yield
        finally:
            if self._process.alive:
                if state in self._timers:  # IDLE has none
                    self._timers[state].update(self._process.monotonic_us - began_us)
                self._state.set(int(ControllerState.IDLE))
