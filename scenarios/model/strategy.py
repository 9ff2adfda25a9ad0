"""The strategy block: which reassignment strategy runs, and its replication throttle."""

from __future__ import annotations

from attrs import field, frozen

from scenarios.model.kinds import RATE, Text
from scenarios.model.reader import key
from scenarios.strategies import Strategy, parse_strategy


@frozen(kw_only=True)
class StrategySpec:
    """The reassignment strategy and its throttle."""

    name: str = field(default="wiki", metadata=key(Text(parse_strategy, "a strategy"), "wiki or kafka-6794"))
    throttle: int | None = field(
        default=None, metadata=key(RATE, "replication throttle per broker (KIP-73); absent = none")
    )

    @property
    def parsed(self) -> Strategy:
        return parse_strategy(self.name)
