"""``python -m benchmarks.large.held [--repeats 3] [--virtual-s 600] [--before CHECKOUT] [--write]``: CPU time and
memory of ``understudy run`` where a cluster of six brokers holds much data: when 1 TB is there at the start, and while
10 GB move under a throttle and 6 MB/s come in.

``--before``: the same with the code of another checkout, in turn. Exit code 1 where a digest differs from that of the
first run.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from attrs import frozen

from benchmarks.cluster.before import HERE, commits, environment
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

MIB = 1 << 20
START = "200 partitions of 5 GB, 3 replicas each, at the start"
MOVE = "20 partitions of 500 MB move, {} virtual s of it"
HEADINGS = ("", "CPU s", "peak MiB", "digest")

HELD = """
schema = "scenario/1"
title = "1 TB is there when the brokers start"
horizon = "5s"
[cluster]
brokers = 6
[[topics]]
name = "orders"
partitions = 200
size = "5GB"
"""
MOVING = """
schema = "scenario/1"
title = "10 GB move under a throttle"
horizon = "{horizon}s"
[cluster]
brokers = 6
[[topics]]
name = "orders"
assignment = [{now}]
size = "500MB"
[[workloads]]
topic = "orders"
producerRate = 6000
messageSize = 1000
linger = "100ms"
acks = "all"
[plan]
version = 1
partitions = [{then}]
[[method]]
at = "5s"
action = "reassign.execute"
throttle = "30MB/s"
"""


@frozen
class Cost:
    """The cost of one run: CPU seconds of its process, user and system, its largest resident set; and its digest."""

    cpu_s: float
    peak_bytes: int
    digest: str


def scenarios(virtual_s: int) -> Mapping[str, str]:
    """The texts of the scenario files, by what they are called in the table."""
    now = ", ".join(["[0, 1, 2]"] * 20)
    then = ", ".join(f'{{ topic = "orders", partition = {number}, replicas = [3, 4, 5] }}' for number in range(20))
    return {START: HELD, MOVE.format(virtual_s): MOVING.format(horizon=virtual_s, now=now, then=then)}


def cost(checkout: Path, text: str) -> Cost:
    """One run with the code of ``checkout``, in a process of its own. It may end as a failed one, where the move is not
    done: that is not what is asked."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scenario.toml")
        file.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "scenarios.cli", "run", str(file), "--format", "json"]
        process = subprocess.Popen(
            command, cwd=checkout, env=environment(checkout), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(usage.ru_utime + usage.ru_stime, peak, json.loads(said)["digest"])


def row(name: str, runs: Sequence[Cost]) -> tuple[str, ...]:
    seconds = [run.cpu_s for run in runs]
    return (
        name,
        f"{median(seconds):.1f} ({min(seconds):.1f} to {max(seconds):.1f})",
        f"{median(run.peak_bytes for run in runs) / MIB:,.0f}",
        f"`{runs[0].digest[:16]}`",
    )


def main() -> int:
    parser = parser_of("large.held", __doc__, repeats=3)
    parser.add_argument("--virtual-s", type=int, default=600, help="how long the move is watched")
    parser.add_argument("--before", type=Path, metavar="CHECKOUT", help="compare with the code of another checkout")
    options = parser.parse_args()
    checkouts = {"": HERE}
    if options.before:
        checkouts = {", before": options.before.resolve(), ", after": HERE}
    rows, problems = [], []
    for name, text in scenarios(options.virtual_s).items():
        runs: dict[str, list[Cost]] = {mark: [] for mark in checkouts}
        for _ in range(options.repeats):
            for mark, checkout in checkouts.items():
                runs[mark].append(cost(checkout, text))
        rows += [row(f"{name}{mark}", some) for mark, some in runs.items()]
        digests = {run.digest for some in runs.values() for run in some}
        problems += [f"{name}: {len(digests)} digests"] if len(digests) > 1 else []
    before = "--before CHECKOUT " if options.before else ""
    asked = f"{before}--repeats {options.repeats} --virtual-s {options.virtual_s} --write"
    lines = [
        machine(f"python -m benchmarks.large.held {asked}"),
        "",
        *([commits(options.before.resolve()), ""] if options.before else []),
        "With checkers and measures. Medians (lowest to highest); each run has a process of its own, in turn.",
        "",
        *table(HEADINGS, rows),
    ]
    return conclude("large-held", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
