"""The wait for ready sockets. While clients are busy, the process waits for them itself, to the microsecond; when they
are quiet, Trio waits for all of them together.

Trio waits in whole milliseconds, and needs a switch of tasks for each frame; between a request and its answer both are
long. None of this reaches the world: it sees inputs, with the virtual times at which they were taken.
"""

import select
import selectors
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socket import socket
from threading import get_native_id

from attrs import define, field

from emulator.kernel.live import readable

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
BUSY_S = 0.01
"""The time after which clients count as quiet, if no socket was ready."""


@define(eq=False)
class Readiness:
    """The sockets of one run, each with the function that is called when it is ready."""

    _selector: selectors.DefaultSelector = field(factory=selectors.DefaultSelector)
    _busy_until_s: float = 0.0

    def watch(self, watched: socket, events: int, ready: Callable[[int], object]) -> None:
        """Call ``ready`` with those of ``events`` that are possible, as long as they are. An empty set ends the calls.

        No error may leave ``ready``.
        """
        if watched not in self._selector.get_map():
            if events:
                self._selector.register(watched, events, ready)
        elif events:
            self._selector.modify(watched, events, ready)
        else:
            self._selector.unregister(watched)

    def pause(self, seconds: float) -> float:
        """Wait for a socket, while clients are busy: there is nothing to do for ``seconds``. Returns how long Trio may
        sleep then."""
        busy_s = self._busy_until_s - time.monotonic()
        if busy_s <= 0:
            return seconds
        self._call(min(seconds, busy_s))
        return 0.0

    async def serve(self) -> None:
        """Wait while clients are quiet. Runs beside the world."""
        _wake_when_due()
        while True:
            await readable(self._selector.fileno())
            self._call(0.0)

    def _call(self, seconds: float) -> None:
        """Call the functions of sockets that are ready, or become so within ``seconds``."""
        try:
            # The selector itself would round up to milliseconds.
            ready, _, _ = select.select((self._selector.fileno(),), (), (), seconds)
            found = self._selector.select(0) if ready else ()
        except ValueError:  # select takes no file with a number above 1023
            found = self._selector.select(seconds)
        if found:
            self._busy_until_s = time.monotonic() + BUSY_S
        for key, events in found:
            key.data(events)

    def close(self) -> None:
        self._selector.close()


def _wake_when_due() -> None:
    """Ask Linux to wake this thread in time: it lets a thread sleep 50 us longer otherwise."""
    with suppress(OSError):
        Path(f"/proc/{get_native_id()}/timerslack_ns").write_text("1", encoding="ascii")
