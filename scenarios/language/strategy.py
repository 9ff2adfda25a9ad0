"""The strategy block: which reassignment strategy runs, how the operator carries the plan out, and the throttle."""

from __future__ import annotations

from functools import partial

from attrs import evolve, field, frozen

from scenarios.language.kinds import RATE, SOME_TIME, Text
from scenarios.language.reader import key
from scenarios.language.strategies import Strategy, Throttle, parse_strategy
from scenarios.language.strategies.execution import POLL, parse_part
from scenarios.language.strategies.registry import ADMISSION, ORDER
from scenarios.units import format_duration


@frozen(kw_only=True)
class StrategySpec:
    """The reassignment strategy, in its name or in keys of its own, and its throttle."""

    stated: str | None = field(
        default=None,
        alias="name",
        metadata=key(
            Text(parse_strategy, "a strategy"), "a shape, with parts or without: wiki, wiki+window-4", name="name"
        ),
    )
    throttle: int | None = field(
        default=None, metadata=key(RATE, "replication throttle per broker (KIP-73); absent = none")
    )
    admission: str | None = field(
        default=None,
        metadata=key(Text(partial(parse_part, axis=ADMISSION), "an admission"), "which moves the operator asks for"),
    )
    order: str | None = field(
        default=None,
        metadata=key(Text(partial(parse_part, axis=ORDER), "an order"), "in which order they wait"),
    )
    poll_us: int | None = field(
        default=None,
        metadata=key(SOME_TIME, "how often the operator looks at what has ended; absent = 1s", name="poll"),
    )
    native: str = field(default="wiki", eq=False)
    """The profile's own strategy. The scenario fills it in; it is no part of what the file says."""

    @property
    def name(self) -> str:
        """The strategy that runs, with all its parts: the one stated, else the profile's own."""
        return self.parsed.name

    @property
    def parsed(self) -> Strategy:
        poll = None if self.poll_us is None else POLL + format_duration(self.poll_us)
        parts = (self.stated or self.native, self.admission, self.order, poll)
        return parse_strategy("+".join(part for part in parts if part is not None))

    @property
    def limit(self) -> Throttle | None:
        """The throttle of every move: the one in the strategy's name, else the scenario's own."""
        own = None if self.throttle is None else Throttle(self.throttle)
        return self.parsed.execution.throttle or own

    def named(self, strategy: str) -> StrategySpec:
        """This with another strategy, which its name says whole: the keys for its parts are left out."""
        return evolve(self, name=strategy, admission=None, order=None, poll_us=None)
