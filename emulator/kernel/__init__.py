"""Virtual time on Trio. The only package that uses ``trio.lowlevel``."""

from emulator.kernel.foreground import Busy, PendingWork
from emulator.kernel.kernel_errors import (
    BudgetExceeded,
    DeadIncarnation,
    Deadlock,
    ForeignAwait,
    KernelError,
    SubscriberFailed,
)
from emulator.kernel.mailbox import Mailbox, Signal
from emulator.kernel.task import Task
from emulator.kernel.world import Backend, Timer, World, WorldClock

__all__ = [
    "Backend",
    "BudgetExceeded",
    "Busy",
    "DeadIncarnation",
    "Deadlock",
    "ForeignAwait",
    "KernelError",
    "Mailbox",
    "PendingWork",
    "Signal",
    "SubscriberFailed",
    "Task",
    "Timer",
    "World",
    "WorldClock",
]
