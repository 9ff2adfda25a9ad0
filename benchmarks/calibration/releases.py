"""The releases of Kafka that can be recorded, and the profile that is compared with each."""

from attrs import frozen

from benchmarks.calibration.errors import CannotRecord

MAIN = ("2.3.1", "2.4.1")
"""The releases that every case is recorded with."""

OLD_ZOOKEEPER = "3.4.12"
"""The last ZooKeeper before 3.5 that connects on Java 14 and later: 3.4.13 and 3.4.14 cannot read their own addresses
there (ZOOKEEPER-3779)."""

LOG4J, RELOAD4J = ("slf4j-log4j12", "1.7.30"), ("slf4j-reload4j", "1.7.36")
"""The artifacts that write logs, with their versions: up to 3.0, and since."""


@frozen
class Release:
    """A release of Kafka.

    Attributes:
        profile: the emulator's profile; that of the nearest release that has one, where the release itself has none.
        scala: the Scala version of the artifact.
        zookeeper: the version to run with; None: the one that the release brings.
        logger: the artifact that writes its logs, and its version.
    """

    name: str
    profile: str
    scala: str = "2.12"
    zookeeper: str | None = None
    logger: tuple[str, str] = LOG4J

    @property
    def number(self) -> tuple[int, ...]:
        """``(2, 3, 1)``."""
        return tuple(map(int, self.name.split(".")))

    @property
    def has_reassignment_api(self) -> bool:
        """KIP-455."""
        return self.number >= (2, 4)

    @property
    def has_topic_ids(self) -> bool:
        """KIP-516."""
        return self.number >= (2, 8)


RELEASES = {
    release.name: release
    for release in (
        Release("1.0.2", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
        Release("1.1.1", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
        Release("2.0.1", "kafka-1.1", zookeeper=OLD_ZOOKEEPER),
        Release("2.3.1", "kafka-2.3", zookeeper=OLD_ZOOKEEPER),
        Release("2.4.1", "kafka-2.4"),
        Release("2.5.1", "kafka-2.5"),
        Release("2.6.3", "kafka-2.6"),
        Release("2.7.2", "kafka-2.7"),
        Release("2.8.2", "kafka-2.8"),
        Release("3.0.2", "kafka-3.0"),
        Release("3.3.2", "kafka-3.3", scala="2.13", logger=RELOAD4J),
        Release("3.6.2", "kafka-3.6", scala="2.13", logger=RELOAD4J),
        Release("3.9.1", "kafka-3.9", scala="2.13", logger=RELOAD4J),
    )
}


def find_release(name: str) -> Release:
    """Raises: CannotRecord, for a release that is not listed."""
    if name not in RELEASES:
        raise CannotRecord(f"unknown release {name!r}; known: {', '.join(RELEASES)}")
    return RELEASES[name]
