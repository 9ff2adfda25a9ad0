"""Worker processes that share a command's runs."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from scenarios.cli import logs

_AHEAD = 4
"""Tasks handed out per process: enough that none waits for work while an earlier one takes long."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def in_order(
    work: Callable[[Task], Result], tasks: Iterable[Task], jobs: int, log: str
) -> Generator[Result, None, None]:
    """``work(task)`` of each task, in the order of the tasks, each as soon as it and those before it are done.

    One job: in this process. Close the generator when leaving early: that ends the processes.
    """
    if jobs == 1:
        yield from map(work, tasks)
        return
    waiting: deque[Future[Result]] = deque()
    with pool(jobs, log) as processes:
        for task in tasks:
            waiting.append(processes.submit(work, task))
            if len(waiting) == jobs * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def pool(jobs: int, log: str) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes. Ctrl-C ends them at once: only this process hears it, whoever sent it."""
    processes = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_prepare, initargs=(log,))
    try:
        yield processes
    except BaseException:
        # Cancelling what waits would race with the pool's own thread, which gives up on all of it anyway.
        for process in multiprocessing.active_children():
            process.terminate()
        raise
    finally:
        processes.shutdown()


def _prepare(log: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logs.configure(log)
