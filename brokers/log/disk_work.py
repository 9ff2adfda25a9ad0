"""The time that a broker's disks still need for the current transition: the broker's responses wait for it."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from attrs import define, field

from emulator.disks import DiskOperation, Pace
from emulator.kernel import Signal, Timer
from emulator.nodes import Process


class ResponseChannel(Protocol):
    """A client's connection, as far as a request handler needs it to answer (``emulator.network.Channel`` is one)."""

    def reply(self, response: Any, size: int, background: bool = False, held: bool = False) -> None:
        """Answer the current request. ``held``: the answer was made some time ago."""
        ...

    def release(self) -> None:
        """Finish the current request without an answer (acks=0)."""
        ...

    def close(self) -> None:
        """Close the client's connection."""
        ...


@define(eq=False)
class DiskWork:
    """The work of all disks of one broker.

    Attributes:
        last: the last operation of each disk for which nothing waits yet.
    """

    process: Process
    last: dict[Pace, DiskOperation] = field(factory=dict)

    def wrote(self, pace: Pace, size: int) -> None:
        self.process.parked.rouse()
        self.last[pace] = pace.write(self.process.monotonic_us, size)

    def read(self, pace: Pace, size: int) -> None:
        self.process.parked.rouse()
        self.last[pace] = pace.read(self.process.monotonic_us, size)

    def take(self) -> tuple[DiskOperation, ...]:
        """The operations that are not done yet. Resets them: the caller is the one that waits."""
        if not self.last:
            return ()
        operations, self.last = tuple(self.last.values()), {}
        return operations if left_us(operations, self.process) else ()

    def after_disks(self, channel: ResponseChannel) -> ResponseChannel:
        """``channel``, or one whose answer leaves only when the work is done."""
        operations = self.take()
        return DelayedChannel(self.process, channel, operations) if operations else channel

    def take_signal(self) -> Signal | None:
        """A signal that is set when the work is done; None: it is done. Resets it, as ``take``."""
        operations = self.take()
        if not operations:
            return None
        signal = Signal(self.process.world, "the disks")
        DiskWait(self.process, operations, signal.set).start()
        return signal


def left_us(operations: Iterable[DiskOperation], process: Process) -> int:
    """The time until disks have done these operations, at their present speeds, in microseconds."""
    now_us = process.monotonic_us
    return max(0, max((operation.done_us for operation in operations), default=now_us) - now_us)


@define(eq=False)
class DiskWait:
    """Calls ``then`` when ``operations`` are done, even if the speed of the disks changes. Without operations it is
    called in the next event."""

    process: Process
    operations: tuple[DiskOperation, ...]
    then: Callable[[], object]
    _timer: Timer | None = None

    def start(self) -> None:
        for operation in self.operations:
            operation.waiting.append(self._again)
        self._wait(left_us(self.operations, self.process))

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, for_us: int) -> None:
        self._timer = self.process.call_later(for_us, self._look, background=False)

    def _look(self, _: object) -> None:
        for_us = left_us(self.operations, self.process)
        if for_us:
            self._wait(for_us)
        else:
            self._timer = None
            self.then()

    def _again(self) -> None:
        """Wait again: the speed of a disk has changed."""
        if self._timer is not None and self.process.alive:
            self._timer.cancel()
            self._wait(0)


@define(eq=False)
class DelayedChannel:
    """A channel whose answer waits for disks, until ``operations`` are done."""

    process: Process
    channel: ResponseChannel
    operations: tuple[DiskOperation, ...]

    def reply(self, response: Any, size: int, background: bool = False, held: bool = True) -> None:
        """Answer as ``ResponseChannel.reply`` does, not before the disks are done."""
        DiskWait(self.process, self.operations, lambda: self.channel.reply(response, size, background, held)).start()

    def release(self) -> None:
        self.channel.release()

    def close(self) -> None:
        self.channel.close()
