"""A recorder of events with an injected fault: a producer sends its batches in the order of a set of names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.cluster.clients.producing.partitioner import RoundRobin
from scenarios.language import Scenario
from scenarios.runs import record_events

_in_order = RoundRobin.deal


def _in_the_order_of_a_set(self: RoundRobin, messages: int, open_to: Sequence[int]) -> list[tuple[int, int]]:
    shares = {f"partition {place}": (place, count) for place, count in _in_order(self, messages, open_to)}
    return [shares[name] for name in set(shares)]


def record(scenario: Scenario, path: Path, **run: Any) -> str:
    RoundRobin.deal = _in_the_order_of_a_set  # type: ignore[method-assign]
    return record_events(scenario, path, **run)
