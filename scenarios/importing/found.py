"""The facts that sources state of a real cluster, under its own broker ids, added one by one, and where each came from.
A fact that contradicts an earlier one raises BadInput, or is noted where a rule decides."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.language.topic_spec import MOST_PARTITIONS, check_topic
from scenarios.profiles.profile_registry import PROFILES

OLDEST = (1, 1)
"""The oldest release with a profile whose brokers say their API versions: earlier ones are taken for it."""
MOST_ID = 999_999_999
"""The largest broker id that is taken."""
MOST_OF_TOPIC = 100_000
"""The most partitions of one topic."""
OF_MACHINES = (
    "advertised.", "broker.id", "controller.listener", "controller.quorum", "host.name", "inter.broker.listener",
    "listener", "log.dir", "metadata.log.dir", "node.id", "port", "process.roles", "sasl.", "security.", "ssl.",
    "zookeeper.connect", "zookeeper.ssl", "zookeeper.set.acl",
)  # fmt: skip
"""Beginnings of the names of settings that say where a broker is and how it is reached: no scenario needs them."""


@cache
def _releases() -> dict[tuple[int, int], str]:
    """The releases that have a profile, and its name, from ``OLDEST`` on."""
    numbers = ((re.fullmatch(r"kafka-(\d+)\.(\d+)", name), name) for name in PROFILES)
    releases = {(int(found[1]), int(found[2])): name for found, name in numbers if found}
    return {release: name for release, name in releases.items() if release >= OLDEST}


@define(eq=False)
class FoundPartition:
    """A partition's replicas, preferred leader first.

    Attributes:
        leader: None where it is not known or there is none.
        in_sync: None where it is not known.
        adding, removing: the replicas that a move under way adds and removes; empty where that is not known.
    """

    replicas: tuple[int, ...]
    source: str
    leader: int | None = None
    in_sync: tuple[int, ...] | None = None
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@frozen
class FoundReplica:
    """A replica on a disk. ``size``: bytes; ``future``: a copy that will replace one in another directory."""

    size: int
    log_dir: str
    future: bool = False


@frozen
class FoundRate:
    """A rate of writing: bytes and messages per second, each where it is known; one of the two is."""

    bytes_per_s: float | None
    messages_per_s: float | None = None

    def plus(self, other: FoundRate) -> FoundRate:
        """Both together. Messages are not known where only some of the bytes have theirs."""
        apart = self.bytes_per_s is None or other.bytes_per_s is None
        return FoundRate(
            _sum(self.bytes_per_s, other.bytes_per_s, apart=True),
            _sum(self.messages_per_s, other.messages_per_s, apart=apart),
        )


@frozen
class FoundMove:
    """The target of a partition in a reassignment JSON."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    log_dirs: tuple[str, ...] = ()


@define(eq=False)
class Found:
    """All facts.

    Attributes:
        brokers: the ids of all brokers that a source names.
        racks: the rack of a broker.
        log_dirs: the log directories of a broker, as it names them.
        topics: the partitions of each topic, by number.
        replicas: what is on disks, by (topic, partition) and broker; future copies are in ``futures``.
        deleting: the topics that are being deleted, with the source that says so.
        topic_config: settings of each topic, as texts; ``described``: the topics of which all are known.
        broker_config: the dynamic settings of each broker that was described, as texts; ``defaults``: of all of them.
        broker_static: the settings in the file of each broker that was described whole.
        rates: by topic, then by partition; None: of the whole topic.
        moves: those of a reassignment JSON.
        throttle: bytes per second that a move is to get, as the user stated it.
        controller: the broker that is controller.
        profile: the one of the release; empty where that is not known.
        has_topic_ids: whether a topic has an id (KIP-516, 2.8).
        has_elr: whether a text has the columns of KIP-966, which TopicCommand prints from 3.8 on.
        is_idle: whether a live cluster was seen to which nothing is written.
        sources: the files and commands that were read, each with a line about it.
        notes: what a rule decided, each as a line.
    """

    brokers: dict[int, str] = field(factory=dict)
    racks: dict[int, str] = field(factory=dict)
    log_dirs: dict[int, list[str]] = field(factory=dict)
    topics: dict[str, dict[int, FoundPartition]] = field(factory=dict)
    replicas: dict[tuple[str, int], dict[int, FoundReplica]] = field(factory=dict)
    futures: dict[tuple[str, int], dict[int, FoundReplica]] = field(factory=dict)
    deleting: dict[str, str] = field(factory=dict)
    topic_config: dict[str, dict[str, str]] = field(factory=dict)
    described: dict[str, None] = field(factory=dict)
    broker_config: dict[int, dict[str, str]] = field(factory=dict)
    broker_static: dict[int, dict[str, str]] = field(factory=dict)
    defaults: dict[str, str] = field(factory=dict)
    rates: dict[str, dict[int | None, FoundRate]] = field(factory=dict)
    moves: list[FoundMove] = field(factory=list)
    throttle: int | None = None
    controller: int | None = None
    profile: str = ""
    has_topic_ids: bool = False
    has_elr: bool = False
    is_idle: bool = False
    sources: list[str] = field(factory=list)
    notes: list[str] = field(factory=list)
    _partitions: int = 0

    def know_release(self, release: tuple[int, int], what: str) -> None:
        """The release of Kafka, as (2, 4), which ``what`` means: the first one that is known gives the profile."""
        if self.profile:
            return
        nearest = max((known for known in _releases() if known <= release), default=OLDEST)
        self.profile = _releases()[nearest]
        near = "" if nearest == release else ", which has no profile: the nearest one is taken"
        self.notes.append(f"{what} Kafka {'.'.join(map(str, release))}{near}: {self.profile}")

    def add_broker(self, broker: int, source: str) -> None:
        if not 0 <= broker <= MOST_ID:
            raise BadInput(f"{broker} is no broker id; write 0 to {MOST_ID}", source=source)
        self.brokers.setdefault(broker, source)

    def add_rack(self, broker: int, rack: str, source: str) -> None:
        self.add_broker(broker, source)
        before = self.racks.setdefault(broker, rack)
        if before != rack:
            raise BadInput(
                f"broker {broker} is in rack {rack!r} here and in {before!r} elsewhere; take texts of one time",
                source=source,
            )

    def add_log_dir(self, broker: int, name: str, source: str) -> None:
        self.add_broker(broker, source)
        dirs = self.log_dirs.setdefault(broker, [])
        if name not in dirs:
            dirs.append(name)

    def add_partition(self, topic: str, number: int, found: FoundPartition) -> None:
        """A partition and its replicas. Raises: BadInput where another source, or the same, says otherwise."""
        source = found.source
        its = self.topics.get(topic)
        if its is None:
            _checked(topic, source)
            its = self.topics[topic] = {}
        if not 0 <= number < MOST_OF_TOPIC or self._partitions >= MOST_PARTITIONS:
            raise BadInput(f"{topic}-{number} is one partition too many; leave topics out", source=source)
        if not found.replicas or len(set(found.replicas)) != len(found.replicas):
            raise BadInput(
                f"the replicas of {topic}-{number} are {list(found.replicas)}; each has to be named once", source=source
            )
        before = its.get(number)
        if before is None:
            self._partitions += 1
            its[number] = found
            for broker in found.replicas:
                self.add_broker(broker, source)
        elif set(before.replicas) != set(found.replicas):
            raise BadInput(
                f"{topic}-{number} has the replicas {_ids(before.replicas)} in {before.source} and "
                f"{_ids(found.replicas)} in {source}; look at both at one time, or leave one out"
            )
        elif before.in_sync is None or found.leader is not None:
            its[number] = FoundPartition(
                before.replicas, before.source, found.leader, found.in_sync, found.adding or before.adding,
                found.removing or before.removing,
            )  # fmt: skip

    def add_replica(self, topic: str, number: int, broker: int, replica: FoundReplica, source: str) -> None:
        """A replica on a broker's disk."""
        if (topic, number) not in self.replicas:
            _checked(topic, source)
        self.add_log_dir(broker, replica.log_dir, source)
        its = (self.futures if replica.future else self.replicas).setdefault((topic, number), {})
        its[broker] = replica
        if replica.future:
            self.replicas.setdefault((topic, number), {})

    def add_topic_config(
        self, topic: str, config: Mapping[str, str], source: str, *, wins: bool, whole: bool = True
    ) -> None:
        """Settings of a topic.

        Args:
            wins: whether what the source says is what is set, where another one says otherwise.
            whole: whether the source has all that is set.
        """
        if whole:
            self.described.setdefault(topic)
        its = self.topic_config.setdefault(_checked(topic, source), {})
        for name, value in config.items():
            if name in its and its[name] != value:
                kept = value if wins else its[name]
                said = f"{its[name]} in one source, {value} in {source}; {kept} is taken"
                self.notes.append(f"{topic}: {name} is {said}")
                its[name] = kept
            else:
                its[name] = value

    def describe_broker(self, broker: int, source: str, *, whole: bool) -> None:
        """A broker whose settings follow. ``whole``: also those in its file."""
        self.add_broker(broker, source)
        self.broker_config.setdefault(broker, {})
        if whole:
            self.broker_static.setdefault(broker, {})

    def add_broker_config(self, broker: int, config: Mapping[str, str], source: str, *, static: bool = False) -> None:
        """Settings of a broker; two of them are places in the scenario: its rack and its log directories."""
        self.describe_broker(broker, source, whole=static)
        kept = {name: value for name, value in config.items() if not name.startswith(OF_MACHINES)}
        if rack := kept.pop("broker.rack", ""):
            self.add_rack(broker, rack, source)
        for name in config.get("log.dirs", "").split(","):
            if name.strip():
                self.add_log_dir(broker, name.strip(), source)
        (self.broker_static if static else self.broker_config)[broker].update(kept)

    def add_rate(self, topic: str, partition: int | None, rate: FoundRate, source: str) -> None:
        """A rate; what several brokers or lines say of one partition, or topic, is added up. One that has bytes alone
        and another that has messages alone are the two halves of it."""
        for value in (rate.bytes_per_s, rate.messages_per_s):
            if value is not None and not 0 <= value <= 1e12:
                raise BadInput(f"{value} a second of {topic}; write 0 to 1 TB/s", source=source)
        its = self.rates.setdefault(_checked(topic, source), {})
        before = its.get(partition)
        its[partition] = rate if before is None else before.plus(rate)


def _sum(one: float | None, other: float | None, *, apart: bool) -> float | None:
    """The sum of two rates. ``apart``: whether one that is not known counts for nothing; else the sum is not known."""
    if one is None or other is None:
        return (other if one is None else one) if apart else None
    return one + other


def _checked(topic: str, source: str) -> str:
    try:
        return check_topic(topic)
    except BadInput as error:
        raise error.in_file(source) from None


def _ids(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
