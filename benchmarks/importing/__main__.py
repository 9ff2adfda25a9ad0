"""``python -m benchmarks.importing [--write]``: CPU time of ``understudy import`` and ``validate`` for a cluster of
5,000 partitions: 500 topics on 30 brokers with four log directories, with rates of every partition and a plan of 520
moves.

The texts are drawn, in the form in which Kafka's tools print them. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table

TOPICS, PARTITIONS, BROKERS, DIRS, FIRST_ID = 500, 10, 30, 4, 1001
TARGET_S = 10.0
CONFIGS = "min.insync.replicas=2,cleanup.policy=delete,retention.ms=604800000"


def write_texts(folder: Path) -> None:
    """Write the texts of the tools, a plan and rates into ``folder``."""
    drawn = random.Random(1)
    lines, rates, moves = [], ["topic,partition,bytes_per_s,messages_per_s"], []
    disks: dict[int, list[list[object]]] = {broker: [[] for _ in range(DIRS)] for broker in range(BROKERS)}
    for topic in range(TOPICS):
        name = f"team{topic % 20}.events-{topic}"
        lines.append(f"Topic: {name}\tPartitionCount: {PARTITIONS}\tReplicationFactor: 3\tConfigs: {CONFIGS}")
        for number in range(PARTITIONS):
            replicas, size = drawn.sample(range(BROKERS), 3), int(10 ** drawn.uniform(6, 8))
            ids = ",".join(str(FIRST_ID + broker) for broker in replicas)
            leader = FIRST_ID + replicas[0]
            lines.append(f"\tTopic: {name}\tPartition: {number}\tLeader: {leader}\tReplicas: {ids}\tIsr: {ids}")
            for broker in replicas:
                disks[broker][drawn.randrange(DIRS)].append(
                    {"partition": f"{name}-{number}", "size": size, "offsetLag": 0, "isFuture": False}
                )
            rates.append(f"{name},{number},{drawn.randrange(100, 90_000)},{drawn.randrange(1, 90)}")
            if drawn.random() < 0.1:
                target = [FIRST_ID + broker for broker in drawn.sample(range(BROKERS), 3)]
                moves.append({"topic": name, "partition": number, "replicas": target})
    brokers = [
        {
            "broker": FIRST_ID + broker,
            "logDirs": [
                {"logDir": f"/mnt/disk{number}", "error": None, "partitions": on} for number, on in enumerate(its)
            ],
        }
        for broker, its in disks.items()
    ]
    (folder / "topics.txt").write_text("\n".join(lines) + "\n")
    (folder / "log-dirs.txt").write_text("Querying brokers\n" + json.dumps({"version": 1, "brokers": brokers}) + "\n")
    (folder / "rates.csv").write_text("\n".join(rates) + "\n")
    (folder / "plan.json").write_text(json.dumps({"version": 1, "partitions": moves}))


def cpu_s(folder: Path, *words: str) -> float:
    """CPU seconds of ``understudy`` with these words, in a process of its own."""
    command = [sys.executable, "-m", "scenarios.cli", *words, "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    arguments = parser_of("importing", __doc__).parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder)
        sources = ["--topics", "topics.txt", "--log-dirs", "log-dirs.txt", "--rates", "rates.csv"]
        more = ["--reassignment", "plan.json", "--throttle", "50MB/s", "--profile", "kafka-2.4", "-o", "cluster.toml"]
        spent = {
            "import": cpu_s(folder, "import", *sources, *more),
            "validate": cpu_s(folder, "validate", "cluster.toml"),
        }
        size = (folder / "cluster.toml").stat().st_size
    rows = [(command, f"{seconds:.1f}") for command, seconds in spent.items()]
    lines = [
        machine("python -m benchmarks.importing --write"),
        "",
        *table(("command", "CPU s"), rows),
        "",
        f"The file has {size / 1000:.0f} kB.",
    ]
    problems = [f"{command} takes {seconds:.1f} s" for command, seconds in spent.items() if seconds > TARGET_S]
    return conclude("importing", lines, problems, write=arguments.write)


if __name__ == "__main__":
    sys.exit(main())
