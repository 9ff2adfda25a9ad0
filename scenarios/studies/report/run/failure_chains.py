"""The causal chain of each failure: of a violation, a loss, a failed partition, an election, a batch that was given up.

The chains and the sentences are those of ``understudy why`` and of the explanation of a failed run. Failures that are
alike and near each other are shown as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from emulator.protocol.events import (
    AckedLost,
    ControllerElected,
    IsrChanged,
    LeaderElected,
    PartitionFailed,
    Produced,
    Violated,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.timeline.explain import chain
from scenarios.observe.timeline.log_changes import is_data
from scenarios.observe.timeline.words import words
from scenarios.observe.why.answer import Answer
from scenarios.observe.why.batches import batch
from scenarios.observe.why.leader_reasons import leader
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import replica

MOST = 24
"""The most failures that are explained: each explanation reads the whole run before it."""
MOST_OTHERS = 12
"""The most failures that are named for being like an explained one."""
NEAR_US = 5_000_000
"""Alike failures are shown as one where each is this near to the one before it."""
LINKS = 12
"""The most links of a chain of causes: what came before explains little."""
FAULTS = 4
"""The newest faults before a failure belong to its explanation: a chain can end at a timer, such as a session's."""
RANK = {Violated: 0, AckedLost: 1, PartitionFailed: 2, ControllerElected: 3, LeaderElected: 4, Produced: 5}
NAMES = {
    Violated: "violation",
    AckedLost: "lost records",
    PartitionFailed: "failed partition",
    ControllerElected: "new controller",
    LeaderElected: "election",
    Produced: "batch given up",
}


@frozen
class Link:
    """An event of a chain; ``depth``: how many of its causes are in the chain too."""

    t_us: int
    seq: int
    text: str
    depth: int


@frozen
class Failure:
    """A failure with what led to it.

    Attributes:
        kind: one of ``NAMES``.
        question, sentence: question and answer of ``understudy why``; empty where it has none.
        links: the events that bear it out, oldest first.
        others: failures like it, without their chains, as far as they are named; alike: how many there are.
    """

    t_us: int
    seq: int
    kind: str
    partition: str
    text: str
    question: str
    sentence: str
    links: tuple[Link, ...]
    others: tuple[Link, ...]
    alike: int


@define
class _Group:
    first: Any
    others: list[Any] = field(factory=list)


def failures(events: Sequence[Any], faults: Sequence[Any], most: int = MOST) -> tuple[list[Failure], int]:
    """The failures, the worst kinds first, and how many groups of them were not explained.

    Args:
        events: the events of one run, in their order.
        faults: the faults among them, without the actions that undo one.
    """
    groups = sorted(_groups(events), key=lambda group: (RANK[type(group.first)], group.first.seq))
    by_seq = {event.seq: event for event in events}
    found = []
    for group in groups[:most]:
        before = [fault for fault in faults if fault.seq < group.first.seq]
        found.append(_explained(group, events, by_seq, before[-FAULTS:]))
    return found, max(0, len(groups) - most)


def _groups(events: Sequence[Any]) -> Iterator[_Group]:
    """Groups of failures that are alike and near each other."""
    newest: dict[tuple[Any, ...], _Group] = {}
    first_controller = next((event.seq for event in events if type(event) is ControllerElected), 0)
    for event in events:
        alike = _alike(event)
        if alike is None or event.seq == first_controller:
            continue
        group = newest.get(alike)
        last = None if group is None else (group.others or [group.first])[-1]
        if group is not None and last is not None and event.t_us - last.t_us <= NEAR_US:
            group.others.append(event)
            continue
        newest[alike] = group = _Group(event)
        yield group


def _alike(event: Any) -> tuple[Any, ...] | None:
    """The key that failures of one group have in common; None: the event is no failure."""
    kind = type(event)
    if kind is Violated:
        return kind, event.invariant
    if kind is AckedLost and not is_data(event):
        return kind, event.acks, event.unclean, event.unflushed
    if kind is PartitionFailed:
        return kind, event.node, event.reason
    if kind is LeaderElected and event.selector not in ("new", "preferred", "reassigned"):
        return kind, event.selector, event.unclean
    if kind is ControllerElected:
        return kind, event.controller_epoch
    if kind is Produced and event.error != "NONE":
        return kind, event.outcome, event.error
    return None


def _explained(group: _Group, events: Sequence[Any], by_seq: Mapping[int, Any], faults: Sequence[Any]) -> Failure:
    event = group.first
    answer = _answer(event, events)
    evidence = (*answer.events, *chain(by_seq, event.seq).events[-LINKS:], *faults)
    told = Answer.of(answer.question, evidence, answer.sentence)
    others = tuple(Link(one.t_us, one.seq, words(one), 0) for one in group.others[:MOST_OTHERS])
    topic = getattr(event, "topic", "")
    return Failure(
        event.t_us,
        event.seq,
        NAMES[type(event)],
        f"{topic}-{event.partition}" if topic else "",
        words(event),
        answer.question,
        answer.sentence,
        tuple(_links(told.events)),
        others,
        len(group.others),
    )


def _answer(event: Any, events: Sequence[Any]) -> Answer:
    """The answer of ``understudy why`` about a failure at its moment. A loss is explained by the election of the
    partition's leader, a failed partition by how its replica left the ISR."""
    if type(event) in (Violated, ControllerElected):
        return Answer("", (), "")
    tp = TopicPartition.of(event.topic, event.partition)
    if type(event) is PartitionFailed:
        left_us = _left_isr(event, events)
        return Answer("", (), "") if left_us is None else replica(PartitionPast(events, tp, left_us), event.node)
    past = PartitionPast(events, tp, event.t_us)
    if type(event) is Produced:
        return batch(past, event.id)
    return leader(past)


def _left_isr(failed: Any, events: Sequence[Any]) -> int | None:
    """When the leader dropped a replica that has failed from the ISR; None: it did not."""
    shrunk = (
        event.t_us
        for event in events
        if type(event) is IsrChanged
        and (event.kind, event.topic, event.partition) == ("shrink", failed.topic, failed.partition)
        and event.seq > failed.seq
        and failed.node not in event.isr
    )
    return next(shrunk, None)


def _links(found: Sequence[Any]) -> Iterator[Link]:
    depths: dict[int, int] = {}
    for event in found:
        depths[event.seq] = depths[event.cause] + 1 if event.cause in depths else 0
        yield Link(event.t_us, event.seq, words(event), depths[event.seq])
