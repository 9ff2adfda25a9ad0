"""kafka-log-retention: looks for segments that may go, every log.retention.check.interval.ms (2.3).

Kafka looks at every log each time. Here a log is looked at at the first of those times at which a segment of it can be
too old or too much, so that logs in which nothing can expire cost nothing.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from emulator.kernel import Timer
from emulator.nodes import Process

if TYPE_CHECKING:
    from brokers.log.log import Log

FIRST_CHECK_US = 30_000_000
Expire = Callable[["Log"], int | None]
"""Deletes what may go of a log; when it is to be looked at again, None: not before it grows."""


class Retention:
    """The times at which the logs of one broker are due, and one timer for the earliest."""

    def __init__(self, process: Process, interval_us: int, expire: Expire) -> None:
        self._process = process
        self._interval_us = interval_us
        self._expire = expire
        self._first_us = process.clock_us + FIRST_CHECK_US
        self._due: dict[Log, int] = {}
        self._heap: list[tuple[int, int, Log]] = []
        self._pushed = 0
        self._timer: Timer | None = None
        self._timer_us = 0

    def watch(self, log: "Log", due_us: int) -> None:
        """Look at ``log`` at the first check at or after ``due_us``."""
        late_us = max(due_us, self._process.clock_us + 1) - self._first_us
        check_us = self._first_us + max(0, -(-late_us // self._interval_us)) * self._interval_us
        known = self._due.get(log)
        if known is not None and known <= check_us:
            return
        self._due[log] = check_us
        self._pushed += 1
        heappush(self._heap, (check_us, self._pushed, log))
        self._arm()

    def forget(self, log: "Log") -> None:
        """It is gone."""
        self._due.pop(log, None)

    def _arm(self) -> None:
        due_us = self._heap[0][0]
        if self._timer is not None:
            if self._timer_us <= due_us:
                return
            self._timer.cancel()
        self._timer_us = due_us
        self._timer = self._process.call_later(due_us - self._process.clock_us, self._check)

    def _check(self, _: object) -> None:
        self._timer = None
        heap, now = self._heap, self._process.clock_us
        while heap and heap[0][0] <= now:
            check_us, _pushed, log = heappop(heap)
            if self._due.get(log) == check_us:
                del self._due[log]
                again_us = self._expire(log)
                if again_us is not None:
                    self.watch(log, again_us)
        if heap:
            self._arm()
