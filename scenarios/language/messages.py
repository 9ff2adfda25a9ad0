"""The messages that a trigger may wait for: Kafka's APIs by name, writes to ZooKeeper, and session events."""

from __future__ import annotations

import re
from collections.abc import Mapping

from emulator.protocol.api import apis, names_partitions
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import Text

WRITES = ("create", "setData", "delete", "multi")
"""The requests that change ZooKeeper's tree. The first three come alone or inside a multi."""

SESSION_EVENTS = ("session.created", "session.closed", "session.expired")

ZNODES = (
    "/controller",
    "/controller_epoch",
    "/brokers/ids/*",
    "/brokers/topics/*",
    "/brokers/topics/*/partitions",
    "/brokers/topics/*/partitions/*",
    "/brokers/topics/*/partitions/*/state",
    "/admin/reassign_partitions",
    "/admin/preferred_replica_election",
    "/admin/delete_topics/*",
    "/isr_change_notification/*",
    "/log_dir_event_notification/*",
    "/config/topics/*",
    "/config/brokers/*",
    "/config/changes/*",
)
"""Kafka's layout of ZooKeeper (kafka-behaviour §1), with ``*`` for one segment that has many values."""

PER_PARTITION = "/partition"

_TOPIC_IN_PATH = re.compile(r"/(?:brokers/topics|config/topics|admin/delete_topics)/([^/*]+)")


ANY = "any"
GROUPS: Mapping[str, tuple[str, ...]] = {
    "control": ("LeaderAndIsr", "StopReplica", "UpdateMetadata"),
    "data": ("Produce", "Fetch"),
}
"""Messages that go together: those of the controller to brokers, and those that carry records."""


def any_messages() -> tuple[str, ...]:
    """The words for any message, and any of a group."""
    return (ANY, *(f"{ANY} {group}" for group in GROUPS))


def messages_of(name: str) -> tuple[str, ...]:
    """The APIs that a message's name in a trigger stands for: itself, or several for ``any``."""
    any_of, _, group = name.partition(" ")
    if any_of != ANY:
        return (name,)
    return GROUPS[group] if group else tuple(apis())


def check_message(name: str) -> None:
    """Refuse a name that is neither a declared API (``emulator.protocol.api``) nor one of ``any_messages``."""
    known = (*apis(), *any_messages())
    if name not in known:
        raise BadInput(f"unknown message {name!r}; {did_you_mean(name, known)}")


def check_held(name: str) -> None:
    """Refuse a name that is neither an API nor a write: message.hold cannot hold it."""
    known = (*apis(), *any_messages(), *WRITES)
    if name not in known:
        raise BadInput(f"unknown message {name!r}; {did_you_mean(name, known)}")


def service_key(name: str) -> tuple[str, bool]:
    """A key of ``cluster.service``: the message, and whether its time is for each partition that the message names."""
    message, slash, _ = name.partition(PER_PARTITION)
    return message, bool(slash)


def check_served(name: str) -> None:
    """Refuse what is neither a declared API nor, for one whose requests name partitions, ``API/partition``."""
    known = apis()
    keys = (*known, *(api + PER_PARTITION for api in known if names_partitions(known[api].request)))
    if name not in keys:
        message, per_partition = service_key(name)
        if per_partition and message in known:
            raise BadInput(f"a {message} names no partitions; write {message} alone")
        raise BadInput(f"unknown message {name!r}; {did_you_mean(name, keys)}")


def check_path(path: str) -> None:
    """Refuse a path, with ``*`` for any one segment, that no znode of Kafka's can have."""
    if not any(_meet(known, path) for known in ZNODES):
        raise BadInput(f"no znode of Kafka's is called {path!r}; {did_you_mean(path, ZNODES)}")


def _meet(one: str, other: str) -> bool:
    """Whether some path matches both patterns."""
    parts, others = one.split("/"), other.split("/")
    return len(parts) == len(others) and all("*" in (a, b) or a == b for a, b in zip(parts, others, strict=True))


def fits(pattern: str, path: str) -> bool:
    """Whether ``path`` matches ``pattern``, in which ``*`` matches any one segment."""
    wanted, found = pattern.split("/"), path.split("/")
    return len(wanted) == len(found) and all(a in ("*", b) for a, b in zip(wanted, found, strict=True))


def topic_of(path: str) -> str | None:
    """The topic that a path names, if any."""
    match = _TOPIC_IN_PATH.match(path)
    return None if match is None else match.group(1)


SERVED = Text(check_served, "a message, or message/partition")
MESSAGE_NAME = Text(check_message, "a message's name")
ZNODE_PATH = Text(check_path, "a znode's path")
