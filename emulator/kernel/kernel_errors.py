"""Errors of the world itself, as opposed to failures that it emulates."""


class KernelError(Exception):
    """The world was used against its rules. An emulated failure never raises this."""


class ForeignAwait(KernelError):
    """A task awaited something that the world does not own (a socket, ``trio.sleep``) and cannot drive in virtual time.

    Detached tasks, the default, fail at once. Attached tasks fail only at a finite Trio deadline, or when nothing else
    is pending; test suites therefore run detached.
    """


class Deadlock(KernelError):
    """Every task is parked and nothing is pending. The message says which task waits for what, since when,
    and where."""


class DeadIncarnation(KernelError):
    """A crashed process used the network, ZooKeeper, a disk or the trace."""


class BudgetExceeded(KernelError):
    """The run used more events than allowed (a livelock at one instant, or a scenario without end)."""


class SubscriberFailed(KernelError):
    """A subscriber of the trace (a checker, a measure, a plug-in) raised an exception, which is the cause of this one.
    As an error of the world it ends the run, and is not taken for a failure of what emitted the event."""
