"""The messages that a trigger may wait for: Kafka's APIs by name, and what is asked of ZooKeeper."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.kinds import Text


@frozen
class Message:
    """One API of Kafka's. ``names_partitions`` and ``answer_names_partitions``: whether a filter on them finds any."""

    name: str
    help: str
    names_partitions: bool = True
    answer_names_partitions: bool = True


MESSAGES: Mapping[str, Message] = {
    message.name: message
    for message in (
        Message("LeaderAndIsr", "the controller tells a broker what it leads and follows"),
        Message(
            "UpdateMetadata", "the controller tells a broker what to tell clients", answer_names_partitions=False
        ),
        Message("StopReplica", "the controller tells a broker to stop, or to delete, replicas"),
        Message("Fetch", "a follower reads from its leader; names what changed since its session's last request"),
        Message("OffsetsForLeaderEpoch", "a follower asks its leader where to truncate"),
        Message("ListOffsets", "a follower asks its leader where the log begins and ends"),
        Message("Produce", "a producer appends to the partitions that a broker leads"),
        Message("InitProducerId", "an idempotent producer asks for its id"),
        Message("Metadata", "a client asks who leads what, and who is controller", names_partitions=False),
        Message("AlterIsr", "a leader asks the controller for another ISR"),
        Message("ControlledShutdown", "a broker asks the controller to relieve it", names_partitions=False),
        Message("ElectLeaders", "the operator asks the controller for elections"),
        Message("AlterPartitionReassignments", "the operator asks the controller to move partitions, or not to"),
        Message("ListPartitionReassignments", "the operator asks the controller what is being moved"),
        Message("AlterReplicaLogDirs", "the operator tells a broker which log directory its replicas are to be in"),
        Message(
            "DescribeLogDirs", "the operator asks a broker what its log directories hold", answer_names_partitions=False
        ),
    )
}

WRITES = ("create", "setData", "delete", "multi")
"""What is asked of ZooKeeper that changes something. The first three stand alone or inside a multi."""

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
"""Kafka's layout of ZooKeeper (kafka-behaviour, 1), with ``*`` for one segment that has many values."""

_TOPIC_IN_PATH = re.compile(r"/(?:brokers/topics|config/topics|admin/delete_topics)/([^/*]+)")


def check_message(name: str) -> None:
    """Refuse what is no API that anybody here sends."""
    if name not in MESSAGES:
        raise BadInput(f"unknown message {name!r}; {did_you_mean(name, MESSAGES)}")


def check_held(name: str) -> None:
    """Refuse what no message.hold can hold."""
    if name not in MESSAGES and name not in WRITES:
        raise BadInput(f"unknown message {name!r}; {did_you_mean(name, (*MESSAGES, *WRITES))}")


def check_path(path: str) -> None:
    """Refuse a path, with ``*`` for any one segment, that no znode of Kafka's can have."""
    if not any(_meet(known, path) for known in ZNODES):
        raise BadInput(f"no znode of Kafka's is called {path!r}; {did_you_mean(path, ZNODES)}")


def _meet(one: str, other: str) -> bool:
    """Whether a path can fit both patterns."""
    parts, others = one.split("/"), other.split("/")
    return len(parts) == len(others) and all(
        "*" in (a, b) or a == b for a, b in zip(parts, others, strict=True)
    )


def fits(pattern: str, path: str) -> bool:
    """Whether ``path`` is one of ``pattern``, in which ``*`` stands for any one segment."""
    wanted, found = pattern.split("/"), path.split("/")
    return len(wanted) == len(found) and all(a in ("*", b) for a, b in zip(wanted, found, strict=True))


def topic_of(path: str) -> str | None:
    """The topic that a path names, if any."""
    match = _TOPIC_IN_PATH.match(path)
    return None if match is None else match.group(1)


MESSAGE_NAME = Text(check_message, "a message's name")
ZNODE_PATH = Text(check_path, "a znode's path")
