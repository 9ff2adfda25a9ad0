"""Spark's executors as workers of a batch (``scenarios.runs.batch``)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, TypeVar

from attrs import frozen
from pyspark import AccumulatorParam
from pyspark.sql import SparkSession

_LOOK_S = 0.2
_CANCELLATIONS = 10

Task = TypeVar("Task")
Result = TypeVar("Result")


class _Arrived(AccumulatorParam[list[tuple[int, Any]]]):
    """Results with the numbers of their tasks, in the driver as soon as a task has ended. Of a task that was executed
    twice Spark takes one."""

    def zero(self, value: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        return []

    def addInPlace(self, value1: list[tuple[int, Any]], value2: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        value1 += value2
        return value1


@frozen
class SparkTasks:
    """All tasks are one job of Spark, which executes a task again when its executor is lost. The job waits in a thread
    of its own, so the main thread can react to Ctrl-C.

    ``in_order`` raises Spark's own exception when Spark gives the job up.
    """

    spark: SparkSession

    def in_order(self, work: Callable[[Task], Result], tasks: Iterable[Task]) -> Generator[Result, None, None]:
        numbered = list(enumerate(tasks))
        if not numbered:
            return
        context = self.spark.sparkContext
        arrived = context.accumulator([], _Arrived())

        def job() -> None:
            context.parallelize(numbered, len(numbered)).foreach(lambda one: arrived.add([(one[0], work(one[1]))]))

        with ThreadPoolExecutor(1, thread_name_prefix="spark-job") as thread:
            running = thread.submit(job)
            early: dict[int, Result] = {}
            turn = seen = 0
            try:
                while turn < len(numbered):
                    over = running.done()
                    results = arrived.value[seen:]
                    early.update(results)
                    seen += len(results)
                    while turn in early:
                        yield early.pop(turn)
                        turn += 1
                    if over:
                        running.result()
                        assert turn == len(numbered), "Spark's job has ended without all results"
                    wait([running], timeout=_LOOK_S)
            except BaseException:
                for _ in range(_CANCELLATIONS):  # again, in case the job was about to begin
                    context.cancelAllJobs()
                    if wait([running], timeout=1).done:
                        break
                raise
