"""How long a disk takes: transitions stay instants, what follows from them waits."""

from attrs import define, frozen


@frozen
class DiskSpeed:
    """Bytes per second, and time that each operation takes besides. ``read``, ``write`` None: bytes take no time."""

    read: int | None = None
    write: int | None = None
    latency_us: int = 0


@define(eq=False)
class Pace:
    """One disk's work, in the order in which it comes."""

    speed: DiskSpeed
    free_us: int = 0

    def write(self, now_us: int, size: int) -> int:
        """When so many bytes, come now, are written."""
        return self._work(now_us, size, self.speed.write)

    def read(self, now_us: int, size: int) -> int:
        """When so many bytes, asked for now, are read."""
        return self._work(now_us, size, self.speed.read)

    def _work(self, now_us: int, size: int, rate: int | None) -> int:
        bytes_us = 0 if rate is None else -(-size * 1_000_000 // rate)
        self.free_us = max(now_us, self.free_us) + self.speed.latency_us + bytes_us
        return self.free_us
