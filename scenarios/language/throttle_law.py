"""Throttled moves that can never end, because of what is written meanwhile (KIP-73; docs/understand/experiments.md).

A leader's quota counts the bytes that it sends to followers in sync and never holds these back. So a new replica gets
what they leave of the quota, and needs more than is written. Beyond its rate, a quota lets through what its window
holds when a move begins, and an answer each time that it is not exceeded. A move that is not reported here may still be
slow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from attrs import frozen

from scenarios.language.strategies import Throttle
from scenarios.language.topic_spec import split_partition
from scenarios.units import BYTES, MICROSECONDS, format_rate

if TYPE_CHECKING:
    from scenarios.language.plan import Plan
    from scenarios.language.scenario import Scenario


WINDOW_S = 10
"""A length of the window: Kafka's, of 11 samples, is at least as long."""
KEEP_IN_SYNC = ("wiki", "kafka-42", "kip-455", "kafka-6794")
"""The protocols under which old replicas stay until a new one is in sync. If the target has fewer replicas, the
difference may leave earlier."""


@frozen
class NeverEnds:
    """Brokers whose throttle is too low for their moves.

    Attributes:
        leader: whether each leads partitions that move; otherwise moves bring it replicas.
        in_sync: bytes per second that each sends to followers in sync.
        needed: the rate that the throttle has to exceed, in bytes per second.
        moves: the number of partitions for each.
    """

    brokers: tuple[int, ...]
    leader: bool
    in_sync: int
    needed: int
    moves: int

    @property
    def words(self) -> str:
        several = len(self.brokers) > 1
        named = f"{'brokers' if several else 'broker'} {', '.join(map(str, self.brokers))}"
        which = ("the partition" if self.moves == 1 else f"the {self.moves} partitions") + " that " + named
        if not self.leader:
            return (
                f"not every replica of {which} {'each get' if several else 'gets'} ever joins its ISR while the load "
                f"lasts: a throttle has to be above the {format_rate(self.needed)} that are written there"
            )
        counts = f": KIP-73 counts the {format_rate(self.in_sync)} to followers in sync too" if self.in_sync else ""
        return (
            f"no move of {which} {'each lead' if several else 'leads'} ever ends while the load lasts: a throttle has "
            f"to be above {format_rate(self.needed)}{counts}"
        )


def never_ending(scenario: Scenario, plan: Plan, throttle: Throttle) -> Iterator[NeverEnds]:
    """The brokers whose moves cannot end under the throttle, as leaders and then as followers, while every replica of
    the start is in sync and the load lasts. Brokers with equal figures are one item."""
    now, written, parsed = scenario.assignments(), _written(scenario), scenario.strategy.parsed
    targets = {name: target for name, target in plan.targets().items() if written.get(name)}
    added = {name: [broker for broker in target if broker not in now[name]] for name, target in targets.items()}
    moves = {name: brokers for name, brokers in added.items() if brokers}
    counts = parsed.shape in KEEP_IN_SYNC and not throttle.only_reassigned
    in_sync = {name: written[name] * (min(len(now[name]), len(targets[name])) - 1) * counts for name in moves}
    answers = {name: len(added[name]) * _most_in_answer(scenario, name, written[name]) for name in moves}
    sizes = scenario.sizes()
    at_once = parsed.execution.at_once

    def too_low(needed: int, names: list[str]) -> bool:
        beyond = sum(answers[name] for name in names)
        least = min(sizes[name] for name in names)
        return throttle.rate + beyond // WINDOW_S <= needed and least > throttle.rate * (WINDOW_S + 1) + beyond

    alike: dict[tuple[bool, int, int, int], list[int]] = {}
    for leader, names in _grouped((now[name][0], name) for name in moves):
        sent = sum(in_sync[name] for name in names) if at_once else min(in_sync[name] for name in names)
        needed = min(written[name] + (sent if at_once else in_sync[name]) for name in names)
        if too_low(needed, names):
            alike.setdefault((True, sent, needed, len(names)), []).append(leader)
    # A broker's quota as a follower counts what is listed there, also once it is in sync.
    together = at_once and not throttle.only_reassigned
    for broker, names in _grouped((broker, name) for name in moves for broker in moves[name]):
        needed = sum(written[name] for name in names) if together else max(written[name] for name in names)
        if too_low(needed, names):
            alike.setdefault((False, 0, needed, len(names)), []).append(broker)
    for (leads, sent, needed, count), brokers in alike.items():
        yield NeverEnds(tuple(brokers), leads, sent, needed, count)


def _grouped(pairs: Iterable[tuple[int, str]]) -> list[tuple[int, list[str]]]:
    """The partitions of each broker, by broker."""
    found: dict[int, list[str]] = {}
    for broker, name in pairs:
        found.setdefault(broker, []).append(name)
    return sorted(found.items())


def _most_in_answer(scenario: Scenario, name: str, written: int) -> int:
    """The most bytes of a partition in one answer to a follower: a batch passes whatever its size, even one of the data
    at the start."""
    lingers = [load.linger_us for load in scenario.workloads if load.topic == split_partition(name)[0]]
    batch = written * max(lingers) // MICROSECONDS["s"]
    return max(int(scenario.settings()["replica.fetch.max.bytes"]), BYTES["MiB"], batch)


def _written(scenario: Scenario) -> dict[str, int]:
    """Bytes per second that are written to each partition to the end of the run, as far as known: keys are spread
    unevenly."""
    names = {topic.name: topic.partition_names for topic in scenario.topics}
    written = {name: 0 for each in names.values() for name in each}
    for load in scenario.workloads:
        if load.stop_us is None and load.keys is None:
            its = names.get(load.topic, ())
            shares = load.shares or (1,) * len(its)
            for name, share in zip(its, shares, strict=True):
                written[name] += load.producer_rate * load.message_size * share // sum(shares)
    return written
