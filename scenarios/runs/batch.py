"""The one engine that spreads runs over workers: ``run --seeds``, the atlas and sweeps use it.

A batch is a function and its tasks, plain values that can be pickled. ``in_order`` yields the results in the order of
the tasks, each as soon as it and those before it are there::

    with closing(Processes(4).in_order(run_task, tasks)) as results:
        for result in results:
            ...

The workers are this process (``ThisProcess``), others on this machine (``Processes``) or Spark's executors
(``scenarios.studies.spark.task_waves.Waves``; nothing here imports Spark). With all of them:

- tasks begin in their order, and every task gives one result, also when Spark has executed it twice;
- an exception of the function reaches the caller and ends the batch, unless the function wraps its work in ``attempt``:
  then the task's result is a ``FailedItem`` and the others go on;
- Ctrl-C, an exception, or closing the generator ends the tasks that are under way. Results that were yielded before
  are the caller's, and what a task has written stays.

To resume a batch, leave out the tasks that are done. Small tasks go into a ``Chunk``, which one worker does and whose
results are written as one file; ``chunks`` leaves out what is done already.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait
from threading import Thread
from typing import Generic, Protocol, TypeVar

from attrs import frozen

from scenarios import plugins
from scenarios.errors import BadInput

AHEAD = 4
"""Tasks submitted per process: enough that none waits for work while an earlier task takes long."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Common = TypeVar("Common")
Item = TypeVar("Item")


class Workers(Protocol):
    """The processes that do the tasks."""

    def in_order(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """``work(task)`` of each task, in the order of the tasks. Close the generator when leaving it early."""
        ...


# -- workers of this machine ------------------------------------------------------------------------------------------


@frozen
class ThisProcess:
    """One task after the other, each when its result is asked for."""

    def in_order(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        yield from map(work, tasks)


@frozen
class Processes:
    """Other processes. Only this process reacts to Ctrl-C; it ends the others at once.

    They are forked from this process where that is safe, so one costs milliseconds: import what they need beforehand.
    Elsewhere each is a fresh one, and imports everything itself.

    Attributes:
        count: how many.
        prepare: called in each of them before its first task.
    """

    count: int
    prepare: Callable[[], None] | None = None

    def in_order(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        with self._started() as pool:
            yield from _Pool(pool, AHEAD * self.count, kept=False).in_order(work, tasks)

    @contextmanager
    def kept(self) -> Iterator[Workers]:
        """Workers whose processes are kept for several batches, up to the end of the context."""
        with self._started() as pool:
            yield _Pool(pool, AHEAD * self.count, kept=True)

    @contextmanager
    def _started(self) -> Iterator[ProcessPoolExecutor]:
        context = multiprocessing.get_context("fork" if can_fork() else "spawn")
        pool = ProcessPoolExecutor(self.count, context, initializer=_begin, initargs=(self.prepare, plugins.loaded()))
        try:
            yield pool
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown()


@frozen
class _Pool:
    """Processes that are there.

    Attributes:
        ahead: how many tasks are submitted before the first result is waited for.
        kept: whether they do another batch after this one. If not, they end with it, and the pool's own thread gives up
            the futures that wait: before Python 3.12 it fails on one that was cancelled.
    """

    pool: ProcessPoolExecutor
    ahead: int
    kept: bool

    def in_order(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(self.pool.submit(work, task))
                if len(waiting) == self.ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except GeneratorExit:
            if self.kept:
                for future in waiting:
                    future.cancel()
            raise


def can_fork() -> bool:
    """Whether this process may be forked: on Linux, while it has a single thread.

    A fork has the calling thread alone, and a lock that another one held is never released in it. The threads of
    libraries (Arrow, OpenBLAS) count too, which Python does not know of. macOS's own libraries break after a fork.
    """
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _begin(prepare: Callable[[], None] | None, loaded: tuple[plugins.Plugin, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    plugins.restore(loaded)
    if prepare is not None:
        prepare()


def end_with_parent() -> None:
    """End this process as soon as the one that started it has ended, even by SIGKILL. Otherwise it would wait for work
    for ever, and keep the locks of the files that it has inherited."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        Thread(target=_end_after, args=(parent.sentinel,), daemon=True).start()


def _end_after(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def local_workers(jobs: int, prepare: Callable[[], None] | None = None) -> Workers:
    """The executor: this process for one job, other processes for more."""
    return ThisProcess() if jobs <= 1 else Processes(jobs, prepare)


@contextmanager
def kept_workers(jobs: int) -> Iterator[Workers]:
    """``local_workers`` for several batches: other processes are started once."""
    if jobs <= 1:
        yield ThisProcess()
    else:
        with Processes(jobs).kept() as workers:
            yield workers


# -- chunks, and tasks that fail --------------------------------------------------------------------------------------


@frozen
class Chunk(Generic[Common, Item]):
    """Small tasks that one worker does one after the other and whose results are written together.

    Attributes:
        common: the object that all items share. It travels with every chunk, so it should be small.
    """

    common: Common
    items: tuple[Item, ...]


def chunks(
    common: Common, items: Sequence[Item], size: int, name: Callable[[Item], str], done: Container[str] = ()
) -> Iterator[Chunk[Common, Item]]:
    """``items`` in chunks of at most ``size``, without those whose ``name`` is in ``done``.

    Where one chunk ends and the next begins depends on ``items`` and ``size`` alone, so all workers write the same
    files.
    """
    for start in range(0, len(items), size):
        missing = tuple(item for item in items[start : start + size] if name(item) not in done)
        if missing:
            yield Chunk(common, missing)


@frozen(kw_only=True)
class FailedItem(Generic[Item]):
    """A chunk, or an item of one, that failed.

    Attributes:
        item: the one that was being done.
        what: the exception in one line.
        trace: the traceback.
        bad_input: whether it was a BadInput, which the user can correct.
    """

    item: Item
    what: str
    trace: str
    bad_input: bool


def attempt(work: Callable[[Iterator[Item]], Result], items: Sequence[Item]) -> Result | FailedItem[Item]:
    """``work(items)``, or a ``FailedItem`` that names the item which ``work`` had taken last when it raised."""
    last = items[0]

    def taken() -> Iterator[Item]:
        nonlocal last
        for item in items:
            last = item
            yield item

    try:
        return work(taken())
    except Exception as error:
        return failure_of(last, error)


def failure_of(item: Item, error: Exception) -> FailedItem[Item]:
    """``error``, which came up while ``item`` was being done."""
    bad_input = isinstance(error, BadInput)
    what = str(error) if bad_input else f"{type(error).__name__}: {error}"
    return FailedItem(item=item, what=what, trace="".join(traceback.format_exception(error)), bad_input=bad_input)


def refuse_bad_input(failures: Iterable[FailedItem[Item]]) -> None:
    """Raises: BadInput where a failure is one that the user can correct: the first of them."""
    for failure in failures:
        if failure.bad_input:
            raise BadInput(failure.what)
