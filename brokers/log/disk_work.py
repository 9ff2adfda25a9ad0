"""The time that a broker's disks still need for the current transition: the broker's responses wait for it."""

from typing import Any, Protocol

from attrs import define

from emulator.disks import Pace
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
        until_us: when everything that was written and read since the last ``take_us`` will be done; 0: nothing was, or
            the disks take no time.
    """

    process: Process
    until_us: int = 0

    def wrote(self, pace: Pace, size: int) -> None:
        self.process.parked.rouse()
        self.until_us = max(self.until_us, pace.write(self.process.monotonic_us, size))

    def read(self, pace: Pace, size: int) -> None:
        self.process.parked.rouse()
        self.until_us = max(self.until_us, pace.read(self.process.monotonic_us, size))

    def take_us(self) -> int:
        """How long the work still takes. Resets it: the caller is the one that waits."""
        if not self.until_us:
            return 0
        left_us = self.until_us - self.process.monotonic_us
        self.until_us = 0
        return max(0, left_us)

    def after_disks(self, channel: ResponseChannel) -> ResponseChannel:
        """``channel``, or one whose answer leaves only when the work is done."""
        if not self.until_us:
            return channel
        left_us = self.take_us()
        return DelayedChannel(self.process, channel, self.process.monotonic_us + left_us) if left_us else channel


@define(eq=False)
class DelayedChannel:
    """A channel whose answer waits for a disk, until ``ready_us``."""

    process: Process
    channel: ResponseChannel
    ready_us: int

    def reply(self, response: Any, size: int, background: bool = False) -> None:
        """As ``ResponseChannel.reply``, not before the disk is done."""
        left_us = self.ready_us - self.process.monotonic_us
        if left_us > 0:
            self.process.call_later(left_us, lambda _: self.channel.reply(response, size, background), background=False)
        else:
            self.channel.reply(response, size, background)

    def release(self) -> None:
        self.channel.release()

    def close(self) -> None:
        self.channel.close()
