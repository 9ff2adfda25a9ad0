"""Work that is due although only background messages and timers will bring it about."""

from emulator.kernel import Timer
from emulator.nodes import Process


class PendingWork:
    """Keeps the world from being settled while one role has something left to do.

    A long poll is background, or an idle cluster would never be settled. What comes up while a poll is parked (new
    partitions of the thread that waits for its answer, records that a quota holds back) has to say so itself, and only
    for so long: a leader that never answers must not keep the world waiting.
    """

    __slots__ = ("_process", "_timer")

    def __init__(self, process: Process) -> None:
        self._process = process
        self._timer: Timer | None = None

    def hold(self, for_us: int) -> None:
        """There is work; in ``for_us`` at the latest it has been taken up, or nobody will."""
        if self._timer is None or not self._timer.pending:
            self._timer = self._process.call_later(for_us, _nothing, background=False)

    def release(self) -> None:
        """It has been taken up."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _nothing(_: object) -> None:
    """The timer's only effect is to be pending."""
