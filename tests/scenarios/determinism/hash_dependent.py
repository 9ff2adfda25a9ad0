"""A recorder of events with an injected fault: a producer sends its batches in the order of a set of names."""

from pathlib import Path
from typing import Any

from emulator.protocol.produce import ProducedBatch
from scenarios.cluster.clients.producer import Producer
from scenarios.cluster.clients.producing.accumulator import Queue
from scenarios.language import Scenario
from scenarios.runs import record_events

_in_order = Producer._gather


def _in_the_order_of_a_set(self: Producer) -> list[tuple[ProducedBatch, Queue]]:
    batches = {str(batch.tp): (batch, queue) for batch, queue in _in_order(self)}
    return [batches[name] for name in set(batches)]


def record(scenario: Scenario, path: Path, **run: Any) -> str:
    Producer._gather = _in_the_order_of_a_set  # type: ignore[method-assign]
    return record_events(scenario, path, **run)
