"""The drivers: those of the product, by name, and a command of one's own."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attrs import evolve, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.studies.clients.application_plan import IN_FLIGHT, OF_A_GROUP
from scenarios.wire.versions import is_at_least

CLASS_PATH = "UNDERSTUDY_KAFKA_CLIENTS"
"""The class path of Kafka's client for Java and of what it needs."""
NODE_MODULES = "UNDERSTUDY_NODE_MODULES"
"""The folder node_modules into which npm has installed the clients for JavaScript."""
SPARK_JARS = "UNDERSTUDY_SPARK_JARS"
"""The class path of Spark's Kafka source, of the Spark that PySpark brings along."""
FRANZ_GO = "UNDERSTUDY_FRANZ_GO"
"""The program that Go has built of the driver of franz-go."""
PROGRAMS = Path(__file__).parent / "drivers"
COMMAND = "command:"
"""The first part of ``--clients`` for a driver of one's own; the rest is its command."""


@frozen(kw_only=True)
class ClientDriver:
    """One driver.

    Attributes:
        name: as ``--clients`` has it.
        command: the program and its arguments.
        package: the Python package that it needs; empty: none that is known here.
        variable: the environment variable that says where its client is; empty: none.
        wanted: what that has to be set to.
        file: a file that has to be there; None: none that is known here.
        least: the first release whose API versions are enough for the client; empty: not known here.
        lacks: settings that the client does not have.
    """

    name: str
    command: tuple[str, ...]
    package: str = ""
    variable: str = ""
    wanted: str = ""
    file: Path | None = None
    least: str = ""
    lacks: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse a driver whose client is not installed. Raises: BadInput."""
        if self.variable and not os.environ.get(self.variable):
            what = f"{self.name} needs {self.variable}, which is not set; set it to {self.wanted}"
            raise BadInput(what, where="--clients")
        if self.file is not None and not self.file.is_file():
            what = f"{self.name} is not where {self.variable} says: there is no {self.file}; set it to {self.wanted}"
            raise BadInput(what, where="--clients")
        if self.variable and not shutil.which(self.command[0]):
            raise BadInput(f"{self.name} needs {self.command[0]} on the PATH; install it", where="--clients")
        if self.package:
            try:
                version(self.package)
            except PackageNotFoundError:
                what = f"{self.name} needs {self.package}, which is not installed; run: pip install {self.package}"
                raise BadInput(what, where="--clients") from None

    def check_versions(self, release: str) -> None:
        """Refuse a client for which the API versions of a release are not enough. Raises: BadInput."""
        if self.least and not is_at_least(release, self.least):
            what = f"{self.name} needs the API versions of Kafka {self.least} or later, and brokers announce {release}"
            raise BadInput(f"{what}; add --profile kafka-3.9 or --api-versions {self.least}", where="--clients")


def _of_package(name: str, package: str, module: str, lacks: tuple[str, ...] = ()) -> ClientDriver:
    program = f"{__package__}.drivers.{module}"
    return ClientDriver(name=name, command=(sys.executable, "-m", program), package=package, lacks=lacks)


def _java() -> ClientDriver:
    command = ("java", "-cp", os.environ.get(CLASS_PATH, ""), str(PROGRAMS / "JavaDriver.java"))
    wanted = "the class path of kafka-clients"
    return ClientDriver(name="java", command=command, variable=CLASS_PATH, wanted=wanted)


def _spark() -> ClientDriver:
    return evolve(
        _of_package("spark", "pyspark", "spark_driver", OF_A_GROUP), variable=SPARK_JARS,
        wanted="the class path of spark-sql-kafka-0-10",
    )  # fmt: skip


def _of_node(name: str, program: str, least: str = "") -> ClientDriver:
    return ClientDriver(
        name=name, command=("node", str(PROGRAMS / program)), variable=NODE_MODULES, least=least,
        wanted=f"the folder node_modules in which npm install {name} was run",
        file=Path(os.environ.get(NODE_MODULES, "")) / name / "package.json",
    )  # fmt: skip


def _franz_go() -> ClientDriver:
    program = os.environ.get(FRANZ_GO, "")
    return ClientDriver(
        name="franz-go", command=(program,), variable=FRANZ_GO, file=Path(program),
        wanted=f"the program that go build -o makes in {PROGRAMS / 'franz'}",
    )  # fmt: skip


def known_drivers() -> tuple[ClientDriver, ...]:
    """The drivers of the product. Where the clients of other languages are, the environment says."""
    return (
        _of_package("librdkafka", "confluent-kafka", "librdkafka_driver"),
        _of_package("kafka-python", "kafka-python", "kafka_python_driver"),
        _of_package("aiokafka", "aiokafka", "aiokafka_driver", (IN_FLIGHT,)),
        _java(),
        _of_node("kafkajs", "kafkajs_driver.cjs"),
        _of_node("@platformatic/kafka", "platformatic_driver.mjs", "3.3"),
        _franz_go(),
        _spark(),
    )


def drivers_named(names: Sequence[str]) -> list[ClientDriver]:
    """The drivers of these names, each once. Raises: BadInput for one that is unknown, or whose client is missing."""
    found = [_driver(name) for name in dict.fromkeys(names)]
    for driver in found:
        driver.check()
    return found


def _driver(name: str) -> ClientDriver:
    if name.startswith(COMMAND):
        words = shlex.split(name.removeprefix(COMMAND))
        if not words:
            raise BadInput(f"{name!r} names no program; write {COMMAND}PROGRAM", where="--clients")
        return ClientDriver(name=name, command=tuple(words))
    known = {driver.name: driver for driver in known_drivers()}
    if name not in known:
        hint = did_you_mean(name, [*known, f"{COMMAND}PROGRAM"])
        raise BadInput(f"no driver is called {name!r}; {hint}", where="--clients")
    return known[name]
