"""The Spark session: quiet, in UTC, with this Python in its workers and the program's code on their import path."""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark import SparkConf
from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.dataset.identity import IMPORT_ROOT
from scenarios.studies.java import ensure_java
from scenarios.studies.spark import ctrl_c
from scenarios.studies.spark.far_side import reason
from scenarios.studies.spark.shipping import PROGRAM, is_local, ship

LOCAL = "local[2]"

_LOG4J = """\
rootLogger.level = warn
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = warn
rootLogger.appenderRef.stderr.ref = stderr
rootLogger.appenderRef.file.ref = file
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %m%n
appender.stderr.filter.threshold.type = ThresholdFilter
appender.stderr.filter.threshold.level = {shown}
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c: %m%n%ex
"""
_LOG = "spark.understudy.log"
"""The setting of a session that names the file of its log."""

_REACH_S = 5.0
_BRIEF = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The JVM options of a short session: the optimizing compiler and the parallel collector take longer to warm up than it
lasts."""
_LONG = " -XX:+UseParallelGC"
"""The JVM options of a long session. Percentiles make many short-lived objects: over ten million rows the parallel
collector needs a fifth less processor time than G1, the JVM's own choice."""


@contextmanager
def session(
    master: str = LOCAL, packages: Sequence[str] = PROGRAM, *, brief: bool = True, quiet: bool = False
) -> Iterator[SparkSession]:
    """A session on ``master``; or the session that runs already, which is then not stopped afterwards.

    Args:
        packages: the top-level packages that are sent to executors which do not share this process's import path.
        brief: whether the JVM is tuned to start fast rather than to run fast: it has little to do, as in a sweep, where
            Python does the work.
        quiet: whether errors go into the log (``logged``) only, because the caller reports them.

    Raises: JavaMissing; BadInput for a master that cannot be reached.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        ship(running, packages)
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="understudy-spark-") as folder:
        spark = _start(master, Path(folder), brief, quiet)
        with ctrl_c.unremarked():
            try:
                ship(spark, packages)
                yield spark
            finally:
                spark.stop()


def compile_queries(spark: SparkSession, compiled: bool) -> None:
    """Set whether Spark compiles the queries that follow to Java. Compiling takes seconds, which pays off for many rows
    only; the results are the same."""
    spark.conf.set("spark.sql.codegen.wholeStage", "true" if compiled else "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiled else "NO_CODEGEN")


def logged(spark: SparkSession) -> str:
    """The log of this session; "" for a session that was not started here."""
    path = spark.sparkContext.getConf().get(_LOG)
    return Path(path).read_text(encoding="utf-8", errors="replace") if path and Path(path).exists() else ""


_MASTER = re.compile(r"local(\[([1-9]\d*|\*)(, *[1-9]\d*)?\])?|local-cluster\[.+\]|yarn|(spark|k8s)://.+")
"""The masters that Spark 4 accepts; for any other its JVM prints a stack."""


def check_reachable(master: str) -> None:
    """Check that a master can be reached, for which Spark tries a minute. Raises: BadInput for a text that is no
    master, and where no master of ``spark://HOST:PORT,HOST:PORT`` accepts a connection."""
    if not _MASTER.fullmatch(master):
        raise BadInput(
            f"{master!r} is no master; write local[2] for this machine, or spark://HOST:PORT", where="--master"
        )
    scheme, _, addresses = master.partition("://")
    if scheme != "spark":
        return
    why = ""
    for address in addresses.split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=_REACH_S).close()
            return
        except (OSError, ValueError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
    raise BadInput(
        f"{master!r} cannot be reached ({why}); name the master's address as its log has it", where="--master"
    )


def _start(master: str, folder: Path, brief: bool, quiet: bool) -> SparkSession:
    check_reachable(master)
    ensure_java()
    if is_local(master):
        os.environ["PYSPARK_PYTHON"] = sys.executable
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers may have theirs elsewhere
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    _put_first("PYTHONPATH", str(IMPORT_ROOT))
    logging = folder / "log4j2.properties"
    log = folder / "spark.log"
    logging.write_text(_LOG4J.format(log=log, shown="fatal" if quiet else "error"))
    java_options = f"-Dlog4j2.configurationFile=file:{logging}{_BRIEF if brief else _LONG}"
    options = {
        "spark.master": master,
        "spark.app.name": "understudy",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",  # planning stage by stage is slower for many small aggregations
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.python.worker.faulthandler.enabled": "true",
        "spark.executorEnv.PYTHONHASHSEED": "0",
        "spark.driver.extraJavaOptions": java_options,
        _LOG: str(log),
    }
    if master.startswith("local"):
        # Otherwise Spark resolves the host's name, which fails on a machine without a network.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        options["spark.executor.extraJavaOptions"] = java_options
    try:
        ctrl_c.start(SparkConf().setAll(list(options.items())))
        return SparkSession.Builder().getOrCreate()
    except Exception as error:  # py4j raises Java's exceptions under many names
        written = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        raise BadInput(f"Spark does not start on {master!r}: {reason(error, written)}", where="--master") from error


def _put_first(variable: str, folder: str) -> None:
    rest = [place for place in os.environ.get(variable, "").split(os.pathsep) if place and place != folder]
    os.environ[variable] = os.pathsep.join([folder, *rest])
