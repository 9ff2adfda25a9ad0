"""The base of the checkers of what brokers answer administrators."""

from __future__ import annotations

from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.administrator_facts import Misanswered

LATELY_US = 10_000_000
"""An answer may still be about what was so within this time: trouble of its broker, a deletion, what another wrote."""


class AdministratorAnswers(Checker):
    """The base."""

    def wrong(
        self, event: RequestAnswered, of: str, said: object, right: object, tp: TopicPartition | None = None
    ) -> None:
        """Report a part of an answer that is not so (``Misanswered``)."""
        facts = Misanswered(event.node, event.request.api.name, of, str(said), str(right))
        self.violated(event, facts, tp, (event.node,))

    def is_calm(self, event: RequestAnswered) -> bool:
        """Whether nothing has delayed the broker for a while, ZooKeeper included."""
        since_us = self.now.reached_since_us(event.node)
        return since_us is not None and since_us < event.since_us - LATELY_US and event.node not in self.now.impaired
