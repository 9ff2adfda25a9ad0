"""M11: a controller takes every announcement that brokers leave for it."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import LeftUntaken
from scenarios.observe.history.deadlines import Deadlines

ANNOUNCED = (znodes.ISR_CHANGE_NOTIFICATION, znodes.LOG_DIR_EVENT_NOTIFICATION)


class NotificationsTaken(Checker):
    """A controller that works reads what brokers announce to it below /isr_change_notification (0.8.2) and
    /log_dir_event_notification (KIP-112, 1.0), and deletes it; so a new one does as it takes over.

    Verified: once a second, each such znode that is there, if the controller has made a step more than 5 s after it
        came: its thread is not held. The bound begins when a controller works, and is 5 s and 10 ms for each partition.

    Not verified: that it was read before it was deleted (``controller_remembers`` and ``broker_remembers`` compare what
        it says); requests of operators below /admin (``converged``).
    """

    ids = ("M11",)
    gravity = Gravity.LIVENESS
    statement = "announced(z) ⇒ soon deleted(z): a controller takes every announcement that brokers leave for it"
    catches = ("KAFKA-5879",)
    fails_when = "a controller looks away from announced ISRs"

    def begin(self) -> None:
        self._there: Deadlines[str] = Deadlines()
        self._came_us: dict[str, int] = {}
        self._stepped_us = 0

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith(ANNOUNCED) and event.path not in ANNOUNCED:
            if event.op == "delete":
                self._there.end(event.path)
                self._came_us.pop(event.path, None)
            else:
                self._there.begin(event.path, event.t_us)
                self._came_us[event.path] = event.t_us

    def on_step(self, event: Step) -> None:
        if event.node == self.cluster.controller:
            self._stepped_us = event.t_us

    def look(self, moment: Moment) -> None:
        if len(self._there):
            bound_us = SETTLING_US + 10_000 * self.cluster.count_partitions()
            for path, lasted_us in self._there.overdue(moment.t_us, bound_us, self._since_us):
                self.violated(moment, LeftUntaken(path, lasted_us, self.cluster.controller))

    def _since_us(self, path: str) -> int | None:
        if self._stepped_us <= self._came_us[path] + SETTLING_US:
            return None
        return self.now.controlled_since_us()
