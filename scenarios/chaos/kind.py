"""The common part of all kinds of ``[[chaos]]`` block when they draw."""

from __future__ import annotations

from typing import ClassVar

from attrs import field, frozen

from scenarios.chaos.block_draws import Draws
from scenarios.chaos.draft import Draft, Scope
from scenarios.language.chaos import COUNT, Chaos, Names
from scenarios.language.schema.kinds import BROKER_ID, ListOf, as_tuple
from scenarios.language.schema.spans import Range
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import TOPIC_NAME


@frozen(kw_only=True)
class DrawnChaos(Chaos):
    """A kind with its draws.

    Attributes:
        turn: the phase in which it draws: the cluster itself (0), its load (1), faults and operations (2), faults at
            moments that the others bring about (3).
    """

    turn: ClassVar[int] = 2

    def draw(self, draft: Draft, draws: Draws) -> None:
        """Add this kind's draws of the seed to ``draft``."""
        raise NotImplementedError


@frozen(kw_only=True)
class Episodes(DrawnChaos):
    """A kind that happens several times in a run, each time at a moment and in a place of its own."""

    times: Range = field(default=(1, 3), metadata=key(COUNT, "how often it happens in a run"))
    brokers: tuple[int, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(BROKER_ID, unique=True), "only at these brokers; absent = at any"),
    )
    topics: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(TOPIC_NAME, unique=True), "only where it concerns these topics; absent = all"),
    )

    def draw(self, draft: Draft, draws: Draws) -> None:
        scope = draft.scope(self.brokers, self.topics)
        for number in range(draws.between(self.times)):
            self.episode(scope, draws.sub(number))

    def episode(self, scope: Scope, draws: Draws) -> None:
        """Add one of them to the scope's draft."""
        raise NotImplementedError

    def check(self, names: Names) -> None:
        names.all_brokers(self.brokers, "brokers")
        for topic in self.topics:
            names.topic(topic, "topics")
