"""Errors on the side of Spark, in one line; the rest goes into a file that the line names."""

from __future__ import annotations

import re
import sys
import traceback
from pathlib import Path

from pyspark.sql import SparkSession

from scenarios.runs.dataset.writer import put_text

ERRORS = "_errors"
"""A folder below the data set; Spark and Hive ignore names with an underscore."""

_CLUSTER = re.compile(r"Master removed our application: \w+|All masters are unresponsive! Giving up")
_PYTHON = re.compile(
    r"(?:PythonException|the Python worker):\s*(Traceback .*?)(?:\n\s*SQLSTATE|\n\s*\n|\n\tat |\Z)", re.DOTALL
)
_LOST = re.compile(r"ExecutorLostFailure \(executor [^\n]*")
_NO_PYTHON = re.compile(r'Cannot run program "[^\n]*')
_ABORTED = re.compile(r"Job aborted due to stage failure: [^\n]*")
_ENVIRONMENT = re.compile(
    r"PYTHON_VERSION_MISMATCH|Cannot run program|ModuleNotFoundError|Master removed our application"
    r"|All masters are unresponsive|BadInput: plug-in|SparkContext was shut down|stopped SparkContext|Py4JNetworkError"
)
_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
_HINTS = {
    "PYTHON_VERSION_MISMATCH": f"; set PYSPARK_PYTHON to a Python {_VERSION} that the workers have",
    "Cannot run program": f"; set PYSPARK_PYTHON to a Python {_VERSION} that the workers have",
    "ModuleNotFoundError": "; set PYSPARK_PYTHON to a Python that has it",
    "Master removed our application": "; the workers' logs say why its executors ended",
}


def reason(error: BaseException, log: str = "") -> str:
    """The most informative line of an error of Spark's. ``log``: Spark's log."""
    text = str(error)
    line = _line(text, log) or next(iter(text.strip().splitlines()), "") or type(error).__name__
    hint = next((hint for what, hint in _HINTS.items() if what in line), "")
    return " ".join(line.split()) + hint


def _line(text: str, log: str) -> str:
    if found := _CLUSTER.search(text) or _CLUSTER.search(log):
        return found[0]
    if found := _PYTHON.search(text):
        return found[1].strip().splitlines()[-1]
    for pattern in (_NO_PYTHON, _LOST, _ABORTED):
        if found := pattern.search(text):
            return found[0]
    return ""


def is_environment(error: BaseException, spark: SparkSession) -> bool:
    """Whether Spark or its environment failed, not the run that was being read. Trying other runs does not help."""
    stopped = spark.sparkContext._jsc is None or spark.sparkContext._jsc.sc().isStopped()
    return stopped or _ENVIRONMENT.search(f"{type(error).__name__}: {error}") is not None


def write_down(root: Path, error: BaseException, log: str) -> Path:
    """Write the exception, with Java's and Python's stacks, and Spark's log. Returns the file."""
    text = "".join(traceback.format_exception(error))
    return put_text(root, root / ERRORS / "spark.txt", f"{text}\n{log}")
