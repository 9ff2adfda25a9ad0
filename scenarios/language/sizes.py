"""Loads whose messages or batches are larger than their producer sends or their topic accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scenarios.language.workloads import STICKY, WorkloadSpec, full_batch

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario

LIMIT, BROKERS_LIMIT = "max.message.bytes", "message.max.bytes"


def hints(scenario: Scenario) -> Iterator[str]:
    """A line for each load of which nothing, or not everything, can be accepted."""
    for index, load in enumerate(scenario.workloads):
        found = _hint(scenario, load)
        if found:
            yield f"workloads[{index}] {load.topic}: {found}"


def _hint(scenario: Scenario, load: WorkloadSpec) -> str:
    size, most_sent = load.message_size, int(load.setting("max.request.size"))
    if size > most_sent:
        return f"no message is ever sent: each has {size} bytes, and max.request.size is {most_sent}"
    topic = next((topic for topic in scenario.topics if topic.name == load.topic), None)
    stated = {} if topic is None else topic.config
    accepted = int(stated.get(LIMIT, scenario.settings()[BROKERS_LIMIT]))
    if size > accepted:
        return f"no message is ever accepted: each has {size} bytes, and {LIMIT} is {accepted}"
    batch = _largest_batch(load, 1 if topic is None else topic.partitions)
    if batch > accepted and not scenario.policies.brokers.limits_messages:
        return f"a batch may have {batch} bytes, and {LIMIT} is {accepted}: such a one is refused; write a batch.size"
    return ""


def _largest_batch(load: WorkloadSpec, partitions: int) -> int:
    """How large a batch of ``load`` gets: what gathers in a linger where all partitions get the same, or what a
    producer sends at most."""
    most = full_batch(int(load.setting("batch.size")), int(load.setting("max.request.size")), load.message_size)
    shared = 1 if load.partitioner == STICKY and load.keys is None else partitions
    gathered = -(-load.producer_rate * load.linger_us // (1_000_000 * load.producers * shared))
    return min(most, max(1, gathered)) * load.message_size
