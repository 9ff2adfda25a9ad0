"""``python -m benchmarks.mbeans RELEASE...``: start two real brokers of each release with ZooKeeper, on loopback, let
clients produce and consume, and keep the names of all metrics that the brokers show (Java 17, Maven, which fetches what
is missing).
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from benchmarks.calibration.errors import CannotRecord
from benchmarks.calibration.real.cluster import START_WITHIN_S, RealCluster, running
from benchmarks.calibration.releases import RELEASES, Release
from benchmarks.mbeans.recorded import names, recorded_path
from benchmarks.program import record_each

TOPIC, BROKERS, RECORDS = "orders", 2, 20
NAMES = Path(__file__).with_name("Names.java")
SINGLE = {"offsets.topic.replication.factor": 1, "offsets.topic.num.partitions": 1}
ASK_WITHIN_S = 120


def ask(release: Release) -> list[str]:
    """The names that brokers of the release show. Raises: CannotRecord where they cannot be had or started."""
    config = {name: str(value) for name, value in SINGLE.items()}
    with running(release, BROKERS, config, first=0, request_logs=False) as cluster:
        servers = [f"127.0.0.1:{cluster.port(broker)}" for broker in range(BROKERS)]
        _use(cluster, servers)
        return names(line for broker in range(BROKERS) for line in shown(cluster, broker))


def _use(cluster: RealCluster, servers: list[str]) -> None:
    """Write and read some records, so that the metrics of topics, requests and groups are there."""
    with closing(KafkaAdminClient(bootstrap_servers=servers)) as admin:
        admin.create_topics([NewTopic(TOPIC, 2, BROKERS)])
    cluster.until(lambda: cluster.assignment(TOPIC) is not None, "the topic is there", START_WITHIN_S)
    with closing(KafkaProducer(bootstrap_servers=servers, acks="all")) as producer:
        for each in [producer.send(TOPIC, b"a") for _ in range(RECORDS)]:
            each.get(ASK_WITHIN_S)
    consumer = KafkaConsumer(
        TOPIC, bootstrap_servers=servers, group_id="readers", auto_offset_reset="earliest",
        consumer_timeout_ms=1000 * ASK_WITHIN_S,
    )  # fmt: skip
    with closing(consumer):
        for _ in range(RECORDS):
            next(consumer)


def shown(cluster: RealCluster, broker: int, *attribute: str) -> list[str]:
    """The lines of ``Names.java`` about a broker. Raises: CannotRecord."""
    command = ["java", str(NAMES), str(cluster.jvms[broker].pid), *attribute]
    done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_WITHIN_S, check=False)
    if done.returncode:
        raise CannotRecord(f"broker {broker} does not show its metrics: {done.stderr.strip()[:500]}")
    return done.stdout.splitlines()


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mbeans", description=__doc__)
    parser.add_argument(
        "release", nargs="+", choices=tuple(RELEASES), metavar="RELEASE", help=f"of {', '.join(RELEASES)}"
    )
    options = parser.parse_args(argv)
    return record_each("benchmarks.mbeans", options.release, _record)


def _record(release: str) -> str:
    found, path = ask(RELEASES[release]), recorded_path(release)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
    return f"{len(found)} names"


if __name__ == "__main__":
    sys.exit(main())
