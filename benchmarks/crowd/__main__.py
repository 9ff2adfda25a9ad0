"""``python -m benchmarks.crowd [--before CHECKOUT] [--write]``: what clients that ask very much cost the others of a
served cluster, in waiting and in memory. ``--before`` measures another checkout, too.

One client asks for metadata again and again, and its waits are measured: alone, beside others that send requests
without end from another process, and while a single request creates 2,000 topics. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import os
import socket
import statistics
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import define

from benchmarks.crowd import flood
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from benchmarks.wire.clusters import Attached, served
from scenarios.wire.codec import encode_request

SCENARIO = """
title = "a crowd"
profile = "kafka-2.7"
[cluster]
brokers = 3
config = { "default.replication.factor" = 3 }
"""
FLOODS = (1, 20)
TOPICS = 2000
CLOSED = 8000
UNFINISHED, EACH = 50, 20_000_000
"""Connections that each send so many bytes of a request that they never complete."""
SECONDS = 5.0
MOST_WAIT_MS = 100.0
MOST_GROWTH_MB = 3.0
MOST_UNFINISHED_MB = 400.0


@define
class Found:
    """The results of one checkout: the median and the longest wait, in milliseconds, and memory, in MB."""

    alone: tuple[float, float]
    flooded: list[tuple[float, float]]
    creating: tuple[float, float]
    creating_cpu_s: float
    closed_mb: float
    unfinished_mb: float


def measured(checkout: Path | None) -> Found:
    """Measure one checkout, each case with a new cluster."""
    with served(SCENARIO, checkout) as cluster:
        alone = waits(cluster, SECONDS)
        flooded = []
        for connections in FLOODS:
            with flooding(cluster, connections):
                flooded.append(waits(cluster, SECONDS))
    with served(SCENARIO, checkout) as cluster:
        before = cpu_s(cluster)
        names = [{"name": f"topic{number}"} for number in range(TOPICS)]
        creating = connected(cluster)
        creating.sendall(framed(encode_request(3, 9, 1, "many", {"topics": names, "allow_auto_topic_creation": True})))
        answered = threading.Thread(target=answer_of, args=(creating,))
        answered.start()
        while_creating = waits(cluster, lasts=answered)
        creating_cpu_s = cpu_s(cluster) - before
    with served(SCENARIO, checkout) as cluster:
        before_mb = cluster.resident_mb()
        for _ in range(CLOSED):
            with connected(cluster) as client:
                ask(client)
        closed_mb = cluster.resident_mb() - before_mb
    with served(SCENARIO, checkout) as cluster:
        before_mb = cluster.resident_mb()
        clients = [connected(cluster) for _ in range(UNFINISHED)]
        for client in clients:
            with suppress(OSError):  # it was closed
                client.sendall(struct.pack(">i", 100_000_000) + bytes(EACH))
        time.sleep(1)
        unfinished_mb = cluster.resident_mb() - before_mb
        for client in clients:
            client.close()
    return Found(alone, flooded, while_creating, creating_cpu_s, closed_mb, unfinished_mb)


# -- clients ----------------------------------------------------------------------------------------------------------


def connected(cluster: Attached) -> socket.socket:
    """A connection to the first broker."""
    host, port = cluster.servers.split(",")[0].split(":")
    return socket.create_connection((host, int(port)), 120)


def framed(request: bytes) -> bytes:
    return struct.pack(">i", len(request)) + request


def answer_of(client: socket.socket) -> bytes:
    """The whole frame of the next answer, without its size."""
    with client.makefile("rb", buffering=0) as stream:
        (size,) = struct.unpack(">i", _exactly(stream.read, 4))
        return _exactly(stream.read, size)


def _exactly(read: flood.Read, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = read(size - len(data))
        assert part, "the connection was closed"
        data += part
    return data


def ask(client: socket.socket) -> None:
    client.sendall(flood.REQUEST)
    answer_of(client)


def waits(cluster: Attached, seconds: float = 0.0, lasts: threading.Thread | None = None) -> tuple[float, float]:
    """The median and the longest time that a request waits, in milliseconds, for so many seconds, or as long as a
    thread ``lasts``."""
    took: list[float] = []
    with connected(cluster) as client:
        until = time.monotonic() + seconds
        while time.monotonic() < until or (lasts is not None and lasts.is_alive()):
            began = time.perf_counter()
            ask(client)
            took.append(1000 * (time.perf_counter() - began))
            time.sleep(0.01)
    return statistics.median(took), max(took)


@contextmanager
def flooding(cluster: Attached, connections: int) -> Iterator[None]:
    """Another process sends requests without end."""
    address = cluster.servers.split(",")[0]
    process = subprocess.Popen([sys.executable, "-m", flood.__name__, address, str(connections)])
    try:
        time.sleep(1)
        yield
    finally:
        process.kill()
        process.wait()


def cpu_s(cluster: Attached) -> float:
    """The CPU time of the served cluster so far."""
    fields = Path(f"/proc/{cluster.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- the table --------------------------------------------------------------------------------------------------------


def main() -> int:
    """Measure, print, and write the section with ``--write``."""
    parser = parser_of("crowd", __doc__)
    parser.add_argument("--before", type=Path, metavar="CHECKOUT")
    arguments = parser.parse_args()
    here = measured(None)
    columns = [("here", here)]
    if arguments.before is not None:
        columns.insert(0, ("before", measured(arguments.before.resolve())))

    def wait(of: tuple[float, float]) -> str:
        return f"{of[0]:,.1f} ms, at most {of[1]:,.0f} ms"

    rows = [("a request waits, alone", *(wait(found.alone) for _, found in columns))]
    for place, connections in enumerate(FLOODS):
        beside = f"beside {connections} that send{'s' if connections == 1 else ''} without end"
        rows.append((beside, *(wait(found.flooded[place]) for _, found in columns)))
    rows += [
        (f"while a request creates {TOPICS:,} topics", *(wait(found.creating) for _, found in columns)),
        ("that request, CPU time", *(f"{found.creating_cpu_s:.1f} s" for _, found in columns)),
        (f"memory after {CLOSED:,} closed connections", *(f"+{found.closed_mb:.0f} MB" for _, found in columns)),
        (
            f"memory with {UNFINISHED} times {EACH // 10**6} MB of requests that are not complete",
            *(f"+{found.unfinished_mb:.0f} MB" for _, found in columns),
        ),
    ]
    load = f"; load average {os.getloadavg()[1]:.0f} meanwhile"
    lines = [machine("python -m benchmarks.crowd") + load, "", *table(("", *(name for name, _ in columns)), rows)]
    lines += ["", "Three brokers. Waits are medians and the longest, on the clock."]
    problems = [
        f"{what}: {most:g} {unit}"
        for what, found, most, unit in (
            ("a request's median wait beside others", here.flooded[-1][0], MOST_WAIT_MS, "ms"),
            ("memory after closed connections", here.closed_mb, MOST_GROWTH_MB, "MB"),
            ("memory with requests that are not complete", here.unfinished_mb, MOST_UNFINISHED_MB, "MB"),
        )
        if found > most
    ]
    return conclude("crowd", lines, problems, write=arguments.write)


if __name__ == "__main__":
    sys.exit(main())
