"""The objects that names in a scenario may refer to: its brokers, and its topics as the method makes, expands and
deletes them, in the order of its entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import at
from scenarios.language.topics import TopicSpec, join_partition, split_partition

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario


class Known:
    """The brokers and topics of one scenario. A name is known for the whole of it, wherever its topic is made or
    deleted; of a topic that is made twice, with the most partitions it ever has."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.brokers = scenario.cluster.brokers
        self.topics: dict[str, TopicSpec] = {}
        self._partitions: dict[str, int] = {}
        self._now: dict[str, int] = {}
        for index, topic in enumerate(scenario.topics):
            self.add(topic, f"topics[{index}].name")
        for index, entry in enumerate(scenario.method):
            at(f"method[{index}]", entry.action.follow, self)

    def add(self, topic: TopicSpec, where: str) -> None:
        """The topic is created."""
        if topic.name in self._now:
            raise BadInput(f"topic {topic.name!r} is there already; give each its own name", where=where)
        self.topics[topic.name] = topic
        self._has(topic.name, topic.partitions)

    def _has(self, topic: str, partitions: int) -> None:
        self._now[topic] = partitions
        self._partitions[topic] = max(partitions, self._partitions.get(topic, 0))

    def remove(self, name: str, where: str) -> None:
        """The topic is deleted."""
        self._now.pop(self.topic(name, where).name, None)

    def expand(self, name: str, partitions: int, assignment: Sequence[Sequence[int]] | None) -> None:
        """The topic has ``partitions`` from then on; ``assignment``: the replicas of those that are added."""
        topic = self.topic(name, "topic")
        now = self._now.get(topic.name)
        if now is None:
            raise BadInput(f"topic {topic.name!r} is deleted by then; create it again before", where="topic")
        if partitions <= now:
            raise BadInput(
                f"{topic.name!r} has {now} partitions by then, and none can be taken away; write more than {now}",
                where="partitions",
            )
        self._check_added(topic, partitions - now, assignment)
        self._has(topic.name, partitions)

    def _check_added(self, topic: TopicSpec, count: int, assignment: Sequence[Sequence[int]] | None) -> None:
        if assignment is not None and len(assignment) != count:
            raise BadInput(
                f"it lists {len(assignment)} of {count} added partitions; list each, or leave it out",
                where="assignment",
            )
        for index, replicas in enumerate(assignment or ()):
            self.all_brokers(replicas, f"assignment[{index}]")
            if len(replicas) != topic.replication_factor:
                raise BadInput(
                    f"{len(replicas)} replicas where the replication factor is {topic.replication_factor}; "
                    "all partitions of a topic have the same number",
                    where=f"assignment[{index}]",
                )

    def broker(self, broker: int, where: str) -> None:
        if broker >= self.brokers:
            raise BadInput(f"broker {broker} does not exist; write an id from 0 to {self.brokers - 1}", where=where)

    def all_brokers(self, brokers: Iterable[int], where: str) -> None:
        for broker in brokers:
            self.broker(broker, where)

    def topic(self, name: str, where: str) -> TopicSpec:
        if name not in self.topics:
            raise BadInput(f"unknown topic {name!r}; {did_you_mean(name, self.topics)}", where=where)
        return self.topics[name]

    def partition(self, name: str, where: str) -> None:
        topic, number = split_partition(name)
        if number >= self._partitions.get(topic, 0):
            hint = did_you_mean(name, [join_partition(known, 0) for known in self.topics])
            raise BadInput(f"unknown partition {name!r}; {hint}", where=where)

    def check_topic(self, topic: TopicSpec) -> None:
        if topic.replication_factor > self.brokers:
            raise BadInput(
                f"{topic.replication_factor} replicas do not fit on {self.brokers} brokers; "
                "lower the replication factor",
                where="replication_factor",
            )
        for partition, replicas in enumerate(topic.assignment or ()):
            self.all_brokers(replicas, f"assignment[{partition}]")
