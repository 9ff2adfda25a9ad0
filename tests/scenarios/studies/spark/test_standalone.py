"""A standalone cluster of Spark: a master and two workers, each a process of its own, as on several machines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from scenarios.studies.java import ensure_java
from scenarios.studies.spark.session import LOCAL
from tests.scenarios.runs.dataset.runs import files
from tests.scenarios.studies.spark.processes import PATIENCE_S, process, sweeping, wait_for
from tests.scenarios.studies.spark.sweeping import swept

pytestmark = pytest.mark.spark

SPARK_HOME = Path(pyspark.__file__).parent
ADDRESS = "127.0.0.1"
WORKERS = 2
SCENARIO = "quick-move"
SEEDS = 8


@contextmanager
def standalone(folder: Path) -> Iterator[str]:
    """The master's address. The workers know of the program only what a driver sends them."""
    home = str(ensure_java())
    environment = {
        "JAVA_HOME": home,
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": ADDRESS,
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "PYTHONPATH": "",
    }
    daemon = [str(SPARK_HOME / "bin" / "spark-class")]
    anywhere = ["--host", ADDRESS, "--port", "0", "--webui-port", "0"]
    with ExitStack() as stack:
        log = folder / "master.log"
        arguments = [*daemon, "org.apache.spark.deploy.master.Master", *anywhere]
        master = stack.enter_context(process(arguments, cwd=folder, log=log, env=environment))
        wait_for(lambda: address(log) is not None, master)
        url = address(log)
        assert url is not None
        for number in range(WORKERS):
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker-{number}")]
            arguments = [*daemon, "org.apache.spark.deploy.worker.Worker", *anywhere, *size, url]
            stack.enter_context(process(arguments, cwd=folder, log=folder / f"worker-{number}.log", env=environment))
        wait_for(lambda: log.read_text().count("Registering worker") == WORKERS, master)
        yield url


def address(log: Path) -> str | None:
    found = re.search(r"Starting Spark master at (spark://\S+)", log.read_text())
    return found and found[1]


def test_a_cluster_of_processes_writes_what_this_process_writes(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    with (
        standalone(tmp_path / "cluster") as url,
        sweeping(tmp_path / "far", url, SCENARIO, SEEDS) as driver,
    ):
        output, errors = driver.communicate(timeout=PATIENCE_S)
        assert driver.returncode == 0, errors
        assert output == f"{2 * SEEDS} runs\n"
        executors = list((tmp_path / "cluster").glob("worker-*/app-*/*"))
        assert len(executors) == WORKERS, "both workers have to take part"
    assert swept(tmp_path / "near", LOCAL, SCENARIO, SEEDS).runs == 2 * SEEDS
    far, near = files(tmp_path / "far"), files(tmp_path / "near")
    assert len(near) > 2 * SEEDS
    assert list(far) == list(near)
    assert [place for place in near if far[place] != near[place]] == []
