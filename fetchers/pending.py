"""Work that is due although only background messages and timers will bring it about."""

from emulator.kernel import Timer
from emulator.nodes import Process


class PendingWork:
    """Keeps the world from being settled while one role has something left to do.

    A long poll is background, or an idle cluster would never be settled. What comes up while a poll is parked (new
    partitions of the thread that waits for its answer, records that a quota holds back) has to say so itself, and only
    for so long: a leader that never answers must not keep the world waiting.
    """

    __slots__ = ("_process", "_timer", "_until_us")

    def __init__(self, process: Process) -> None:
        self._process = process
        self._timer: Timer | None = None
        self._until_us = 0

    def hold(self, for_us: int) -> None:
        """There is work; in ``for_us`` at the latest it has been taken up, or nobody will."""
        self._until_us = self._process.clock_us + for_us
        if self._timer is None:
            self._timer = self._process.call_later(for_us, self._over, background=False)

    def release(self) -> None:
        """It has been taken up."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self, _: object) -> None:
        """One timer, moved on lazily: a throttled catch-up says at each poll that there is work."""
        self._timer = None
        left_us = self._until_us - self._process.clock_us
        if left_us > 0:
            self.hold(left_us)
