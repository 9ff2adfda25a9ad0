"""The clients whose applications are measured."""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from attrs import frozen

from benchmarks.runtimes import Artifact, go_program, go_version, jars
from scenarios.studies.clients.client_drivers import NODE_MODULES

DRIVERS = Path(__file__).parent / "drivers"


@frozen
class Client:
    """One client.

    Attributes:
        install: how it can be had.
    """

    name: str
    install: str

    def version(self) -> str | None:
        """The installed version; None: it is not installed."""
        raise NotImplementedError

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        """The command of its driver."""
        raise NotImplementedError

    def environment(self) -> Mapping[str, str]:
        """The environment of its driver, besides that of this process."""
        return {}

    def fetch(self) -> None:
        """Bring here what a command of another language's tools can bring. Raises: LookupError where it cannot."""

    def meets(self, fault: str) -> bool:
        """Whether a fault means something to it."""
        return True

    @property
    def is_slow_to_start(self) -> bool:
        """Whether its consumer says (``begun``) when a producer may begin: many seconds after its process."""
        return False


@frozen
class PythonClient(Client):
    """A client that is installed beside this program."""

    module: str

    def version(self) -> str | None:
        try:
            return installed(self.name)
        except PackageNotFoundError:
            return None

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        driver = f"benchmarks.clients.drivers.{self.module}"
        return sys.executable, "-m", driver, role, servers, str(seconds), str(rate)


@frozen
class NodeClient(Client):
    """A client that npm has installed."""

    script: str

    def version(self) -> str | None:
        modules = os.environ.get(NODE_MODULES)
        if modules is None or shutil.which("node") is None:
            return None
        package = Path(modules) / self.name / "package.json"
        return str(json.loads(package.read_text(encoding="utf-8"))["version"]) if package.exists() else None

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        return "node", str(DRIVERS / self.script), role, servers, str(seconds), str(rate)


JVM = ("-Xmx200m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Two small programs on a machine that has a cluster to serve, too."""


@frozen
class JavaClient(Client):
    """A release of kafka-clients, from the local Maven repository."""

    release: str

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        return (Artifact("org.apache.kafka", "kafka-clients", self.release),)

    def version(self) -> str | None:
        try:
            class_path(self.artifacts)
        except LookupError:
            return None
        return self.release

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        program = str(DRIVERS / "Application.java")
        return "java", *JVM, "-cp", class_path(self.artifacts), program, role, servers, str(seconds), str(rate)

    def fetch(self) -> None:
        jars(self.artifacts, fetch=True)


@frozen
class SparkClient(Client):
    """Spark's Kafka source and sink, from the local Maven repository, in the PySpark that is installed."""

    release: str

    @property
    def artifacts(self) -> tuple[Artifact, ...]:
        in_spark = ("org.apache.hadoop", "org.scala-lang", "org.scala-lang.modules")
        return (Artifact("org.apache.spark", "spark-sql-kafka-0-10_2.13", self.release, in_spark),)

    def version(self) -> str | None:
        try:
            class_path(self.artifacts)
        except LookupError:
            return None
        return f"{installed('pyspark')} with spark-sql-kafka-0-10 {self.release}"

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        return sys.executable, "-m", "benchmarks.clients.drivers.spark", role, servers, str(seconds), str(rate)

    def environment(self) -> Mapping[str, str]:
        return {"UNDERSTUDY_SPARK_JARS": class_path(self.artifacts)}

    def fetch(self) -> None:
        jars(self.artifacts, fetch=True)

    def meets(self, fault: str) -> bool:
        return fault != "coordinator-dies"

    @property
    def is_slow_to_start(self) -> bool:
        return True


@frozen
class GoClient(Client):
    """franz-go, in a program that Go builds. Its version is that of the program's go.mod."""

    folder: str
    module: str

    def version(self) -> str | None:
        try:
            go_program(DRIVERS / self.folder)
        except LookupError:
            return None
        return go_version(DRIVERS / self.folder, self.module)

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        return str(go_program(DRIVERS / self.folder)), role, servers, str(seconds), str(rate)

    def fetch(self) -> None:
        go_program(DRIVERS / self.folder, fetch=True)


@cache
def class_path(artifacts: tuple[Artifact, ...]) -> str:
    """The class path of ``benchmarks.runtimes.jars``, computed once for each list."""
    return jars(artifacts)


PIP = "pip install -c constraints.txt '.[dev]'"
NPM = f"npm install kafkajs@2.2.4 @platformatic/kafka@1.35.0 in a folder, and set {NODE_MODULES} to its node_modules"
FETCH = "python -m benchmarks.clients --fetch"
MAVEN = f"needs Java 17, Maven, and {FETCH}"

CLIENTS: tuple[Client, ...] = (
    PythonClient("confluent-kafka", PIP, "confluent"),
    PythonClient("kafka-python", PIP, "kafka_python"),
    PythonClient("aiokafka", PIP, "aiokafka_client"),
    NodeClient("kafkajs", NPM, "kafkajs.cjs"),
    NodeClient("@platformatic/kafka", NPM, "platformatic.mjs"),
    JavaClient("java-2.4", MAVEN, "2.4.1"),
    JavaClient("java-3.9", MAVEN, "3.9.1"),
    GoClient("franz-go", f"needs Go 1.26, and {FETCH}", "franz", "github.com/twmb/franz-go"),
    SparkClient("spark", MAVEN, "4.2.0"),
)
