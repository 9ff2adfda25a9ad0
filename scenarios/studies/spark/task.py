"""Spark's executors as workers of a batch (``scenarios.runs.batch``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

from attrs import frozen
from pyspark.sql import SparkSession

from scenarios.runs.batch import AHEAD, Submit

_MOST_JOBS = 1024
_CANCELLED_WITHIN_S = 10


@frozen
class SparkTasks:
    """Every task is a Spark job of one task, submitted from a thread that waits for it, so the main thread can react to
    Ctrl-C. Spark executes a task again when its executor is lost.

    ``in_order`` raises Spark's own exception when Spark gives a job up.
    """

    spark: SparkSession

    @property
    def ahead(self) -> int:
        """More as executors register."""
        return min(_MOST_JOBS, AHEAD * self.spark.sparkContext.defaultParallelism)

    @contextmanager
    def started(self) -> Iterator[Submit]:
        context = self.spark.sparkContext
        jobs: list[Future[Any]] = []

        def job(work: Callable[[Any], Any], task: Any) -> Any:
            [result] = context.parallelize([task], 1).map(work).collect()
            return result

        def submit(work: Callable[[Any], Any], task: Any) -> Future[Any]:
            jobs.append(threads.submit(job, work, task))
            return jobs[-1]

        threads = ThreadPoolExecutor(_MOST_JOBS, thread_name_prefix="spark-job")
        try:
            yield submit
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            for _ in range(_CANCELLED_WITHIN_S):
                context.cancelAllJobs()  # again for a thread that was about to submit its job
                if not wait(jobs, timeout=1).not_done:
                    break
            raise
        threads.shutdown()
