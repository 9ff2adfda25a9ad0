"""The base of the checkers of what coordinators answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from emulator.protocol.errors import Errors
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.coordinated_facts import AnsweredAmiss, worded

ELSEWHERE = (Errors.NOT_COORDINATOR, Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.COORDINATOR_NOT_AVAILABLE)
"""The answers of a broker that does not coordinate, or not yet."""


class Amiss(NamedTuple):
    """A part of an answer that is not as it should be, about a group or transactional id."""

    who: str
    part: str
    said: Any
    wanted: Any


Look = Callable[[RequestAnswered, Any, Any], Iterator[Amiss]]


class CoordinatedAnswers(Checker):
    """The base."""

    def begin(self) -> None:
        self.there = self.history.coordinators

    def look_at(self, looks: Mapping[type, Look]) -> None:
        """Look at answers to requests, by their class."""
        for request, look in looks.items():
            self.history.answers.of(partial(self._answered, look), request)

    def _answered(self, look: Look, event: RequestAnswered) -> None:
        for who, part, said, wanted in look(event, event.request, event.response):
            facts = AnsweredAmiss(event.node, event.request.api.name, who, part, worded(said), worded(wanted))
            self.violated(event, facts, None, (event.node,))

    def not_refused(self, event: RequestAnswered, topic: str, key: str) -> Iterator[Amiss]:
        """The mistake of a broker that answers about what it does not coordinate."""
        if self.there.coordinates(event.node, topic, key) is False:
            yield Amiss(key, "error", Errors.NONE, Errors.NOT_COORDINATOR)


def unequal(who: str, *parts: tuple[str, Any, Any]) -> Iterator[Amiss]:
    """The parts that are otherwise than they should be."""
    for part, said, wanted in parts:
        if said != wanted:
            yield Amiss(who, part, said, wanted)
