"""Tasks that are handed out to Spark's executors while others are in progress, so that the next can depend on earlier
results.

A wave is one job of Spark, a task for each core. The next one is handed out before the last one is done, so no core
waits, and no sweep waits for a task that takes long.
"""

from __future__ import annotations

import gc
import math
import secrets
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from itertools import islice
from typing import Any, Generic, TypeVar

from attrs import define, field, frozen
from pyspark import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from scenarios import plugins
from scenarios.studies.spark import ctrl_c

_LOOK_S = 0.1
_COUNT_S = 1.0
_MOST_WAVES = 64

Task = TypeVar("Task")
Result = TypeVar("Result")


class Arrived(AccumulatorParam[list[tuple[int, Any]]]):
    """Results with the numbers of their tasks, in the driver as soon as a task has ended. If a task was executed twice,
    Spark takes one result."""

    def zero(self, value: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        return []

    def addInPlace(self, value1: list[tuple[int, Any]], value2: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        value1 += value2
        return value1


@frozen
class Came(Generic[Task, Result]):
    """The result of a task."""

    task: Task
    result: Result


@frozen
class Lost(Generic[Task]):
    """A task of a wave that Spark gave up, with Spark's exception. The others of the wave may be to blame."""

    task: Task
    error: Exception


@define
class _Wave(Generic[Task]):
    """A job in progress. ``missing``: its tasks without a result, by number."""

    job: Future[None]
    arrived: Accumulator[list[tuple[int, Any]]]
    missing: dict[int, Task]
    seen: int = 0

    def take(self) -> list[tuple[Task, Any]]:
        """The results that arrived since the last call."""
        new = self.arrived.value[self.seen :]
        self.seen += len(new)
        return [(self.missing.pop(number), result) for number, result in new if number in self.missing]


@define
class Waves:
    """Spark's executors as workers that ask for more.

    Attributes:
        ahead: the number of tasks that are handed out for each core.
    """

    spark: SparkSession
    ahead: int = 2
    _cores: int = field(init=False, default=0)
    _counted: float = field(init=False, default=-math.inf)

    @property
    def cores(self) -> int:
        """The cores of all executors, as of a moment ago: asking Java costs more than looking for results."""
        if time.monotonic() - self._counted >= _COUNT_S:
            self._cores, self._counted = int(self.spark.sparkContext.defaultParallelism), time.monotonic()
        return self._cores

    def in_order(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        """The results in the order of the tasks, as ``scenarios.runs.batch.Workers`` says; raises Spark's own exception
        where Spark gives a task up."""
        numbered = enumerate(tasks)
        early: dict[int, Came[tuple[int, Task], Result] | Lost[tuple[int, Task]]] = {}
        turn = 0
        with closing(self.results(_Numbered(work), lambda most: list(islice(numbered, most)))) as results:
            for came in results:
                if came is not None:
                    early[came.task[0]] = came
                while turn in early:
                    next_one = early.pop(turn)
                    if isinstance(next_one, Lost):
                        raise next_one.error
                    yield next_one.result
                    turn += 1

    def results(
        self, work: Callable[[Task], Result], deal: Callable[[int], Sequence[Task]]
    ) -> Generator[Came[Task, Result] | Lost[Task] | None, None, None]:
        """Every task's result as it comes, or None when a moment went by without one.

        Args:
            deal: called with the most tasks to hand out. Without tasks the work ends; it is asked once more when the
                last result was taken.

        An exception, or closing the generator, cancels the tasks in progress. So does Ctrl-C, while the next result is
        waited for.
        """
        group, waves = f"understudy-{secrets.token_hex(8)}", list[_Wave[Task]]()
        threads = ThreadPoolExecutor(_MOST_WAVES, thread_name_prefix="spark-job")
        with ctrl_c.held_back() as heed_ctrl_c, threads:
            try:
                while True:
                    heed_ctrl_c()
                    while len(waves) < _MOST_WAVES and (tasks := deal(self._room(waves))):
                        waves.append(self._begin(threads, group, work, tasks))
                    if not waves:
                        return
                    wait([wave.job for wave in waves], timeout=_LOOK_S, return_when=FIRST_COMPLETED)
                    yield None
                    for wave in list(waves):
                        is_over = wave.job.done()  # before the results are taken: if the job is done, they are all
                        for task, result in wave.take():
                            yield Came(task, result)
                        if is_over:
                            waves.remove(wave)
                            yield from _rest(wave)
            except BaseException:
                self._cancel(group, [wave.job for wave in waves])
                raise

    def _room(self, waves: Sequence[_Wave[Task]]) -> int:
        """The number of further tasks to hand out: a wave's worth, or none while that many would have to wait for
        longer."""
        cores = self.cores
        under_way = sum(len(wave.missing) for wave in waves)
        return cores if under_way <= (self.ahead - 1) * cores else 0

    def _begin(
        self, threads: ThreadPoolExecutor, group: str, work: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> _Wave[Task]:
        context, loaded = self.spark.sparkContext, plugins.loaded()
        arrived: Accumulator[list[tuple[int, Any]]] = context.accumulator([], Arrived())
        numbered = list(enumerate(tasks))

        def do(one: tuple[int, Task]) -> None:
            plugins.restore(loaded)
            arrived.add([(one[0], work(one[1]))])
            _keep_modules_out_of_collections()

        def job() -> None:
            context.setJobGroup(group, "understudy", interruptOnCancel=True)
            context.parallelize(numbered, len(numbered)).foreach(do)

        return _Wave(threads.submit(job), arrived, dict(numbered))

    def _cancel(self, group: str, jobs: Sequence[Future[None]]) -> None:
        """Cancel the jobs until all have ended: on a busy machine one may begin only seconds later, and a job whose
        runs do not end would be waited for without an end."""
        self.spark.sparkContext.cancelJobGroup(group)
        while wait(jobs, timeout=_LOOK_S).not_done:
            self.spark.sparkContext.cancelJobGroup(group)


@frozen
class _Numbered(Generic[Task, Result]):
    """A function on numbered tasks, whose results keep the numbers."""

    work: Callable[[Task], Result]

    def __call__(self, numbered: tuple[int, Task]) -> Result:
        return self.work(numbered[1])


def _keep_modules_out_of_collections() -> None:
    """Keep imported modules out of garbage collections. PySpark's workers collect after every task, and going through
    the modules of this program would take longer than the rest of a task."""
    if not gc.get_freeze_count():
        gc.collect()
        gc.freeze()


def _rest(wave: _Wave[Task]) -> list[Lost[Task]]:
    """The tasks of a wave that has ended without a result for them."""
    error = wave.job.exception()
    if error is None:
        assert not wave.missing, "Spark's job has ended without all results"
        return []
    if not isinstance(error, Exception):
        raise error
    return [Lost(task, error) for task in wave.missing.values()]
