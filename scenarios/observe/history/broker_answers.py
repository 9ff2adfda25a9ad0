"""The answers of brokers, for the checkers that look at those to some requests."""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import NamedTuple

from emulator.protocol.clients.fetch import ConsumerFetchRequest
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.produce import ProduceRequest
from emulator.trace.shown_znodes import RequestAnswered

LATE_US = 4_000_000
"""An answer that comes after so long is late, if its request may not wait."""

ONE_OF = {FetchRequest: 4, ProduceRequest: 4, MetadataRequest: 4, ConsumerFetchRequest: 2}
"""The requests that come often: one of so many answers is looked at."""

Asked = tuple[int, int, type]
"""A broker, a client and a class of requests."""


class InVain(NamedTuple):
    """Requests without an answer.

    Attributes:
        held_us: how long their broker has had them, altogether.
        vain_us: how long it has had nothing to wait for.
    """

    times: int
    held_us: int
    vain_us: int


Look = Callable[[RequestAnswered], None]


class Answers:
    """One fold for all: brokers answer as often as anything happens.

    Attributes:
        late: called with each answer that comes after ``LATE_US``.
    """

    def __init__(self) -> None:
        self.late: list[Look] = []
        self._in_vain: dict[Asked, InVain] = {}
        self._looks: dict[type, list[Look]] = {}
        self._passed: dict[type, int] = {}
        """By class of request, how many answers are passed over before the next one that is looked at."""

    def of(self, look: Look, *requests: type) -> None:
        """Call ``look`` with answers to requests of these classes."""
        for request in requests:
            self._looks.setdefault(request, []).append(look)
            self._passed[request] = 0

    def given_up(self, asked: Asked, one: InVain) -> InVain:
        """All such requests that were given up since the last one was answered, with this ``one``."""
        before = self._in_vain.get(asked, InVain(0, 0, 0))
        found = self._in_vain[asked] = InVain(*map(add, before, one))
        return found

    def on_answered(self, event: RequestAnswered) -> None:
        kind = event.request.__class__
        if self._in_vain:
            self._in_vain.pop((event.node, event.client, kind), None)
        passed = self._passed.get(kind)
        if passed:
            self._passed[kind] = passed - 1
        elif passed is not None:
            self._passed[kind] = ONE_OF.get(kind, 1) - 1
            for look in self._looks[kind]:
                look(event)
        if event.t_us - event.since_us > LATE_US:
            for look in self.late:
                look(event)
