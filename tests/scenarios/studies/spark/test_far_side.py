"""Errors of Spark in one line. The texts are Spark 4.3's, as they came, shortened in the middle."""

from __future__ import annotations

import re

import pytest

from scenarios.errors import BadInput
from scenarios.studies.spark.far_side import reason
from scenarios.studies.spark.session import check_reachable

IN_PYTHON = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 0.0 (TID 3) (127.0.0.1 executor 1): org.apache.spark.api.python.PythonException: \
Traceback (most recent call last):
  File "worker.py", line 1890, in main
    process()
{last}

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
Driver stacktrace:
"""
REMOVED = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job 3 cancelled because SparkContext was shut down
\tat org.apache.spark.scheduler.DAGScheduler.$anonfun$cleanUpAfterSchedulerStop$1(DAGScheduler.scala:1301)
"""
LOST = """: org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 2.0 failed 4 times, \
most recent failure: Lost task 1.3 in stage 2.0 (TID 9) (127.0.0.1 executor 7): ExecutorLostFailure (executor 7 \
exited caused by one of the running tasks) Reason: Command exited with code 137
Driver stacktrace:
"""
KILLED = "ERROR StandaloneSchedulerBackend: Application has been killed. Reason: Master removed our application: FAILED"
EXITED = "exited caused by one of the running tasks) Reason: Command exited with code 137"
CAPTURED = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "schema.py", line 15, in <module>
    import pyarrow as pa
{last}

"""
NO_MODULE = "ModuleNotFoundError: No module named 'acme'"


@pytest.mark.parametrize(
    ("text", "log", "line"),
    [
        (IN_PYTHON.format(last=NO_MODULE), "", f"{NO_MODULE}; set PYSPARK_PYTHON to a Python that has it"),
        (CAPTURED.format(last="ValueError: no"), "", "ValueError: no"),
        (REMOVED, KILLED, "Master removed our application: FAILED; the workers' logs say why its executors ended"),
        (REMOVED, "ERROR: All masters are unresponsive! Giving up.", "All masters are unresponsive! Giving up"),
        (LOST, "", f"ExecutorLostFailure (executor 7 {EXITED}"),
        ("something else\nwith a stack", "", "something else"),
        ("", "", "RuntimeError"),
    ],
    ids=["no module", "captured", "removed", "no master", "executor lost", "other", "none"],
)
def test_the_line_says_what_went_wrong(text: str, log: str, line: str) -> None:
    assert reason(RuntimeError(text), log) == line


def test_another_python_on_the_workers_has_a_hint() -> None:
    last = (
        "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
        "version: 3.9 than that in driver: 3.11, PySpark cannot run with different minor versions."
    )
    line = reason(RuntimeError(IN_PYTHON.format(last=last)))
    assert "different version: 3.9 than that in driver: 3.11" in line
    assert "set PYSPARK_PYTHON to a Python 3." in line
    assert "\n" not in line


@pytest.mark.parametrize("master", ["spark://127.0.0.1:1", "spark://127.0.0.1", "spark://127.0.0.1:1,127.0.0.1:2"])
def test_a_master_that_does_not_answer_is_said_at_once(master: str) -> None:
    with pytest.raises(BadInput, match=f"'{master}' cannot be reached"):
        check_reachable(master)


@pytest.mark.parametrize("master", ["bogus", "local[0]", "local[x]", "spark:/host", ""])
def test_what_is_no_master_is_said_in_one_line(master: str) -> None:
    with pytest.raises(BadInput, match=f"{re.escape(repr(master))} is no master; write local"):
        check_reachable(master)
