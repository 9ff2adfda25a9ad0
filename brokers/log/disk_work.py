"""The time that a broker's disks still need for the current transition: the broker's responses wait for it."""

from collections.abc import Callable
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

    def take_us(self) -> int:
        """How long the work still takes, at the disks' speeds of now. Resets it: the caller is the one that waits."""
        if not self.last:
            return 0
        left_us = max(operation.done_us for operation in self.last.values()) - self.process.monotonic_us
        self.last = {}
        return max(0, left_us)

    def take(self) -> tuple[DiskOperation, ...]:
        """What is not done yet. Resets it, as ``take_us``."""
        operations = tuple(self.last.values())
        return operations if self.take_us() else ()

    def after_disks(self, channel: ResponseChannel) -> ResponseChannel:
        """``channel``, or one whose answer leaves only when the work is done."""
        operations = self.take()
        return DelayedChannel(self.process, channel, operations) if operations else channel

    def take_signal(self) -> Signal | None:
        """What is set when the work is done; None: it is. Resets it, as ``take_us``."""
        operations = self.take()
        if not operations:
            return None
        signal = Signal(self.process.world, "the disks")
        DiskWait(self.process, operations, signal.set).start()
        return signal


@define(eq=False)
class DiskWait:
    """Calls ``then`` when ``operations`` are done, whatever speed the disks come to have meanwhile."""

    process: Process
    operations: tuple[DiskOperation, ...]
    then: Callable[[], object]
    _timer: Timer | None = None

    def start(self) -> None:
        for operation in self.operations:
            operation.waiting.append(self._again)
        self._look()

    def _look(self, _: object = None) -> None:
        left_us = max(operation.done_us for operation in self.operations) - self.process.monotonic_us
        if left_us > 0:
            self._timer = self.process.call_later(left_us, self._look, background=False)
        else:
            self._timer = None
            self.then()

    def _again(self) -> None:
        """A disk is slower or faster than it was."""
        if self._timer is not None and self.process.alive:
            self._timer.cancel()
            self._timer = self.process.call_later(0, self._look, background=False)


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
