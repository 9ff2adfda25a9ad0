"""``python -m benchmarks.wire [--repeats 5] [--records 100000] [--write]``: start, memory, throughput and latency of a
served cluster, beside librdkafka's mock cluster and franz-go's kfake, with the same client in the same program.

They are measured in turn, each time from nothing. kfake is left out where Go does not build it (``UNDERSTUDY_GO`` names
the command where it is not on the path). Exit code 1 where a target is missed.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager

from attrs import frozen

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.runtimes import go_program, go_version
from benchmarks.tables import table
from benchmarks.wire import clients, clusters
from benchmarks.wire.clusters import Attached

CLUSTERS = {"served": clusters.served, "librdkafka's mock": clusters.mock, "kfake": clusters.kfake}
ONE_US = 200
"""The target for one record at a time."""


@frozen
class Round:
    """One round with one cluster; memory is None where it has no process to itself."""

    ready_s: float
    produced_per_s: float
    consumed_per_s: float
    one_us: float
    one_of_all_us: float
    ready_mb: float | None
    resident_mb: float | None


def measured(make: Callable[[], AbstractContextManager[Attached]], records: int) -> Round:
    """Attach clients to a new cluster."""
    with make() as cluster:
        ready_mb = None if cluster.pid is None else cluster.resident_mb()
        produced = clients.produced_per_s(cluster.servers, records)
        consumed = clients.consumed_per_s(cluster.servers, records)
        one, one_of_all = (clients.one_at_a_time_us(cluster.servers, acks) for acks in ("1", "all"))
        resident_mb = None if cluster.pid is None else cluster.resident_mb()
        return Round(cluster.ready_s, produced, consumed, one, one_of_all, ready_mb, resident_mb)


def main() -> int:
    """Measure, print, and write the section with ``--write``."""
    parser = parser_of("wire", __doc__, repeats=5)
    parser.add_argument("--records", type=int, default=100_000)
    arguments = parser.parse_args()
    names = list(CLUSTERS)
    try:
        go_program(clusters.KFAKE, fetch=True)
    except LookupError as reason:
        names.remove("kfake")
        print(f"left out: kfake, {reason}", file=sys.stderr)
    rounds: dict[str, list[Round]] = {name: [] for name in names}
    for _ in range(arguments.repeats):
        for name in names:
            rounds[name].append(measured(CLUSTERS[name], arguments.records))

    def median(name: str, figure: str) -> float | None:
        values = [getattr(each, figure) for each in rounds[name]]
        return None if None in values else statistics.median(values)

    rows = []
    for title, figure, scale, unit in (
        ("from the start of the process to the first connection", "ready_s", 1000.0, "ms"),
        ("produced, acks=all, in batches", "produced_per_s", 0.001, "thousand records/s"),
        ("consumed", "consumed_per_s", 0.001, "thousand records/s"),
        ("one record at a time, acks=1, median", "one_us", 1.0, "us"),
        ("one record at a time, acks=all, median", "one_of_all_us", 1.0, "us"),
        ("resident memory when ready", "ready_mb", 1.0, "MB"),
        ("resident memory after that traffic", "resident_mb", 1.0, "MB"),
    ):
        cells = (median(name, figure) for name in names)
        rows.append((title, *("-" if cell is None else f"{cell * scale:,.0f} {unit}" for cell in cells)))
    load = f"; load average {os.getloadavg()[1]:.0f} meanwhile"
    lines = [machine(f"python -m benchmarks.wire --records {arguments.records}") + load, ""]
    lines += table(("", *names), rows)
    lines += [
        "",
        f"Medians of {arguments.repeats} rounds, each with new clusters: three brokers, three partitions, records",
    ]
    lines += ["of 100 bytes. The mock and kfake have no replication: acks=all waits for nothing there."]
    if "kfake" in names:
        lines += [f"kfake is that of {go_version(clusters.KFAKE, 'github.com/twmb/franz-go/pkg/kfake')}."]
    served, mock = rounds["served"], rounds["librdkafka's mock"]
    problems = [
        f"{what}: {most}"
        for what, missed, most in (
            ("records produced", _slower(served, mock, "produced_per_s"), "half of what the mock takes"),
            ("records consumed", _slower(served, mock, "consumed_per_s"), "half of what the mock gives"),
            ("one at a time", statistics.median(one.one_us for one in served) > ONE_US, f"{ONE_US} us"),
        )
        if missed
    ]
    return conclude("wire", lines, problems, write=arguments.write)


def _slower(served: list[Round], mock: list[Round], figure: str) -> bool:
    here, there = (statistics.median(float(getattr(one, figure)) for one in rounds) for rounds in (served, mock))
    return here < there / 2


if __name__ == "__main__":
    sys.exit(main())
