"""Violations as tests write them: by their sentences, which are read back into facts here, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from attrs import evolve

from emulator.protocol.types import TopicPartition
from scenarios.observe.findings import convergence_facts as facts
from scenarios.observe.findings.control_facts import NotNotified
from scenarios.observe.findings.convergence_facts import Condition
from scenarios.observe.findings.facts import Facts, Part
from scenarios.observe.findings.gauge_facts import OfflineCounted
from scenarios.observe.findings.log_facts import BatchTwice, BoundsBroken
from scenarios.observe.findings.metadata_facts import KnowsEarlierEpoch, KnowsOtherThanZooKeeper, LeadershipFact
from scenarios.observe.findings.violation import Violation

CONTROLLED, NOTHING_ASKED, LED = Condition.CONTROLLED, Condition.NOTHING_ASKED, Condition.LED
IN_SYNC, SAME_LOGS, COMMITTED = Condition.IN_SYNC, Condition.SAME_LOGS, Condition.COMMITTED
NO_STRAYS, FETCHED, GAUGES = Condition.NO_STRAYS, Condition.FETCHED, Condition.GAUGES
READ = Condition.READ

LACK_WHAT_IS_NEW = "; all that are missing follow, and lack at most what is new"

_PARTITION = re.compile(r"\b(?!Replica)([\w.-]+-\d+)\b")


class Said(NamedTuple):
    """A sentence of which no reason asks for more than its partition."""

    words: str

    def in_words(self, _tp: TopicPartition | None) -> str:
        return self.words


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one.strip())


def _leadership(text: str) -> LeadershipFact | None:
    found = re.match(r"leader (-?\d+) of leader epoch (\d+)", text)
    return LeadershipFact(int(found[1]), int(found[2])) if found else None


_LEADS = r"(nothing|leader -?\d+ of leader epoch \d+)"
_KINDS: tuple[tuple[str, Callable[..., Facts]], ...] = (
    (
        r"batch (\d+) is committed .* offset (\d+) in epoch (\d+); .* has batches (\d+) to (\d+), up to offset (\d+)",
        lambda *all: BatchTwice(*map(int, all)),
    ),
    (
        r"high watermark of broker (\d+) is (-?\d+), its log ends at (\d+)",
        lambda *all: facts.NotCommitted(int(all[0]), int(all[1]), int(all[2]), -1, ()),
    ),
    (r"broker (\d+): (\S+) has died", lambda broker, fetcher: facts.FetcherDead(int(broker), fetcher)),
    (
        r": isr \[([\d, ]*)\], assignment \[([\d, ]*)\], leader (-?\d+)(; all that are missing)?",
        lambda isr, all, leader, new: facts.IsrDiffers(_ids(isr), _ids(all), int(leader), bool(new)),
    ),
    (
        r"^broker (\d+) shows (\w+) = (\d+)$",
        lambda node, name, value: facts.GaugeNotAtRest(int(node), name, int(value)),
    ),
    (r"^(/admin/\S+) is still there", facts.RequestStays),
    (r": no leader was ever elected", facts.NeverLed),
    (r": no leader, isr \[([\d, ]*)\]", lambda isr: facts.LeaderGone(-1, _ids(isr))),
    (
        r": leader (\d+), which does not run, isr \[([\d, ]*)\]",
        lambda node, isr: facts.LeaderGone(int(node), _ids(isr)),
    ),
    (
        rf"broker (\d+): .*: {_LEADS}, and in ZooKeeper {_LEADS}",
        lambda node, known, wanted: KnowsOtherThanZooKeeper(
            int(node), _leadership(known), _leadership(wanted) or LeadershipFact(-1, -1)
        ),
    ),
    (
        rf"broker (\d+) knows {_LEADS}, after {_LEADS}",
        lambda node, *both: KnowsEarlierEpoch(int(node), *(_leadership(one) or LeadershipFact(-1, -1) for one in both)),
    ),
    (r"has been sent no LeaderAndIsr", lambda: NotNotified(None, -1, -1, (), 0)),
    (
        r"controller (\d+) shows (\d+) offline partitions; (\d+) have no live leader",
        lambda *all: OfflineCounted(int(all[0]), int(all[1]), int(all[2]), 0),
    ),
    (
        r"broker (\d+), .*, when its high watermark moves: log start (\d+), high watermark (-?\d+)",
        lambda node, start, at: BoundsBroken(int(node), "HighWatermark", int(start), int(at), int(at)),
    ),
)


def _facts(state: str) -> Facts:
    for pattern, kind in _KINDS:
        found = re.search(pattern, state)
        if found:
            return kind(*found.groups())
    return Said(state)


def stated(
    invariant: str, part: Part | str, t_us: int, seq: int, state: str, brokers: tuple[int, ...] = ()
) -> Violation:
    """A violation by its sentence. ``part``: a condition of convergence; any text: the whole invariant."""
    named = _PARTITION.search(state)
    partition = TopicPartition.parse(named[1]) if named else None
    return Violation(invariant, t_us, seq, _facts(state), None if isinstance(part, str) else part, partition, brokers)


def restated(found: Violation, state: str, **changes: Any) -> Violation:
    """The violation with another sentence."""
    other = stated(found.invariant, "", 0, 0, state)
    return evolve(found, facts=other.facts, partition=other.partition, **changes)
