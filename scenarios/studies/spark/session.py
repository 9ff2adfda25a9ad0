"""The Spark session: quiet, in UTC, with this Python in its workers and the program's code on their import path."""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.dataset.identity import IMPORT_ROOT, PACKAGES, package_folder
from scenarios.studies.java import ensure_java

LOCAL = "local[2]"

PROGRAM = tuple(dict.fromkeys(package.partition(".")[0] for package in PACKAGES))
"""The program's top-level packages."""

_LOG4J = """\
rootLogger.level = error
logger.shell.name = org.apache.spark.api.python.PythonGatewayServer
logger.shell.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark: %p %m%n
"""
_BRIEF = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The optimizing compiler and the parallel collector take longer to warm up than a short session lasts."""

_SHIPPED = (".py", ".toml", ".json")


@contextmanager
def session(master: str = LOCAL, packages: Sequence[str] = PROGRAM, *, brief: bool = True) -> Iterator[SparkSession]:
    """A session on ``master``; or the session that runs already, which is then not stopped afterwards.

    Args:
        packages: the top-level packages that are sent to executors which do not share this process's import path.
        brief: the JVM has little to do, as in a sweep, where Python does the work: it is tuned to start fast rather
            than to run fast.

    Raises: JavaMissing; BadInput for a master that cannot be reached.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="understudy-spark-") as folder:
        spark = _start(master, Path(folder), brief)
        try:
            if not is_local(master):
                spark.sparkContext.addPyFile(str(_archive(Path(folder), packages)))
            yield spark
        finally:
            spark.stop()


def compile_queries(spark: SparkSession, compiled: bool) -> None:
    """Whether Spark compiles the queries that follow to Java. Compiling takes seconds, which pays off for many rows
    only; the results are the same."""
    spark.conf.set("spark.sql.codegen.wholeStage", "true" if compiled else "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiled else "NO_CODEGEN")


def is_local(master: str) -> bool:
    """Whether the tasks run on this machine, in processes that have this process's import path."""
    return master == "local" or master.startswith("local[")


def _start(master: str, folder: Path, brief: bool) -> SparkSession:
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    _put_first("PYTHONPATH", str(IMPORT_ROOT))
    logging = folder / "log4j2.properties"
    logging.write_text(_LOG4J)
    java_options = f"-Dlog4j2.configurationFile=file:{logging}{_BRIEF if brief else ''}"
    builder = SparkSession.Builder().master(master).appName("understudy")
    options = {
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
    }
    if master.startswith("local"):
        # Otherwise Spark resolves the host's name, which fails on a machine without a network.
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
        options["spark.executor.extraJavaOptions"] = java_options
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        spark = builder.getOrCreate()
    except Exception as error:  # py4j raises Java's exceptions under many names
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise BadInput(f"Spark does not start on {master!r}: {reason[0]}", where="--master") from error
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _archive(folder: Path, packages: Sequence[str]) -> Path:
    """The packages as one file. It is kept while the session lasts: executors that start later fetch it."""
    archive = folder / "understudy-code.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for package in map(package_folder, packages):
            for path in sorted(package.rglob("*")):
                if path.suffix in _SHIPPED and "__pycache__" not in path.parts:
                    file.write(path, path.relative_to(package.parent))
    return archive


def _put_first(variable: str, folder: str) -> None:
    rest = [place for place in os.environ.get(variable, "").split(os.pathsep) if place and place != folder]
    os.environ[variable] = os.pathsep.join([folder, *rest])
