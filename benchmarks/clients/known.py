"""The clients whose applications are measured."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from attrs import frozen

DRIVERS = Path(__file__).parent / "drivers"
NODE = "UNDERSTUDY_NODE_MODULES"
"""The folder node_modules in which npm has installed the clients for JavaScript."""


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
        modules = os.environ.get(NODE)
        if modules is None or shutil.which("node") is None:
            return None
        program = f"console.log(require({str(Path(modules) / self.name / 'package.json')!r}).version)"
        done = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=False)
        return done.stdout.strip() or None

    def command(self, role: str, servers: str, seconds: float, rate: float) -> Sequence[str]:
        return "node", str(DRIVERS / self.script), role, servers, str(seconds), str(rate)


PIP = "pip install -c constraints.txt '.[dev]'"
NPM = f"npm install kafkajs@2.2.4 @platformatic/kafka in a folder, and set {NODE} to its node_modules"

CLIENTS: tuple[Client, ...] = (
    PythonClient("confluent-kafka", PIP, "confluent"),
    PythonClient("kafka-python", PIP, "kafka_python"),
    PythonClient("aiokafka", PIP, "aiokafka_client"),
    NodeClient("kafkajs", NPM, "kafkajs.cjs"),
)
