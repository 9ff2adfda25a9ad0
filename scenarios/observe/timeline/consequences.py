"""Consequences of the first event that differs between two runs: what only one of them had from there on.

Times, sequence numbers and epochs do not count: an election is the same in both runs when the partition, the leader and
the reason are. Each consequence says whether its chain of causes leads back to that first event. A chain ends at a
timer, such as the one of a session that expires, so other things follow from the event too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from attrs import frozen

from emulator.protocol.events import (
    AckedLost,
    ControllerElected,
    IsrChanged,
    LeaderElected,
    LogDirFailed,
    MoveFinished,
    NodeCrashed,
    PartitionFailed,
    Produced,
    Truncated,
    Violated,
)
from emulator.trace.events import ZkSession
from scenarios.observe.timeline.explain import cut
from scenarios.observe.timeline.words import seconds, words


class ConsequenceKind(NamedTuple):
    """A kind of thing that follows.

    Attributes:
        one, many: names of the kind, for one and for several.
        key: the key by which two of them are equal; None: the event is none.
        brokers: the brokers that it concerns.
    """

    one: str
    many: str
    key: Callable[[Any], tuple[Any, ...] | None]
    brokers: Callable[[Any], tuple[int, ...]] = lambda event: (event.node,)


def _given_up(event: Produced) -> tuple[Any, ...] | None:
    return None if event.error == "NONE" else (event.topic, event.partition, event.outcome, event.error)


KINDS: dict[type, ConsequenceKind] = {
    NodeCrashed: ConsequenceKind("crash", "crashes", lambda v: (v.node, v.kind)),
    ZkSession: ConsequenceKind(
        "expired session",
        "expired sessions",
        lambda v: (v.client,) if v.state == "expired" else None,
        lambda v: (v.client,),
    ),
    LogDirFailed: ConsequenceKind("failed log directory", "failed log directories", lambda v: (v.node, v.directory)),
    ControllerElected: ConsequenceKind("elected controller", "elected controllers", lambda v: (v.node,)),
    LeaderElected: ConsequenceKind(
        "election",
        "elections",
        lambda v: (v.topic, v.partition, v.leader, v.selector, v.unclean),
        lambda v: (v.leader,),
    ),
    IsrChanged: ConsequenceKind(
        "ISR change", "ISR changes", lambda v: (v.topic, v.partition, v.kind, frozenset(v.isr))
    ),
    PartitionFailed: ConsequenceKind("failed partition", "failed partitions", lambda v: (v.node, v.topic, v.partition)),
    Truncated: ConsequenceKind("truncation", "truncations", lambda v: (v.node, v.topic, v.partition, v.log_end_offset)),
    MoveFinished: ConsequenceKind("finished move", "finished moves", lambda v: (v.topic, v.partition), lambda _: ()),
    Produced: ConsequenceKind("batch given up", "batches given up", _given_up, lambda _: ()),
    AckedLost: ConsequenceKind(
        "loss of acknowledged data",
        "losses of acknowledged data",
        lambda v: (v.topic, v.partition, v.acks, v.records),
        lambda v: (v.leader,),
    ),
    Violated: ConsequenceKind("violation", "violations", lambda v: (v.invariant, v.statement), lambda _: ()),
}
"""Kinds of consequences, in the order in which they are shown."""


@frozen
class Followed:
    """The consequences in one run: what it had after the first different event, and the other run had not.

    Attributes:
        events: the events, in their order.
        caused: the ``seq`` of each event whose chain of causes leads back to the first different event.
    """

    events: tuple[Any, ...]
    caused: frozenset[int]

    @property
    def partitions(self) -> tuple[str, ...]:
        """The partitions that the events are about, in the order of the events."""
        found = (event for event in self.events if getattr(event, "topic", ""))
        return tuple(dict.fromkeys(f"{event.topic}-{event.partition}" for event in found))

    @property
    def brokers(self) -> tuple[int, ...]:
        """The brokers that the events are about, in order."""
        concerned = (broker for event in self.events for broker in KINDS[type(event)].brokers(event))
        return tuple(sorted({broker for broker in concerned if broker >= 0}))

    def groups(self) -> Iterator[tuple[str, Any]]:
        """How many there are of each kind, in words, and the first one."""
        for kind, named in KINDS.items():
            events = [event for event in self.events if type(event) is kind]
            if events:
                yield f"{len(events)} {named.one if len(events) == 1 else named.many}", events[0]

    def to_json(self) -> dict[str, Any]:
        """The events as plain values."""
        return {
            "events": [
                {"t_us": event.t_us, "seq": event.seq, "caused": event.seq in self.caused, "text": words(event)}
                for event in self.events
            ],
            "partitions": self.partitions,
            "brokers": self.brokers,
        }


def followed(first: Sequence[Any], second: Sequence[Any], index: int) -> tuple[Followed, Followed]:
    """The consequences in each of two runs whose first different event has that index."""
    left, right = _keyed(first[index:]), _keyed(second[index:])
    return _only(left, right, first, index), _only(right, left, second, index)


def _keyed(events: Sequence[Any]) -> list[tuple[Any, Any]]:
    found = []
    for event in events:
        kind = KINDS.get(type(event))
        key = None if kind is None else kind.key(event)
        if key is not None:
            found.append(((type(event), *key), event))
    return found


def _only(
    own: Sequence[tuple[Any, Any]], other: Sequence[tuple[Any, Any]], events: Sequence[Any], index: int
) -> Followed:
    """The events of ``own`` without those of ``other``: of n equal ones in ``other``, the first n of ``own`` go."""
    left = Counter(key for key, _ in other)
    found = []
    for key, event in own:
        if left[key]:
            left[key] -= 1
        else:
            found.append(event)
    return Followed(tuple(found), frozenset(_descendants(events, index)))


def _descendants(events: Sequence[Any], index: int) -> set[int]:
    """The event with that index and all whose chain of causes leads back to it."""
    found: set[int] = set()
    if index < len(events):
        found.add(events[index].seq)
        found.update(event.seq for event in events[index + 1 :] if _joins(event, found))
    return found


def _joins(event: Any, found: set[int]) -> bool:
    """Whether an event belongs to ``found``, to which it is added then: causes come before what they cause."""
    if event.cause in found:
        found.add(event.seq)
        return True
    return False


def lines(left: Followed, right: Followed) -> Iterator[str]:
    if not (left.events or right.events):
        yield "nothing followed from it: times aside, the runs have the same elections, ISR changes, moves and losses"
        return
    yield "what followed, times aside, in one run and not in the other:"
    for mark, side in zip("<>", (left, right), strict=True):
        if not side.events:
            yield f"  {mark} nothing"
        for count, event in side.groups():
            yield cut(f"  {mark} {count}, first at {seconds(event.t_us)} s: {words(event)}")
    partitions = dict.fromkeys((*left.partitions, *right.partitions))
    brokers = sorted({*left.brokers, *right.brokers})
    concerned = [_listed(list(partitions), "partition"), _listed(list(map(str, brokers)), "broker")]
    yield f"it concerns {' and '.join(part for part in concerned if part) or 'no partition'}"
    events = [(side, event) for side in (left, right) for event in side.events]
    caused = sum(event.seq in side.caused for side, event in events)
    have = "has the event above among its" if caused == 1 else "have the event above among their"
    yield f"{caused} of these {len(events)} {have} causes (a chain of causes ends at a timer)"


def _listed(names: Sequence[str], noun: str) -> str:
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"{noun}{'s' * (len(names) > 1)} {shown}" if names else ""
