"""Causes for which a cluster waits at a moment: exhausted throttles, elections, replicas out of sync, moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from controller.reassignment.protocol import ReassignmentProtocol
from emulator.protocol.types import TopicPartition
from scenarios.observe.timeline.moment import OpenMove
from scenarios.observe.timeline.quota_words import summaries
from scenarios.observe.why.answer import ids
from scenarios.observe.why.leader_reasons import no_leader
from scenarios.observe.why.move_reasons import reason
from scenarios.observe.why.partition_past import PartitionPast, Seen
from scenarios.observe.why.replica_reasons import out_of_sync, what_keeps_it_out

NAMED = 3
"""Partitions of which the same is said, by name; more are counted."""
MOST = 60
"""Partitions that are looked at: each looks back over the run."""


def waits(events: Sequence[Any], at_us: int, protocol: ReassignmentProtocol | None, seen: Seen) -> Iterator[str]:
    """A sentence for each cause, with the partitions that it concerns; nothing where nothing waits."""
    past = PartitionPast(events, TopicPartition("", -1), at_us, protocol, seen)
    yield from (f"throttle of {text}" for text in summaries(past.moment.quotas, at_us))
    leaders = {TopicPartition.of(one.topic, one.partition): one.leader for one in past.moment.partitions}
    leaderless = [tp for tp, leader in leaders.items() if leader < 0]
    led = [tp for tp, leader in leaders.items() if leader >= 0]
    yield from _alike(leaderless, lambda tp: _no_leader(past.about(tp)))
    yield from _alike(led, lambda tp: _missing(past.about(tp)))
    moving = {TopicPartition.parse(move.partition): move for move in past.moment.moves}
    yield from _alike(list(moving), lambda tp: _move(past.about(tp), moving[tp]))


def _alike(partitions: list[TopicPartition], said: Callable[[TopicPartition], Iterator[str]]) -> Iterator[str]:
    """Each text that ``said`` has for the partitions, once, after the names of its partitions."""
    found: dict[str, list[str]] = {}
    for tp in partitions[:MOST]:
        for text in said(tp):
            found.setdefault(text, []).append(str(tp))
    for text, names in found.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"{', '.join(names[:NAMED])}{more}: {text}"


def _no_leader(past: PartitionPast) -> Iterator[str]:
    yield no_leader(past).clause


def _missing(past: PartitionPast) -> Iterator[str]:
    """Replicas out of sync, but for those that a quota holds back: they stand with the quota."""
    for broker in out_of_sync(past):
        if past.held_back(broker) is None:
            yield f"broker {broker} is not in the ISR: {what_keeps_it_out(past, broker).clause}"


def _move(past: PartitionPast, move: OpenMove) -> Iterator[str]:
    found = reason(past, move)
    isr = () if past.state is None else past.state.isr
    missing = [broker for broker in found.replicas if broker not in isr]
    if len(missing) > 1:
        awaited = f"until brokers {ids(missing)} join the ISR"
    else:
        awaited = f"until broker {missing[0]} joins the ISR" if missing else found.clause
    yield f"the move is {move.place}, {awaited}"
