"""kafka-log-retention: looks for segments that may be deleted, every log.retention.check.interval.ms (2.3).

Kafka looks at every log each time. Here a log is looked at at the first check at which one of its segments can be too
old or the log too large, so that logs in which nothing can expire cost nothing.
"""

from collections.abc import Callable
from heapq import heappop, heappush

from attrs import define, field

from brokers.log.log import Log
from emulator.kernel import Timer
from emulator.nodes import Process

FIRST_CHECK_US = 30_000_000
Expire = Callable[[Log], int | None]
"""A function that deletes the old segments of a log. Returns when to check it again; None: not before it grows."""


@define(eq=False)
class Retention:
    """The times at which the logs of one broker are due, and one timer for the earliest."""

    process: Process
    interval_us: int
    expire: Expire
    _first_us: int = field(init=False)
    _due: dict[Log, int] = field(factory=dict)
    _heap: list[tuple[int, int, Log]] = field(factory=list)
    """``(when, sequence number, log)``; entries that ``_due`` contradicts are void."""
    _pushed: int = 0
    _timer: Timer | None = None
    _timer_us: int = 0

    def __attrs_post_init__(self) -> None:
        self._first_us = self.process.clock_us - self.process.phase_us + FIRST_CHECK_US

    @property
    def due_us(self) -> int | None:
        """The time of its next check, by the broker's clock; None: nothing can expire."""
        return self._heap[0][0] if self._heap else None

    def watch(self, log: Log, due_us: int) -> None:
        """Look at ``log`` at the first check at or after ``due_us``."""
        late_us = max(due_us, self.process.clock_us + 1) - self._first_us
        check_us = self._first_us + max(0, -(-late_us // self.interval_us)) * self.interval_us
        known = self._due.get(log)
        if known is not None and known <= check_us:
            return
        self._due[log] = check_us
        self._pushed += 1
        heappush(self._heap, (check_us, self._pushed, log))
        self._arm()

    def watches(self, log: Log) -> bool:
        """Whether a check of ``log`` is due some time."""
        return log in self._due

    def forget(self, log: Log) -> None:
        self._due.pop(log, None)

    def _arm(self) -> None:
        due_us = self._heap[0][0]
        if self._timer is not None:
            if self._timer_us <= due_us:
                return
            self._timer.cancel()
        self._timer_us = due_us
        # A check is past due after a pause, or where the clock was set.
        self._timer = self.process.call_later(max(0, due_us - self.process.clock_us), self._check)

    def _check(self, _: object) -> None:
        self._timer = None
        heap, now = self._heap, self.process.clock_us
        while heap and heap[0][0] <= now:
            check_us, _pushed, log = heappop(heap)
            if self._due.get(log) == check_us:
                del self._due[log]
                again_us = self.expire(log)
                if again_us is not None:
                    self.watch(log, again_us)
        if heap:
            self._arm()
