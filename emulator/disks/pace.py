"""How long a disk takes. A transition still happens at one instant; its consequences (a response) wait for the disk."""

from attrs import define, frozen


@frozen
class DiskSpeed:
    """The speed of a disk.

    Attributes:
        read, write: bytes per second; None: unlimited.
        latency_us: added to each operation.
    """

    read: int | None = None
    write: int | None = None
    latency_us: int = 0


@define(eq=False)
class Pace:
    """The operations of one disk, done one after the other, in order of arrival.

    Attributes:
        free_us: when the disk is done with all of them (virtual us).
    """

    speed: DiskSpeed
    free_us: int = 0

    def write(self, now_us: int, size: int) -> int:
        """When ``size`` bytes that arrive now will have been written (virtual us)."""
        return self._work(now_us, size, self.speed.write)

    def read(self, now_us: int, size: int) -> int:
        """When ``size`` bytes that are requested now will have been read (virtual us)."""
        return self._work(now_us, size, self.speed.read)

    def _work(self, now_us: int, size: int, rate: int | None) -> int:
        bytes_us = 0 if rate is None else -(-size * 1_000_000 // rate)
        self.free_us = max(now_us, self.free_us) + self.speed.latency_us + bytes_us
        return self.free_us
