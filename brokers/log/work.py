"""What a broker's disks have yet to do for the transition that has just been: its answers wait for it."""

from typing import Any, cast

from attrs import define

from emulator.disks import Pace
from emulator.network import Channel
from emulator.nodes import Process


@define(eq=False)
class DiskWork:
    """Of all log directories of one broker. ``until_us``: when what was written and read since somebody last waited is
    done; 0: nothing was, or disks take no time."""

    process: Process
    until_us: int = 0

    def wrote(self, pace: Pace, size: int) -> None:
        self.until_us = max(self.until_us, pace.write(self.process.clock_us, size))

    def read(self, pace: Pace, size: int) -> None:
        self.until_us = max(self.until_us, pace.read(self.process.clock_us, size))

    def take_us(self) -> int:
        """How long it still takes. Whoever asks is the one that waits."""
        if not self.until_us:
            return 0
        left_us = self.until_us - self.process.clock_us
        self.until_us = 0
        return max(0, left_us)

    def behind(self, channel: Channel) -> Channel:
        """``channel``, but that an answer leaves when the work is done."""
        if not self.until_us:
            return channel
        left_us = self.take_us()
        return cast(Channel, Behind(self.process, channel, self.process.clock_us + left_us)) if left_us else channel


@define(eq=False)
class Behind:
    """A channel whose answer waits for a disk."""

    process: Process
    channel: Channel
    ready_us: int

    def reply(self, response: Any, size: int, background: bool = False) -> None:
        """As ``Channel.reply``, not before the disk is done."""
        left_us = self.ready_us - self.process.clock_us
        if left_us > 0:
            self.process.call_later(left_us, lambda _: self.channel.reply(response, size, background), background=False)
        else:
            self.channel.reply(response, size, background)

    def release(self) -> None:
        self.channel.release()

    def close(self) -> None:
        self.channel.close()
