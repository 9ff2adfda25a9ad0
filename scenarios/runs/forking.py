"""A fork of this process in the midst of a run: the child goes on with a copy of the whole world.

A child shares with its parent what the kernel keeps for both: Trio's epoll instance and the sockets that wake it. It
gets its own in their place, under the same numbers, so nothing that holds them notices.
"""

from __future__ import annotations

import gc
import os
import pickle
import select
import socket
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from attrs import frozen


def can_fork_runs() -> bool:
    """Whether runs can be forked here: on Linux, with a Trio whose parts are known. Elsewhere each continuation is
    played from the start, with the same events."""
    if not (sys.platform == "linux" and hasattr(os, "fork")):
        return False
    try:
        from trio._core._io_epoll import EpollIOManager
        from trio._core._wakeup_socketpair import WakeupSocketpair
    except ImportError:
        return False
    return "_registered" in EpollIOManager.__slots__ and "write_sock" in WakeupSocketpair.__init__.__code__.co_names


@frozen
class Fork:
    """The way from a child to its parent.

    Attributes:
        pid: the child's process id; 0 in the child itself.
        end: the file descriptor that the result goes through.
    """

    pid: int
    end: int

    @property
    def is_child(self) -> bool:
        return self.pid == 0

    def result(self) -> Any:
        """Wait for the child's result. Raises: ChildFailed where it has ended without one."""
        with os.fdopen(self.end, "rb") as pipe:
            data = pipe.read()
        os.waitpid(self.pid, 0)
        if not data:
            raise ChildFailed("a fork of the run ended without a result")
        done, value = pickle.loads(data)
        if not done:
            raise ChildFailed(value)
        return value

    def finish(self, work: Callable[[], Any]) -> NoReturn:
        """End the child with the result of ``work``."""
        status = 1
        try:
            try:
                data = pickle.dumps((True, work()))
            except BaseException:
                data = pickle.dumps((False, traceback.format_exc()))
            with os.fdopen(self.end, "wb") as pipe:
                pipe.write(data)
            status = 0
        finally:
            os._exit(status)


class ChildFailed(RuntimeError):
    """A fork of a run has failed. Its text is the child's own traceback."""


def fork_run() -> Fork:
    """Fork this process, within ``World.turn``. Returns in both."""
    gc.freeze()  # the child's collector would touch, and so copy, everything that there is
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a worker's thread only waits for the end of its parent
        pid = os.fork()
    if pid:
        gc.unfreeze()
        os.close(write)
        return Fork(pid, read)
    os.close(read)
    _own_wakeups()
    return Fork(0, write)


def _own_wakeups() -> None:
    """Give a child its own epoll instance and sockets."""
    from trio._core._run import GLOBAL_RUN_CONTEXT

    runner = GLOBAL_RUN_CONTEXT.runner
    io: Any = runner.io_manager
    for pair in (io._force_wakeup, runner.entry_queue.wakeup):
        one, other = socket.socketpair()
        for new, old in ((one, pair.wakeup_sock), (other, pair.write_sock)):
            new.setblocking(False)
            os.dup2(new.fileno(), old.fileno())
            new.close()
    with select.epoll() as epoll:
        os.dup2(epoll.fileno(), io._epoll.fileno())
    io._epoll.register(io._force_wakeup_fd, select.EPOLLIN)
    for fd, waiters in io._registered.items():
        if waiters.current_flags:
            io._epoll.register(fd, waiters.current_flags)
