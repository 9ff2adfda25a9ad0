"""A live cluster by its admin API (extra ``live``: kafka-python, whose AdminClient has DescribeLogDirs): brokers,
racks, topics, log directories, settings, moves under way, and rates from two looks at end offsets. It only reads.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from scenarios.errors import BadInput
from scenarios.importing.found import Found, FoundPartition, FoundRate, FoundReplica
from scenarios.units import counted

TIMEOUT_MS = 15_000
TOPICS_AT_ONCE = 500
"""The most topics whose settings one request asks for."""
_ADDRESS = re.compile(r"(?:[\w.-]{1,253}|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")
_TOPIC, _DEFAULT, _STATIC = "DYNAMIC_TOPIC_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG", "STATIC_BROKER_CONFIG"
Offsets = dict[tuple[str, int], int]
"""By topic and partition."""


def check_address(text: str) -> str:
    """The addresses of some brokers, with commas between. Raises: BadInput."""
    if not all(_ADDRESS.fullmatch(one.strip()) for one in text.split(",")):
        raise BadInput(f"{text[:200]!r} is no address; write HOST:PORT", where="--bootstrap")
    return text


def look_at(bootstrap: str, look_s: int, found: Found, told: Callable[[str], object]) -> None:
    """Take in what the cluster answers.

    Args:
        look_s: the seconds between the two looks.
        told: is called with a line for the user, who waits.

    Raises: BadInput, where kafka-python is not installed, or no cluster answers there.
    """
    try:
        from kafka.admin import KafkaAdminClient
    except ModuleNotFoundError:
        raise BadInput("kafka-python is not installed; run: pip install 'understudy[live]'") from None
    with _one_line(bootstrap):
        admin = KafkaAdminClient(
            bootstrap_servers=bootstrap.split(","),
            client_id="understudy-import",
            bootstrap_timeout_ms=TIMEOUT_MS,
            request_timeout_ms=TIMEOUT_MS,
        )
        try:
            _Look(admin, bootstrap, found).take(look_s, told)
        finally:
            admin.close()


@contextmanager
def _one_line(bootstrap: str) -> Iterator[None]:
    """An error of the client, or of a broker, as one line."""
    from kafka.errors import KafkaError

    try:
        yield
    except (KafkaError, OSError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadInput(
            f"no cluster answers there ({type(error).__name__}: {why}); name a broker that runs, as HOST:PORT",
            where=f"--bootstrap {bootstrap}",
        ) from None


class _Look:
    """The questions of one client, in turn."""

    def __init__(self, admin: Any, source: str, found: Found) -> None:
        self._admin, self._source, self._found = admin, source, found

    def take(self, look_s: int, told: Callable[[str], object]) -> None:
        self._take_brokers()
        self._take_profile()
        self._take_topics()
        self._take_moves()
        starts = self._offsets("EARLIEST")
        first, began = self._offsets("LATEST"), time.monotonic()
        self._take_log_dirs()
        self._take_settings()
        left = began + look_s - time.monotonic()
        if first and left > 0:
            told(f"a second look at the end offsets comes in {left:.0f} s")
            time.sleep(left)
        last = self._offsets("LATEST")
        self._take_rates(starts, first, last, time.monotonic() - began)
        partitions = sum(map(len, self._found.topics.values()))
        self._found.sources.append(
            f"{self._source}: a live cluster, {counted(len(self._found.brokers), 'brokers')}, "
            f"{counted(partitions, 'partitions')}; rates from two looks {look_s} s apart"
        )

    def _take_brokers(self) -> None:
        cluster = self._admin.describe_cluster()
        for broker in cluster["brokers"]:
            self._found.add_broker(broker["broker_id"], self._source)
            if broker.get("rack"):
                self._found.add_rack(broker["broker_id"], broker["rack"], self._source)
        controller = cluster.get("controller_id", -1)
        self._found.controller = controller if controller in self._found.brokers else None

    def _take_profile(self) -> None:
        """The profile by the release that the API versions of a broker mean."""
        data = self._admin.get_broker_version_data(next(iter(self._found.brokers)))
        major, minor = data.broker_version[:2]
        self._found.know_release((major, minor), "its API versions are those of")

    def _take_topics(self) -> None:
        for topic in self._admin.describe_topics():
            for each in topic["partitions"]:
                self._found.add_partition(
                    topic["name"],
                    each["partition_index"],
                    FoundPartition(
                        tuple(each["replica_nodes"]), self._source,
                        each["leader_id"] if each["leader_id"] >= 0 else None, tuple(each["isr_nodes"]),
                    ),
                )  # fmt: skip

    def _take_moves(self) -> None:
        """The replicas that moves under way add and remove, from 2.4 on (KIP-455)."""
        from kafka.errors import IncompatibleBrokerVersion, UnsupportedVersionError

        try:
            moves = self._admin.list_partition_reassignments()
        except (IncompatibleBrokerVersion, UnsupportedVersionError):
            self._found.notes.append("brokers before 2.4 do not say what is being moved: the lists are what they show")
            return
        for tp, move in moves.items():
            each = self._found.topics.get(tp.topic, {}).get(tp.partition)
            if each is not None:
                each.adding, each.removing = tuple(move["adding_replicas"]), tuple(move["removing_replicas"])

    def _take_log_dirs(self) -> None:
        for broker in self._admin.describe_log_dirs():
            for directory in broker["log_dirs"]:
                name = directory["log_dir"]
                if directory["error_code"]:
                    self._found.notes.append(
                        f"broker {broker['broker']}: a log directory answered error {directory['error_code']}"
                    )
                    continue
                self._found.add_log_dir(broker["broker"], name, self._source)
                for topic in directory["topics"]:
                    for each in topic["partitions"]:
                        replica = FoundReplica(each["partition_size"], name, bool(each["is_future_key"]))
                        self._found.add_replica(
                            topic["name"], each["partition_index"], broker["broker"], replica, self._source
                        )

    def _take_settings(self) -> None:
        from kafka.admin import ConfigResource

        resources = [ConfigResource("TOPIC", name) for name in self._found.topics]
        for start in range(0, len(resources), TOPICS_AT_ONCE):
            answer = self._admin.describe_configs(resources[start : start + TOPICS_AT_ONCE])
            for name, settings in answer.get("topic", {}).items():
                config = {key: one["value"] for key, one in settings.items() if one["config_source"] == _TOPIC}
                self._found.add_topic_config(name, _texts(config), self._source, wins=True)
        brokers = self._admin.describe_configs(
            [ConfigResource("BROKER", str(broker)) for broker in self._found.brokers]
        )
        for name, settings in brokers.get("broker", {}).items():
            broker = int(name)
            self._found.describe_broker(broker, self._source, whole=True)
            by_source: dict[str, dict[str, Any]] = {}
            for key, one in settings.items():
                by_source.setdefault(one["config_source"], {})[key] = one["value"]
            for source, config in by_source.items():
                if source == _DEFAULT:
                    self._found.defaults |= _texts(config)
                else:
                    self._found.add_broker_config(broker, _texts(config), self._source, static=source == _STATIC)

    def _offsets(self, which: str) -> Offsets:
        """The earliest or the latest offsets of the partitions that have a leader."""
        from kafka import TopicPartition
        from kafka.admin import OffsetSpec

        led = {
            TopicPartition(topic, number): OffsetSpec[which]
            for topic, its in self._found.topics.items()
            for number, each in its.items()
            if each.leader is not None
        }
        answer = self._admin.list_partition_offsets(led) if led else {}
        return {(tp.topic, tp.partition): one.offset for tp, one in answer.items()}

    def _take_rates(self, starts: Offsets, first: Offsets, last: Offsets, seconds: float) -> None:
        """Messages per second, and their bytes by the mean size of the messages that the leader's log has."""
        guessed = 0
        for (topic, number), before in first.items():
            grown = last.get((topic, number), before) - before
            if grown <= 0:
                continue
            mean = self._mean_size(topic, number, before - starts.get((topic, number), 0))
            guessed += mean is None
            messages = grown / seconds
            self._found.add_rate(topic, number, FoundRate(messages * (mean or 1024.0), messages), self._source)
        if guessed:
            self._found.notes.append(
                f"{counted(guessed, 'partitions')} grow, and their size is not known: a message is taken for 1 KiB"
            )
        if not self._found.rates and first:
            self._found.notes.append(f"no end offset has moved in {seconds:.0f} s: nothing is written here")
            self._found.is_idle = True

    def _mean_size(self, topic: str, number: int, messages: int) -> float | None:
        """The mean bytes of the messages in the leader's log; None where that is empty or was not seen."""
        its, leader = self._found.replicas.get((topic, number), {}), self._found.topics[topic][number].leader
        size = its[leader].size if leader in its else 0
        return size / messages if size > 0 and messages > 0 else None


def _texts(config: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in config.items() if value is not None}
