"""The examples of tests with real clients, each as it stands in docs/use/examples."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.studies.clients.client_drivers import NODE_MODULES
from tests.docs.pages import DOCS, ROOT
from tests.scenarios.testing.test_pytest_plugin import run_pytest

EXAMPLES = DOCS / "use" / "examples"
UNDERSTUDY = f"{sys.executable} -m understudy"
JARS = Path.home() / ".m2" / "repository"


def run(*command: str, **more: str) -> str:
    """The output of a program that finds the checkout's ``understudy``. Raises: AssertionError where it fails."""
    paths = os.pathsep.join((str(ROOT), str(ROOT / "scenarios" / "package")))
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": paths, "UNDERSTUDY": UNDERSTUDY, **more}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_python(tmp_path: Path) -> None:
    pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed: ./understudy test does that")
    shutil.copy(EXAMPLES / "test_orders.py", tmp_path)
    printed = run_pytest(tmp_path, "test_orders.py")
    assert "test_no_acknowledged_order_is_lost_when_the_leader_dies PASSED" in printed, printed


@pytest.mark.slow
def test_javascript() -> None:
    modules = os.environ.get(NODE_MODULES)
    if modules is None or shutil.which("node") is None:
        pytest.skip(f"needs node, and {NODE_MODULES} with the folder node_modules in which kafkajs is")
    printed = run(
        "node", "--test", str(EXAMPLES / "orders.test.mjs"), NODE_MODULES_OF=str(Path(modules).parent / "x.js")
    )
    assert "# pass 1" in printed


@pytest.mark.slow
def test_java() -> None:
    jars = [*JARS.glob("org/apache/kafka/kafka-clients/3.9.*/*.jar"), *JARS.glob("org/slf4j/slf4j-api/1.7.*/*.jar")]
    if shutil.which("java") is None or len(jars) < 2:
        pytest.skip("needs Java 17, and kafka-clients 3.9 and slf4j-api 1.7 in the local Maven repository")
    class_path = os.pathsep.join(map(str, jars))
    assert "passed" in run("java", "-Xmx200m", "-cp", class_path, str(EXAMPLES / "OrdersTest.java"))


def test_the_container_serves_where_it_is_reached() -> None:
    text = (EXAMPLES / "Containerfile").read_text()
    assert '"serve", "--host", "0.0.0.0", "--advertised-host", "localhost"' in text
