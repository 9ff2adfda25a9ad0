"""A machine: it has a name, disks and a clock, and outlives the processes that run on it."""

from collections.abc import Callable
from typing import Any

import trio
from attrs import Attribute, Factory, define, field, frozen

from emulator.disks import Disk
from emulator.kernel import World
from emulator.nodes.process import CrashKind, Main, Process
from emulator.trace import Trace


@frozen(eq=False)
class Listener:
    """The process that serves a port of its machine, and its callback for each new connection."""

    process: Process
    accept: Callable[[Any], object]


def _rouse(node: "Node", _: "Attribute[int]", ahead_us: int) -> int:
    """Rouse parked work before the clock is set: it depends on the clock."""
    if node.process is not None:
        node.process.parked.rouse()
    return ahead_us


@define(eq=False, repr=False)
class Node:
    """One machine.

    Attributes:
        id: the broker id, or a negative number for machines that are not brokers.
        epoch_us: the time of day at virtual time 0, in microseconds since 1970.
        ahead_us: how far its clock is ahead of virtual time. Roles read ``clock_us``, never ``world.now``.
        slowness: the factor by which its processors are slower than usual.
        up: the machine answers (refuses connections, resets unknown ones) even if no process runs.
        outages: the number of times that it has gone down.
        incarnations: the number of processes that were started on it.
        listeners: the ports that its process serves, by name.
        on_halt: ends the process when it stops by itself, for an owner that keeps track of it; None: it is killed.
        on_crash: called after its process died.
    """

    world: World
    trace: Trace
    id: int
    name: str
    nursery: trio.Nursery
    disks: tuple[Disk, ...] = field(factory=lambda: (Disk(),))
    epoch_us: int = 0
    ahead_us: int = field(init=False, default=Factory(lambda node: node.epoch_us, takes_self=True), on_setattr=_rouse)
    slowness: int = 1
    up: bool = True
    outages: int = 0
    process: Process | None = None
    incarnations: int = 0
    listeners: dict[str, Listener] = field(factory=dict)
    on_halt: Callable[[], object] | None = None
    on_crash: list[Callable[[Process, CrashKind], None]] = field(factory=list)

    @property
    def disk(self) -> Disk:
        """The first of its disks; most machines have only one."""
        return self.disks[0]

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.alive

    @property
    def clock_us(self) -> int:
        """The time that this machine's clock shows, in microseconds."""
        return self.world.now + self.ahead_us

    @property
    def skew_us(self) -> int:
        """How far its clock is ahead of the right time, in microseconds."""
        return self.ahead_us - self.epoch_us

    @skew_us.setter
    def skew_us(self, skew_us: int) -> None:
        self.ahead_us = self.epoch_us + skew_us

    def start(self, main: Main, phase_us: int = 0) -> Process:
        """Start a new process that runs ``main``. See ``Process`` for ``phase_us``."""
        assert not self.running, f"{self.name} runs already"
        self.up = True
        self.incarnations += 1
        self.process = process = Process(self, self.incarnations, phase_us)
        self.world.spawn(self.nursery, process.run, main, name=f"{self.name}/main")
        return process

    def halt(self) -> None:
        """End the process at once, as a process does that stops itself."""
        if self.on_halt is None:
            self.crash()
        else:
            self.on_halt()

    def crash(self, kind: CrashKind = "process") -> None:
        """Kill the process. ``host``: the machine goes down too, so unflushed data is lost, connections are not reset,
        and what was sent into a cut is not sent again."""
        if kind == "host":
            self.up = False
            self.outages += 1
            draws = self.world.stream("disk", self.name)
            for disk in self.disks:
                disk.lose_unflushed(lambda: draws.below(2) == 0)
        process = self.process
        if process is None or not process.alive:
            return
        process.kill()
        for disk in self.disks:
            disk.close()
        self.listeners.clear()
        for notify in self.on_crash:
            notify(process, kind)
