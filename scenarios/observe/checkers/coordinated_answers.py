"""The base of the checkers of what coordinators answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from emulator.protocol.errors import Errors
from emulator.protocol.shown_coordination import CoordinatorAnswered
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


Look = Callable[[CoordinatorAnswered, Any, Any], Iterator[Amiss]]


class CoordinatedAnswers(Checker):
    """The base.

    Attributes:
        looks: by the class of a request, what is wrong with an answer to it.
    """

    looks: dict[type, Look]

    def begin(self) -> None:
        self.there = self.history.coordinators

    def on_answered(self, event: CoordinatorAnswered) -> None:
        look = self.looks.get(type(event.request))
        if look is not None:
            for who, part, said, wanted in look(event, event.request, event.response):
                facts = AnsweredAmiss(event.node, event.request.api.name, who, part, worded(said), worded(wanted))
                self.violated(event, facts, None, (event.node,))

    def not_refused(self, event: CoordinatorAnswered, topic: str, key: str) -> Iterator[Amiss]:
        """The mistake of a broker that answers about what it does not coordinate."""
        if self.there.coordinates(event.node, topic, key) is False:
            yield Amiss(key, "error", Errors.NONE, Errors.NOT_COORDINATOR)


def unequal(who: str, *parts: tuple[str, Any, Any]) -> Iterator[Amiss]:
    """The parts that are otherwise than they should be."""
    for part, said, wanted in parts:
        if said != wanted:
            yield Amiss(who, part, said, wanted)
