"""The clusters that clients attach to: a served one and franz-go's kfake, each in a process of its own, and the mock of
librdkafka, which lives in the process of a client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from attrs import frozen
from confluent_kafka import Producer

from benchmarks.runtimes import go_program

KFAKE = Path(__file__).parent / "kfake"
TOPIC = "orders"
PARTITIONS = 3
SCENARIO = """
title = "a benchmark"
[cluster]
brokers = 3
[[topics]]
name = "orders"
partitions = 3
replication_factor = 3
"""
LIMIT_S = 60.0


@frozen
class Attached:
    """A cluster that clients can attach to.

    Attributes:
        servers: bootstrap.servers.
        ready_s: how long it took from the start of the process, or of the client that has it, until then.
        pid: the id of the process that it has to itself; None: it has none.
    """

    servers: str
    ready_s: float
    pid: int | None = None

    def resident_mb(self) -> float:
        """Resident memory of its process, in MB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1000


@contextmanager
def served(scenario: str = SCENARIO, checkout: Path | None = None, options: Sequence[str] = ()) -> Iterator[Attached]:
    """``understudy serve`` in a process of its own; ``checkout``: that of another one."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        ready, file = folder / "ready", folder / "scenario.toml"
        file.write_text(scenario, encoding="utf-8")
        words = [sys.executable, "-m", "understudy", "serve", str(file), "--ready-file", str(ready), "--quiet"]
        # As where it is installed: with .pyc files, which the first round writes.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        if checkout is not None:
            environment["PYTHONPATH"] = f"{checkout}:{checkout / 'scenarios' / 'package'}"
        began = time.perf_counter()
        process = subprocess.Popen([*words, *options], stdout=subprocess.DEVNULL, env=environment)
        try:
            while not ready.exists():
                assert process.poll() is None, "the served cluster has ended"
                assert time.perf_counter() - began < LIMIT_S, "the served cluster is not ready"
                time.sleep(0.001)
            ready_s = time.perf_counter() - began
            servers = json.loads(ready.read_text(encoding="utf-8"))["bootstrap_servers"]
            yield Attached(servers, ready_s, process.pid)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT_S)


@contextmanager
def mock() -> Iterator[Attached]:
    """The mock cluster of librdkafka (``test.mock.num.brokers``), in C. It has no replication."""
    began = time.perf_counter()
    owner = Producer({"bootstrap.servers": "127.0.0.1:1", "test.mock.num.brokers": 3})
    brokers = owner.list_topics(timeout=LIMIT_S).brokers.values()
    servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    yield Attached(servers, time.perf_counter() - began)
    owner.flush(0)


@contextmanager
def kfake() -> Iterator[Attached]:
    """The cluster of franz-go's tests, in Go. It has no replication.

    Raises: LookupError where there is no Go, or no way to the modules that it needs.
    """
    program = go_program(KFAKE, fetch=True)
    began = time.perf_counter()
    process = subprocess.Popen(
        [str(program), "3", TOPIC, str(PARTITIONS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        servers = process.stdout.readline().strip()
        yield Attached(servers, time.perf_counter() - began, process.pid)
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait(LIMIT_S)
