"""The engine that spreads runs over workers: order, failures, chunks; with every kind of workers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.batch import FailedItem, Processes, ThisProcess, Workers, attempt, chunks, local_workers
from scenarios.studies.spark.task_waves import Waves
from tests.scenarios.runs.batch_tasks import breaks_at_three, kept_out_of_collections, square

TASKS = range(20)
FORKING = """
import threading
from scenarios.runs.batch import Processes
from tests.scenarios.runs import batch_tasks

batch_tasks.state["set by the parent"] = True
print(*Processes(1).in_order(batch_tasks.inherited, range(3)))
end = threading.Event()
threading.Thread(target=end.wait).start()
print(*Processes(1).in_order(batch_tasks.inherited, range(3)))
end.set()
"""
KILLED = """
import os, sys, time
from scenarios.runs.batch import Processes

def number(task):
    os.write(1, b"%d\\n" % os.getpid())  # at once: print() may write the end of the line by itself
    time.sleep(1)

list(Processes(3).in_order(number, range(100)))
"""


@pytest.mark.parametrize("workers", [ThisProcess(), Processes(2)])
def test_results_come_once_and_in_the_order_of_the_tasks(workers: Workers) -> None:
    assert list(workers.in_order(square, TASKS)) == [task * task for task in TASKS]


@pytest.mark.spark
def test_spark_gives_the_same_results(spark: SparkSession) -> None:
    assert list(Waves(spark).in_order(square, TASKS)) == [task * task for task in TASKS]


@pytest.mark.spark
def test_workers_of_spark_do_not_look_through_this_programs_modules_after_each_task(spark: SparkSession) -> None:
    assert any(Waves(spark).in_order(kept_out_of_collections, TASKS))


def test_one_job_needs_no_process() -> None:
    assert isinstance(local_workers(1), ThisProcess)
    assert local_workers(3) == Processes(3)
    assert list(local_workers(0).in_order(square, [])) == []


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only: run the tests there")
def test_workers_are_forked_from_a_process_with_one_thread() -> None:
    command = [sys.executable, "-c", FORKING]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["True"] * 3 + ["False"] * 3, "the second time there was another thread"


@pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only: run the tests there")
def test_workers_end_with_a_process_that_is_killed() -> None:
    """They would hold the locks of its files, so that nothing could go on where it was."""
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [int(parent.stdout.readline()) for _ in range(3)]
        parent.kill()
        try:
            parent.communicate(timeout=60)  # all of it is there once the last of them has ended
        except subprocess.TimeoutExpired:
            for worker in set(workers):
                os.kill(worker, signal.SIGKILL)
            raise


@pytest.mark.parametrize("workers", [ThisProcess(), Processes(2)])
def test_an_exception_ends_the_batch_after_the_results_before_it(workers: Workers) -> None:
    found: list[int] = []
    with pytest.raises(ValueError, match="three is out of luck"):
        found.extend(workers.in_order(breaks_at_three, TASKS))
    assert found == [0, 1, 2]


@pytest.mark.spark
def test_spark_raises_what_a_task_raised(spark: SparkSession) -> None:
    found: list[int] = []
    with pytest.raises(Exception, match="three is out of luck"):
        found.extend(Waves(spark).in_order(breaks_at_three, TASKS))
    assert found == list(range(len(found)))
    assert len(found) <= 3


def test_this_process_does_a_task_only_when_its_result_is_wanted() -> None:
    begun: list[int] = []
    results = ThisProcess().in_order(begun.append, TASKS)
    next(results)
    results.close()
    assert begun == [0]


def test_chunks_leave_out_what_is_done_and_keep_their_boundaries() -> None:
    found = chunks("common", TASKS, 8, str, {"1", "2", *map(str, range(8, 16))})
    assert [(chunk.common, chunk.items) for chunk in found] == [
        ("common", (0, 3, 4, 5, 6, 7)),
        ("common", (16, 17, 18, 19)),
    ]


def test_an_attempt_that_succeeds_gives_its_result() -> None:
    assert attempt(sum, TASKS) == sum(TASKS)


def test_an_attempt_that_fails_names_the_item_and_the_error() -> None:
    def work(items: Iterator[int]) -> list[int]:
        return [breaks_at_three(item) for item in items]

    failure = attempt(work, TASKS)
    assert isinstance(failure, FailedItem)
    assert (failure.item, failure.what, failure.bad_input) == (3, "ValueError: three is out of luck", False)
    assert "breaks_at_three" in failure.trace


def test_bad_input_is_marked_as_such() -> None:
    def refuse(items: Iterator[int]) -> None:
        raise BadInput("is too small; write a larger one", where=f"items[{next(items)}]")

    failure = attempt(refuse, TASKS)
    assert isinstance(failure, FailedItem)
    assert (failure.item, failure.what) == (0, "items[0]: is too small; write a larger one")
    assert failure.bad_input
