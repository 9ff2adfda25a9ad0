"""The base of the checkers of what brokers answer administrators."""

from __future__ import annotations

from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.administrator_facts import Misanswered


class AdministratorAnswers(Checker):
    """The base."""

    def wrong(
        self, event: RequestAnswered, of: str, said: object, right: object, tp: TopicPartition | None = None
    ) -> None:
        """Report a part of an answer that is not so (``Misanswered``)."""
        facts = Misanswered(event.node, event.request.api.name, of, str(said), str(right))
        self.violated(event, facts, tp, (event.node,))
