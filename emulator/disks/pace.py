"""The time that disk operations take. A transition still happens at one instant; its consequences (a response) wait for
the disk."""

from collections import deque
from collections.abc import Callable

from attrs import define, field, frozen


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
class DiskOperation:
    """One operation of a disk.

    Attributes:
        done_us: the time at which it will be done (virtual us). It changes with the disk's speed.
        waiting: called when that time has changed.
    """

    size: int
    writes: bool
    done_us: int
    waiting: list[Callable[[], object]] = field(factory=list)

    def takes_us(self, speed: DiskSpeed) -> int:
        """The duration of the operation by itself, in microseconds."""
        rate = speed.write if self.writes else speed.read
        return speed.latency_us + (0 if rate is None else -(-self.size * 1_000_000 // rate))


@define(eq=False)
class Pace:
    """The operations of one disk, done one after the other, in order of arrival.

    Attributes:
        free_us: the time at which the disk has done all of them (virtual us).
    """

    speed: DiskSpeed
    free_us: int = 0
    _under_way: deque[DiskOperation] = field(factory=deque)

    def write(self, now_us: int, size: int) -> DiskOperation:
        """``size`` bytes arrive now, to be written."""
        return self._work(now_us, DiskOperation(size, True, now_us))

    def read(self, now_us: int, size: int) -> DiskOperation:
        """``size`` bytes are requested now."""
        return self._work(now_us, DiskOperation(size, False, now_us))

    def _work(self, now_us: int, operation: DiskOperation) -> DiskOperation:
        self._forget_done(now_us)
        self.free_us = max(now_us, self.free_us) + operation.takes_us(self.speed)
        operation.done_us = self.free_us
        self._under_way.append(operation)
        return operation

    def _forget_done(self, now_us: int) -> None:
        under_way = self._under_way
        while under_way and under_way[0].done_us <= now_us:
            under_way.popleft()

    def change(self, speed: DiskSpeed, now_us: int) -> None:
        """Change the speed of the disk, also for the rest of the operation that it performs now."""
        self._forget_done(now_us)
        before, self.speed = self.speed, speed
        self.free_us, first = now_us, True
        for operation in self._under_way:
            takes_us = operation.takes_us(speed)
            if first:
                left_us, first = operation.done_us - now_us, False
                takes_us = -(-takes_us * left_us // operation.takes_us(before))
            self.free_us += takes_us
            operation.done_us = self.free_us
        for operation in self._under_way:
            for notify in operation.waiting:
                notify()
