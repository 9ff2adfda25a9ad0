"""The time that a broker's disks still need for the current transition: the broker's responses wait for it."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from attrs import define, field

from emulator.disks import DiskOperation, Pace
from emulator.kernel import Signal, Timer
from emulator.nodes import Process


class ResponseChannel(Protocol):
    """A client's connection, as far as a request handler needs it to answer (``emulator.network.Channel`` is one)."""

    def reply(self, response: Any, size: int, background: bool = False) -> None:
        """Answer the request in hand."""
        ...

    def release(self) -> None:
        """Be done with the request in hand without an answer (acks=0)."""
        ...

    def close(self) -> None:
        """Hang up on the client."""
        ...


@define(eq=False)
class DiskWork:
    """Of all log directories of one broker.

    Attributes:
        last: of each disk the last operation that nothing waits for yet.
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
        """What is not done yet. Resets it: the caller is the one that waits."""
        if not self.last:
            return ()
        operations, self.last = tuple(self.last.values()), {}
        return operations if left_us(operations, self.process) else ()

    def after_disks(self, channel: ResponseChannel) -> ResponseChannel:
        """``channel``, or one whose answer leaves only when the work is done."""
        operations = self.take()
        return DelayedChannel(self.process, channel, operations) if operations else channel

    def take_signal(self) -> Signal | None:
        """What is set when the work is done; None: it is. Resets it, as ``take``."""
        operations = self.take()
        if not operations:
            return None
        signal = Signal(self.process.world, "the disks")
        DiskWait(self.process, operations, signal.set).start()
        return signal


def left_us(operations: Iterable[DiskOperation], process: Process) -> int:
    """How long disks are still at these operations, at their speeds of now."""
    now_us = process.monotonic_us
    return max(0, max((operation.done_us for operation in operations), default=now_us) - now_us)


@define(eq=False)
class DiskWait:
    """Calls ``then`` when ``operations`` are done, whatever speed the disks come to have meanwhile; where there are
    none, as the next thing that happens."""

    process: Process
    operations: tuple[DiskOperation, ...]
    then: Callable[[], object]
    _timer: Timer | None = None

    def start(self) -> None:
        for operation in self.operations:
            operation.waiting.append(self._again)
        self._wait(left_us(self.operations, self.process))

    def cancel(self) -> None:
        """Do not call it any more."""
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
        """A disk is slower or faster than it was."""
        if self._timer is not None and self.process.alive:
            self._timer.cancel()
            self._wait(0)


@define(eq=False)
class DelayedChannel:
    """A channel whose answer waits for disks, until ``operations`` are done."""

    process: Process
    channel: ResponseChannel
    operations: tuple[DiskOperation, ...]

    def reply(self, response: Any, size: int, background: bool = False) -> None:
        """As ``ResponseChannel.reply``, not before the disks are done."""
        DiskWait(self.process, self.operations, lambda: self.channel.reply(response, size, background)).start()

    def release(self) -> None:
        self.channel.release()

    def close(self) -> None:
        self.channel.close()
