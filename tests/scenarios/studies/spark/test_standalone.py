"""A standalone cluster of Spark: a master and two workers, each a process of its own, as on several machines."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark
import pytest
from attrs import frozen

import scenarios
from scenarios.runs.dataset.reader import open_data_set
from scenarios.studies.java import ensure_java
from tests.docs.pages import fenced
from tests.scenarios.runs.dataset.runs import rows
from tests.scenarios.studies.spark.processes import PATIENCE_S, descendants, process, sweeping, wait_for
from tests.scenarios.studies.spark.sweeping import WITHOUT_SPARK

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SPARK_HOME = Path(pyspark.__file__).parent
ADDRESS = "127.0.0.1"
WORKERS = 2
SCENARIO = Path(scenarios.__file__).parent / "library" / "quick-move.toml"
SEEDS = 12


@frozen
class Cluster:
    """A master, by its address, and its workers."""

    url: str
    workers: list[subprocess.Popen[str]]

    def kill_worker(self, number: int) -> None:
        """With its executors, as if the machine were gone."""
        worker = self.workers[number]
        for pid in (worker.pid, *descendants(worker.pid)):
            os.kill(pid, signal.SIGKILL)


@contextmanager
def standalone(folder: Path) -> Iterator[Cluster]:
    """The workers know of the program only what a driver sends them."""
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
        workers = []
        for number in range(WORKERS):
            size = ["--cores", "1", "--memory", "1g", "--work-dir", str(folder / f"worker-{number}")]
            arguments = [*daemon, "org.apache.spark.deploy.worker.Worker", *anywhere, *size, url]
            one = process(arguments, cwd=folder, log=folder / f"worker-{number}.log", env=environment)
            workers.append(stack.enter_context(one))
        wait_for(lambda: log.read_text().count("Registering worker") == WORKERS, master)
        yield Cluster(url, workers)


def address(log: Path) -> str | None:
    found = re.search(r"Starting Spark master at (spark://\S+)", log.read_text())
    return found and found[1]


def test_a_sweep_brings_its_code_and_its_plug_ins_and_survives_a_worker(tmp_path: Path) -> None:
    """A worker and its executor are killed half-way. The action that the scenario names is known to the driver only."""
    for name in ("cluster", "plugin"):
        (tmp_path / name).mkdir()
    scenario, far, near = installed_plugin(tmp_path / "plugin"), tmp_path / "far", tmp_path / "near"
    with standalone(tmp_path / "cluster") as cluster:
        with sweeping(far, cluster.url, scenario, SEEDS, path=tmp_path / "plugin") as driver:
            wait_for(lambda: len(executors(tmp_path)) == WORKERS and len(committed(far)) >= 2, driver)
            cluster.kill_worker(0)
            left = len(committed(far))
            output, errors = driver.communicate(timeout=PATIENCE_S)
        assert driver.returncode == 0, errors
        assert output == f"{2 * SEEDS} runs\n"
        assert left < 2 * SEEDS, "it was over before anything was killed"
    with sweeping(near, WITHOUT_SPARK, scenario, SEEDS, path=tmp_path / "plugin") as alone:
        _output, errors = alone.communicate(timeout=PATIENCE_S)
        assert alone.returncode == 0, errors
    assert len(open_data_set(near).run_ids) == 2 * SEEDS
    assert rows(far) == rows(near)


def executors(folder: Path) -> list[Path]:
    return list((folder / "cluster").glob("worker-*/app-*/*"))


def committed(root: Path) -> list[Path]:
    return list(root.glob("runs/*/*/*.parquet"))


def installed_plugin(folder: Path) -> str:
    """The plug-in of docs/extend/plugins.md, which imports ``understudy`` alone, as an installed package where only the
    driver looks. Returns a scenario that needs it."""
    (folder / "acme_restarts.py").write_text("\n\n".join(block.text for block in fenced("plugins.md", "python")))
    (folder / "acme-1.dist-info").mkdir()
    (folder / "acme-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (folder / "acme-1.dist-info" / "entry_points.txt").write_text("[understudy.plugins]\nacme = acme_restarts\n")
    scenario = folder / "restarts.toml"
    scenario.write_text(
        SCENARIO.read_text() + '\n[[method]]\nat = "2s"\naction = "broker.restart"\ntarget = 0\ntimes = 1\n'
    )
    return str(scenario)
