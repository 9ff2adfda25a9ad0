"""Kafka's own command line tools from the local Maven repository. Nothing is fetched here:

    python -m tests.scenarios.wire.java.jars

fetches what is missing (about 300 MB).
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache

from attrs import frozen

from benchmarks.runtimes import Artifact, jars

JAVA_OPTIONS = ("-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.net.preferIPv4Stack=true")
LIMIT_S = 120


@frozen
class Release:
    """One release and the classes of its tools; ``""``: it has none that works without ZooKeeper.

    Attributes:
        logger: what its class path needs for its log.
        scala: that it was built with.
    """

    version: str
    logger: tuple[str, str]
    topics: str = "kafka.admin.TopicCommand"
    configs: str = "kafka.admin.ConfigCommand"
    reassign: str = "kafka.admin.ReassignPartitionsCommand"
    elections: str = "kafka.admin.LeaderElectionCommand"
    log_dirs: str = "kafka.admin.LogDirsCommand"
    delete_records: str = "kafka.admin.DeleteRecordsCommand"
    groups: str = "kafka.admin.ConsumerGroupCommand"
    producer: str = "kafka.tools.ConsoleProducer"
    consumer: str = "kafka.tools.ConsoleConsumer"
    verifiable_producer: str = "org.apache.kafka.tools.VerifiableProducer"
    verifiable_consumer: str = "org.apache.kafka.tools.VerifiableConsumer"
    copier: str = "org.apache.kafka.tools.TransactionalMessageCopier"
    scala: str = "2.13"


RELEASES = (
    Release("2.4.1", ("slf4j-log4j12", "1.7.30"), reassign=""),
    Release("2.7.2", ("slf4j-log4j12", "1.7.30")),
    Release(
        "3.9.1", ("slf4j-reload4j", "1.7.36"),
        topics="org.apache.kafka.tools.TopicCommand",
        reassign="org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
        elections="org.apache.kafka.tools.LeaderElectionCommand",
        log_dirs="org.apache.kafka.tools.LogDirsCommand",
        delete_records="org.apache.kafka.tools.DeleteRecordsCommand",
        groups="org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
        consumer="org.apache.kafka.tools.consumer.ConsoleConsumer",
    ),
)  # fmt: skip

ZOOKEEPER = "3.5.9"
"""The client that the tools of the ZooKeeper era get. Those of 3.4, which they bring along, do not run on Java 14 and
later (ZOOKEEPER-3779)."""
ZOOKEEPER_ERA = tuple(
    Release(
        version, ("slf4j-log4j12", "1.7.30"), elections="kafka.admin.PreferredReplicaLeaderElectionCommand", scala=scala
    )
    for version, scala in (
        ("0.10.2.2", "2.11"),
        ("1.1.1", "2.12"),
        ("2.3.1", "2.12"),
        ("2.4.1", "2.12"),
        ("2.7.2", "2.13"),
    )
)
"""Releases whose tools take ``--zookeeper``."""
SHELL = "org.apache.zookeeper.ZooKeeperMain"


@cache
def class_path_with_zookeeper(release: Release, *, fetch: bool = False) -> str:
    """The jars of a release of the ZooKeeper era. Raises: LookupError as ``class_path``."""
    kafka = Artifact("org.apache.kafka", f"kafka_{release.scala}", release.version)
    more = Artifact("org.apache.zookeeper", "zookeeper", ZOOKEEPER), Artifact("commons-cli", "commons-cli", "1.4")
    try:
        return jars((*more, kafka, Artifact("org.slf4j", *release.logger)), fetch=fetch)
    except LookupError as reason:
        raise LookupError(f"{reason}; fetch them by {sys.executable} -m tests.scenarios.wire.java.jars") from None


@cache
def class_path(release: Release, *, fetch: bool = False) -> str:
    """The jars of a release. Raises: LookupError where Maven, Java or a jar is missing."""
    kafka = "org.apache.kafka"
    tools = Artifact(kafka, f"kafka_{release.scala}", release.version), Artifact(kafka, "kafka-tools", release.version)
    try:
        return jars((*tools, Artifact("org.slf4j", *release.logger)), fetch=fetch)
    except LookupError as reason:
        raise LookupError(f"{reason}; fetch them by {sys.executable} -m tests.scenarios.wire.java.jars") from None


def call(release: Release, tool: str, *words: str, given: str = "", servers: str) -> str:
    """Run a tool to its end, and return what it prints. Raises: AssertionError with its output where it fails."""
    old = release.version < "2.5" and tool in (
        release.producer,
        release.verifiable_producer,
        release.verifiable_consumer,
    )
    name = "--broker-list" if old or tool == release.copier else "--bootstrap-server"
    return run(class_path(release), tool, name, servers, *words, given=given)


def run(jars: str, tool: str, *words: str, given: str = "") -> str:
    """Run a class to its end, and return what it prints. Raises: AssertionError with its output where it fails."""
    command = ["java", *JAVA_OPTIONS, "-cp", jars, tool, *words]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    output = f"{tool} {' '.join(words)}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0, output
    return done.stdout


def main(argv: Sequence[str]) -> None:
    """Fetch the jars of all releases, or of those that are named."""
    for release in RELEASES:
        if not argv or release.version in argv:
            class_path(release, fetch=True)
            print(release.version)
    for release in ZOOKEEPER_ERA:
        if not argv or release.version in argv:
            class_path_with_zookeeper(release, fetch=True)
            print(f"{release.version} with ZooKeeper {ZOOKEEPER}")


if __name__ == "__main__":
    main(sys.argv[1:])
