"""What can go wrong with the world itself, as opposed to inside it."""


class KernelError(Exception):
    """The world was used against its rules; never the fault of an emulated failure."""


class ForeignAwait(KernelError):
    """A task awaited something the world does not own (a socket, ``trio.sleep``): virtual time cannot drive
    it.

    Detached tasks, the default, run into it at once. Attached ones may await Trio's own things for a while:
    they are found out by a finite Trio deadline, or when nothing else is pending; hence suites run detached.
    """


class Deadlock(KernelError):
    """Every task is parked and nothing is pending. The message says who waits on what, since when, and
    where."""


class DeadIncarnation(KernelError):
    """A crashed process called into the network, ZooKeeper, a disk or the trace."""


class BudgetExceeded(KernelError):
    """The run used more events than it was allowed to (a livelock at one instant, or a scenario without
    end)."""
