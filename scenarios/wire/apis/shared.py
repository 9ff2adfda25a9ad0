"""Common parts of the bodies of several APIs."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import TypeVar

from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.errors import ApiError, Errors
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, InvalidRequest

V = TypeVar("V")

NO_ID = bytes(16)
"""The id of a topic that has none, or that is not named by one (Uuid.ZERO_UUID)."""


def id_bytes(topic_id: str) -> bytes:
    """The bytes of a topic's id, which are 22 characters of base64 for URLs everywhere else; "": none."""
    return urlsafe_b64decode(f"{topic_id}==") if topic_id else NO_ID


def id_text(topic_id: bytes) -> str:
    """The reverse."""
    return "" if topic_id == NO_ID else urlsafe_b64encode(topic_id).rstrip(b"=").decode()


def microseconds(timeout_ms: int) -> int:
    """A request's own timeout in microseconds. A negative one is a very long one."""
    return max(timeout_ms, 0) * 1000


def answer(error: ApiError) -> Body:
    """The fields of a result, with the error's code and words."""
    return {"error_code": int(error.code), "error_message": error.message}


def coded(error: Errors, message: str | None = None) -> Body:
    """The fields of a result, for an error without words of its own: the words that Kafka's brokers send for its code
    are left out."""
    return answer(ApiError(error, message))


def fenced(error: Errors, known: bool) -> Errors:
    """``error`` for a client that may not know PRODUCER_FENCED yet (KIP-588, 2.7)."""
    return Errors.INVALID_PRODUCER_EPOCH if error is Errors.PRODUCER_FENCED and not known else error


def partitions_of(topics: Iterable[Body] | None, name: str, numbers: str) -> tuple[TopicPartition, ...] | None:
    """The partitions that a body lists by topic; None where it lists none at all, which means all of them.

    Args:
        name: the field with the name of a topic.
        numbers: the field with its partitions.

    Raises:
        InvalidRequest: a number is negative.
    """
    if topics is None:
        return None
    found = tuple(TopicPartition(topic[name], number) for topic in topics for number in topic[numbers])
    if any(tp.partition < 0 for tp in found):
        raise InvalidRequest("a partition has a negative number")
    return found


def by_topic(rows: Iterable[tuple[TopicPartition, V]]) -> dict[str, list[tuple[int, V]]]:
    """Rows of partitions by topic, in the order of the first row of each topic."""
    topics: dict[str, list[tuple[int, V]]] = {}
    for tp, row in rows:
        topics.setdefault(tp.topic, []).append((tp.partition, row))
    return topics


def current_leader(leader: KnownLeader | None) -> Body:
    """The field of a partition in answers to Produce 10 and Fetch 16 (KIP-951); none where no leader was named."""
    if leader is None:
        return {}
    return {"current_leader": {"leader_id": leader.leader, "leader_epoch": leader.leader_epoch}}


def endpoints(leaders: Iterable[KnownLeader], connection: Connection) -> list[Body]:
    """The addresses of the leaders that are alive, one for each broker."""
    brokers = dict.fromkeys(each.leader for each in leaders if each.is_alive)
    return [broker_address(broker, connection) for broker in brokers]


def broker_address(broker: int, connection: Connection) -> Body:
    """A broker and where clients reach it."""
    host, port = connection.advertised(broker)
    return {"node_id": broker, "host": host, "port": port, "rack": connection.served.racks.get(broker)}
