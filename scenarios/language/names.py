"""Names that a scenario gives to things: topics and partitions."""

from __future__ import annotations

import re

from scenarios.errors import BadInput
from scenarios.language.kinds import Text

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def check_topic(name: str) -> str:
    """`name` when it is a legal topic name in Kafka, else `BadInput`."""
    if not _TOPIC.fullmatch(name) or name in {".", ".."}:
        raise BadInput(f"{name!r} is no topic name; write 1 to 249 of the characters a-z A-Z 0-9 . _ -")
    return name


def split_partition(name: str) -> tuple[str, int]:
    """`"orders-0"` is partition 0 of `orders`; the last hyphen divides, since topics may hold hyphens too."""
    topic, hyphen, number = name.rpartition("-")
    if not hyphen or not (number.isascii() and number.isdigit()) or str(int(number)) != number:
        raise BadInput(f'{name!r} is no partition name; write it as "topic-number", such as "orders-0"')
    return check_topic(topic), int(number)


def join_partition(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


TOPIC_NAME = Text(check_topic, "a topic name")
PARTITION_NAME = Text(split_partition, 'a partition name such as "orders-0"')
