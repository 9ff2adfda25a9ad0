"""The base of the checkers that compare what a broker remembers with what a fresh process would have."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from emulator.protocol.shown import Remembered, RememberedMeanwhile
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.observe.history.deadlines import Lasting


class Unlike(NamedTuple):
    """A part of one memory that is otherwise than a fresh process would have it (``BrokerRemembers``)."""

    memory: str
    of: str
    kept: str
    wanted: str
    partition: TopicPartition | None = None
    offline: tuple[int, ...] = ()


MEANWHILE_US = 10_000_000
"""How long a memory may be otherwise while there is work to do."""
IN_A_ROW_US = 7_500_000
"""The time between two looks in a row at memories while there is work to do, at most."""


def is_settled(checker: Checker, event: Remembered) -> bool:
    """Whether everything that concerns the broker of ``event`` has reached it."""
    broker, now, cluster = event.node, checker.now, checker.cluster
    since_us = now.reached_since_us(broker)
    if since_us is None or cluster.is_shutting_down(broker) or cluster.lacks_dirs(broker):
        return False
    return broker not in now.impaired and event.t_us - since_us >= now.bound_at_rest(event.t_us, SETTLING_US)


def free_meanwhile_us(checker: Checker, event: Remembered) -> int | None:
    """Since when nothing excuses that the broker of ``event`` has not learned of something; None: something does."""
    broker, now, cluster = event.node, checker.now, checker.cluster
    since_us = now.reached_since_us(broker)
    if since_us is None or now.troubled or broker in now.impaired:
        return None
    waits = checker.history.control_queues.queue((cluster.controller, broker))
    if waits or cluster.is_shutting_down(broker) or cluster.lacks_dirs(broker):
        return None
    return max(since_us, now.calm_since_us)


class BrokerMemory(Checker):
    """The base. It shows each difference once, of brokers that everything has reached that concerns them.

    Attributes:
        looks_meanwhile: also while there is work to do, where looks in a row find the same difference for 10 s.
    """

    looks_meanwhile: ClassVar[bool] = False

    def begin(self) -> None:
        super().begin()
        _ = self.history.control_queues  # which is kept from here on
        self._reported: dict[tuple[int, str, str], None] = {}
        self._lasting: Lasting[Unlike] = Lasting(MEANWHILE_US, IN_A_ROW_US)

    @abstractmethod
    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        """The differences of a broker's memories at rest."""

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "broker" or not is_settled(self, event):
            return
        for found in self.unlike(event, event.memories):
            self._show(event, found)

    def on_remembered_meanwhile(self, event: RememberedMeanwhile) -> None:
        looks = self.looks_meanwhile and event.role == "broker"
        free_us = free_meanwhile_us(self, event) if looks else None
        if free_us is not None:
            found = self.unlike_meanwhile(event, event.memories)
            for one in self._lasting.overdue(event.node, found, event.t_us, free_us):
                self._show(event, one)

    def unlike_meanwhile(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        """The differences that must not last, even while there is work to do."""
        return self.unlike(event, memories)

    def _show(self, event: Remembered, found: Unlike) -> None:
        key = event.node, found.memory, f"{found.partition or ''} {found.of}"
        if key not in self._reported:
            self._reported[key] = None
            facts = BrokerRemembers(event.node, found.memory, found.of, found.kept, found.wanted, found.offline)
            self.violated(event, facts, found.partition, (event.node,))
