"""The base of the checkers that compare what a broker remembers with what a fresh process would have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import BrokerRemembers


class Unlike(NamedTuple):
    """A part of one memory that is otherwise than a fresh process would have it (``BrokerRemembers``)."""

    memory: str
    of: str
    kept: str
    wanted: str
    partition: TopicPartition | None = None
    offline: tuple[int, ...] = ()


def is_settled(checker: Checker, event: Remembered) -> bool:
    """Whether everything that concerns the broker of ``event`` has reached it."""
    broker, now, cluster = event.node, checker.now, checker.cluster
    since_us = now.reached_since_us(broker)
    if since_us is None or cluster.is_shutting_down(broker) or cluster.lacks_dirs(broker):
        return False
    return broker not in now.impaired and event.t_us - since_us >= now.bound_at_rest(event.t_us, SETTLING_US)


class BrokerMemory(Checker):
    """The base. It shows each difference once, of brokers that everything has reached that concerns them."""

    def begin(self) -> None:
        super().begin()
        self._reported: dict[tuple[int, str, str], None] = {}

    @abstractmethod
    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        """The differences of a broker's memories at rest."""

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "broker" or not is_settled(self, event):
            return
        for found in self.unlike(event, event.memories):
            key = event.node, found.memory, f"{found.partition or ''} {found.of}"
            if key not in self._reported:
                self._reported[key] = None
                facts = BrokerRemembers(event.node, found.memory, found.of, found.kept, found.wanted, found.offline)
                self.violated(event, facts, found.partition, (event.node,))
