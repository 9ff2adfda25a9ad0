"""The topics of a scenario and the first assignment of their replicas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from attrs import Factory, field, frozen

from emulator.protocol.configs import ConfigValue
from scenarios.errors import BadInput
from scenarios.language.kafka_settings import TOPIC_CONFIG
from scenarios.language.schema.kinds import REPLICAS, SIZE, Integer, ListOf, Text, as_tuple
from scenarios.language.schema.table_reader import Checked, key
from scenarios.units import counted

if TYPE_CHECKING:
    from brokers.broker_policies import BrokerPolicies

_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


def check_topic(name: str) -> str:
    """``name`` when it is a legal topic name in Kafka, else ``BadInput``."""
    if not _TOPIC.fullmatch(name) or name in {".", ".."}:
        raise BadInput(f"{name!r} is no topic name; write 1 to 249 of the characters a-z A-Z 0-9 . _ -")
    return name


def split_partition(name: str) -> tuple[str, int]:
    """``"orders-0"`` is partition 0 of ``orders``; the last hyphen divides, since topics may hold hyphens too."""
    topic, hyphen, number = name.rpartition("-")
    if not hyphen or not _NUMBER.fullmatch(number):
        raise BadInput(f'{name!r} is no partition name; write it as "topic-number", such as "orders-0"')
    return check_topic(topic), int(number)


def join_partition(topic: str, partition: int) -> str:
    return f"{topic}-{partition}"


TOPIC_NAME = Text(check_topic, "a topic name")
PARTITION_NAME = Text(split_partition, 'a partition name such as "orders-0"')


Assignment = tuple[tuple[int, ...], ...]
DEFAULT_REPLICATION_FACTOR = 3
MIN_ISR = "min.insync.replicas"
MOST_PARTITIONS = 1_000_000


def _frozen_assignment(lists: Iterable[Iterable[int]] | None) -> Assignment | None:
    return None if lists is None else _frozen_lists(lists)


def _frozen_lists(lists: Iterable[Iterable[int]]) -> Assignment:
    found = as_tuple(lists)
    return tuple(map(as_tuple, found)) if isinstance(found, tuple) else found


def _partitions(topic: TopicSpec) -> int:
    return len(topic.assignment) if _has_lists(topic.assignment) else 1


def _replication_factor(topic: TopicSpec) -> int:
    return len(topic.assignment[0]) if _has_lists(topic.assignment) else DEFAULT_REPLICATION_FACTOR


def _has_lists(assignment: Assignment | None) -> TypeGuard[Assignment]:
    """Whether there is a first list. Python code may have given anything, which is refused a moment later."""
    return isinstance(assignment, tuple) and bool(assignment) and isinstance(assignment[0], tuple)


@frozen(kw_only=True)
class TopicSpec(Checked):
    """A topic: its partitions, their replicas, and how much they hold at the start."""

    name: str = field(metadata=key(TOPIC_NAME, "the topic's name"))
    assignment: Assignment | None = field(
        default=None,
        converter=_frozen_assignment,
        metadata=key(ListOf(REPLICAS, empty=False), "replicas of each partition, preferred leader first"),
    )
    brokers: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(REPLICAS, "without an assignment: the brokers that the replicas are placed on, in turn"),
    )
    partitions: int = field(
        default=Factory(_partitions, takes_self=True),
        metadata=key(Integer(1, MOST_PARTITIONS), "how many partitions; absent = as many as the assignment has, or 1"),
    )
    replication_factor: int = field(
        default=Factory(_replication_factor, takes_self=True),
        metadata=key(Integer(1), "replicas of each partition; absent = as in the assignment, or 3"),
    )
    size_bytes: int = field(default=0, metadata=key(SIZE, "data in each partition when the run starts", name="size"))
    sizes: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(SIZE), "the data in each partition at the start, where they differ; instead of `size`"),
    )
    log_dirs: tuple[tuple[int, ...], ...] = field(
        default=(),
        converter=_frozen_lists,
        metadata=key(
            ListOf(ListOf(Integer(0))),
            "the number of the log directory of each replica, in the order of the assignment; absent = the emptiest",
        ),
    )
    config: dict[str, ConfigValue | str] = field(
        default=Factory(dict),
        metadata=key(TOPIC_CONFIG, "topic settings under Kafka's names; they override the brokers'"),
    )

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        self._check_assignment()
        self._check_each_partition()

    def _check_assignment(self) -> None:
        if self.assignment is None:
            if self.brokers and self.replication_factor > len(self.brokers):
                raise BadInput(
                    f"{self.replication_factor} replicas do not fit on {len(self.brokers)} brokers; "
                    "name more, or lower the replication factor",
                    where="brokers",
                )
            return
        if self.brokers:
            raise BadInput("the assignment names the brokers already; keep one of both", where="brokers")
        if len(self.assignment) != self.partitions:
            raise BadInput(
                f"{self.partitions} partitions, but the assignment lists {len(self.assignment)}; "
                "leave 'partitions' out or make them agree",
                where="partitions",
            )
        for partition, replicas in enumerate(self.assignment):
            if len(replicas) != self.replication_factor:
                raise BadInput(
                    f"{len(replicas)} replicas where the replication factor is {self.replication_factor}; "
                    "all partitions of a topic have the same number",
                    where=f"assignment[{partition}]",
                )

    def _check_each_partition(self) -> None:
        """Refuse sizes or log directories that are not one for each partition, or replica."""
        if self.sizes and len(self.sizes) != self.partitions:
            raise BadInput(
                f"{len(self.sizes)} for {counted(self.partitions, 'partitions')}; write one each", where="sizes"
            )
        if self.sizes and self.size_bytes:
            raise BadInput("the size of each partition is stated already; keep one of both", where="size")
        if self.log_dirs and len(self.log_dirs) != self.partitions:
            raise BadInput(
                f"{len(self.log_dirs)} for {counted(self.partitions, 'partitions')}; write a list for each",
                where="log_dirs",
            )
        for partition, numbers in enumerate(self.log_dirs):
            if len(numbers) != self.replication_factor:
                raise BadInput(
                    f"{len(numbers)} for {counted(self.replication_factor, 'replicas')}; write one each",
                    where=f"log_dirs[{partition}]",
                )

    @property
    def partition_sizes(self) -> tuple[int, ...]:
        """The bytes in each partition at the start."""
        return self.sizes or (self.size_bytes,) * self.partitions

    @property
    def partition_names(self) -> tuple[str, ...]:
        return tuple(join_partition(self.name, number) for number in range(self.partitions))

    def hints(self, brokers: Mapping[str, ConfigValue], rules: BrokerPolicies) -> Iterator[str]:
        """Consequences of its settings, over those of the ``brokers``, that Kafka accepts without a word.

        Args:
            rules: the brokers' part of the profile.
        """
        least = self.config.get(MIN_ISR, brokers.get(MIN_ISR, 1))
        if not isinstance(least, int):
            return
        if least > 1 and not rules.knows_min_isr:
            yield f"{MIN_ISR} is {least}, which brokers of this release do not know (0.8.2): it has no effect"
        elif least > self.replication_factor:
            replicas = counted(self.replication_factor, "replicas")
            capped = f"it counts as {self.replication_factor}"
            follows = capped if rules.caps_min_isr else "no write with acks=all can succeed"
            yield f"{MIN_ISR} is {least}, and a partition has {replicas}: {follows}"

    def replica_lists(self, brokers: Sequence[int]) -> Assignment:
        """The replicas of each partition: the stated ones, else round robin, where partition p begins at the p-th of
        the cluster's brokers, or of the topic's own."""
        if self.assignment is not None:
            return self.assignment
        order = self.brokers or brokers
        return tuple(
            tuple(order[(first + step) % len(order)] for step in range(self.replication_factor))
            for first in range(self.partitions)
        )
