"""The strategy block: which reassignment strategy runs, and its replication throttle."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.model.kinds import RATE, Text
from scenarios.model.reader import key
from scenarios.strategies import Strategy, parse_strategy


@frozen(kw_only=True)
class StrategySpec:
    """The reassignment strategy and its throttle."""

    stated: str | None = field(
        default=None,
        alias="name",
        metadata=key(Text(parse_strategy, "a strategy"), "wiki, kafka-6794, ...", name="name"),
    )
    throttle: int | None = field(
        default=None, metadata=key(RATE, "replication throttle per broker (KIP-73); absent = none")
    )
    native: str = field(default="wiki", eq=False)
    """The profile's own strategy. The scenario fills it in; it is no part of what the file says."""

    @property
    def name(self) -> str:
        """The strategy that runs: the one stated, else the profile's own."""
        return self.stated or self.native

    @property
    def parsed(self) -> Strategy:
        return parse_strategy(self.name)
