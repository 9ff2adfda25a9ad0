"""The drivers: those of the product, by name, and a command of one's own."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.studies.clients.application_plan import CONSUME, IN_FLIGHT, PRODUCE, TRANSACT

CLASS_PATH = "UNDERSTUDY_KAFKA_CLIENTS"
"""The class path of Kafka's client for Java and of what it needs."""
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
        lacks: settings that the client does not have.
        roles: the roles that it can carry out.
    """

    name: str
    command: tuple[str, ...]
    package: str = ""
    variable: str = ""
    lacks: tuple[str, ...] = ()
    roles: tuple[str, ...] = (PRODUCE, CONSUME, TRANSACT)

    def check(self) -> None:
        """Refuse a driver whose client is not installed. Raises: BadInput."""
        if self.variable and not (os.environ.get(self.variable) and shutil.which(self.command[0])):
            what = f"{self.name} needs {self.command[0]} on the PATH, and {self.variable}, which is not set"
            raise BadInput(f"{what}; set it to the class path of kafka-clients", where="--clients")
        if self.package:
            try:
                version(self.package)
            except PackageNotFoundError:
                what = f"{self.name} needs {self.package}, which is not installed; run: pip install {self.package}"
                raise BadInput(what, where="--clients") from None


def _of_package(name: str, package: str, module: str, lacks: tuple[str, ...] = ()) -> ClientDriver:
    program = f"{__package__}.drivers.{module}"
    return ClientDriver(name=name, command=(sys.executable, "-m", program), package=package, lacks=lacks)


def _java() -> ClientDriver:
    program = Path(__file__).parent / "drivers" / "JavaDriver.java"
    command = ("java", "-cp", os.environ.get(CLASS_PATH, ""), str(program))
    return ClientDriver(name="java", command=command, variable=CLASS_PATH)


DRIVERS: tuple[ClientDriver, ...] = (
    _of_package("librdkafka", "confluent-kafka", "librdkafka_driver"),
    _of_package("kafka-python", "kafka-python", "kafka_python_driver"),
    _of_package("aiokafka", "aiokafka", "aiokafka_driver", (IN_FLIGHT,)),
    _java(),
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
    known = {driver.name: driver for driver in DRIVERS}
    if name not in known:
        hint = did_you_mean(name, [*known, f"{COMMAND}PROGRAM"])
        raise BadInput(f"no driver is called {name!r}; {hint}", where="--clients")
    return known[name]
