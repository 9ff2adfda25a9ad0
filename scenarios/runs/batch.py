"""The one engine that spreads runs over workers: ``run --seeds``, the atlas and sweeps use it.

A batch is a function and its tasks, plain values that can be pickled. ``in_order`` yields the results in the order of
the tasks, each as soon as it and those before it are there::

    with closing(in_order(run_task, tasks, Processes(4))) as results:
        for result in results:
            ...

The workers are this process (``ThisProcess``), fresh processes (``Processes``) or Spark's executors
(``scenarios.studies.spark.task.SparkTasks``; nothing here imports Spark). With all of them:

- every task gives one result, also when Spark has executed it twice;
- an exception of the function reaches the caller and ends the batch, unless the function wraps its work in ``attempt``:
  then the task's result is a ``Failure`` and the others go on;
- Ctrl-C, an exception, or closing the generator ends the tasks that are under way. Results that were yielded before
  are the caller's, and what a task has written stays.

To resume a batch, leave out the tasks that are done. Small tasks go into a ``Chunk``, which one worker does and whose
results are written as one file; ``chunks`` leaves out what is done already.
"""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections import deque
from collections.abc import Callable, Container, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Generic, Protocol, TypeVar

from attrs import frozen

from scenarios.errors import BadInput

AHEAD = 4
"""Tasks submitted per worker: enough that none waits for work while an earlier task takes long."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Common = TypeVar("Common")
Item = TypeVar("Item")

Submit = Callable[[Callable[[Any], Any], Any], "Future[Any]"]
"""Starts ``work(task)`` and gives its future result."""


class Workers(Protocol):
    """What executes the tasks."""

    @property
    def ahead(self) -> int:
        """How many tasks are submitted before the result of the first of them is waited for; at least one."""
        ...

    def started(self) -> AbstractContextManager[Submit]:
        """The workers at work. Leaving the context with an exception ends what they are doing."""
        ...


def in_order(work: Callable[[Task], Result], tasks: Iterable[Task], workers: Workers) -> Generator[Result, None, None]:
    """``work(task)`` of each task, in the order of the tasks. Close the generator when leaving it early."""
    waiting: deque[Future[Result]] = deque()
    with workers.started() as submit:
        for task in tasks:
            waiting.append(submit(work, task))
            if len(waiting) >= workers.ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


# -- workers of this machine ------------------------------------------------------------------------------------------


@frozen
class ThisProcess:
    """One task after the other, here."""

    ahead: int = 1

    @contextmanager
    def started(self) -> Iterator[Submit]:
        yield _now


def _now(work: Callable[[Task], Result], task: Task) -> Future[Result]:
    done: Future[Result] = Future()
    done.set_result(work(task))
    return done


@frozen
class Processes:
    """Fresh processes, which inherit nothing. Only this process reacts to Ctrl-C; it ends the others at once.

    Attributes:
        count: how many.
        prepare: called in each of them before its first task.
    """

    count: int
    prepare: Callable[[], None] | None = None

    @property
    def ahead(self) -> int:
        return AHEAD * self.count

    @contextmanager
    def started(self) -> Iterator[Submit]:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self.count, context, initializer=_begin, initargs=(self.prepare,))
        try:
            yield pool.submit
        except BaseException:
            # Cancelling the futures would race with the pool's own thread, which gives them up anyway.
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown()


def _begin(prepare: Callable[[], None] | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if prepare is not None:
        prepare()


def local_workers(jobs: int, prepare: Callable[[], None] | None = None) -> Workers:
    """This process for one job, fresh processes for more."""
    return ThisProcess() if jobs <= 1 else Processes(jobs, prepare)


# -- chunks, and tasks that fail --------------------------------------------------------------------------------------


@frozen
class Chunk(Generic[Common, Item]):
    """Small tasks that one worker does one after the other and whose results are written together.

    Attributes:
        common: what they have in common. It travels with every chunk, so it should be small.
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
class Failure(Generic[Item]):
    """A chunk that failed.

    Attributes:
        item: the one that was being done.
        what: the exception in one line.
        trace: its traceback.
        bad_input: it was a BadInput, which the user can correct.
    """

    item: Item
    what: str
    trace: str
    bad_input: bool


def attempt(work: Callable[[Iterator[Item]], Result], items: Sequence[Item]) -> Result | Failure[Item]:
    """``work(items)``, or a ``Failure`` that names the item which ``work`` had taken last when it raised."""
    last = items[0]

    def taken() -> Iterator[Item]:
        nonlocal last
        for item in items:
            last = item
            yield item

    try:
        return work(taken())
    except Exception as error:
        bad_input = isinstance(error, BadInput)
        what = str(error) if bad_input else f"{type(error).__name__}: {error}"
        return Failure(item=last, what=what, trace=traceback.format_exc(), bad_input=bad_input)
