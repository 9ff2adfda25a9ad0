"""The timeline: fixed columns for the eye to run down, then the event in words.

    virtual time in seconds · seq · one column per broker with its role · what happened

The broker that acts is in brackets. What happens to the logs between two lines is summarised in one line, with the time
and ``seq`` of its last event; a step that is passed with nothing to show between its edges is one line too, without an
edge. The model is the column log of TigerBeetle's simulator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from emulator.protocol.events import Fault, NodeStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS, LeaderAndIsr, decode_topic, state_path_partition
from emulator.trace import Event
from emulator.trace.events import Step, ZkWritten
from scenarios.errors import BadInput
from scenarios.observe.past.cluster_past import Past, PastReplay
from scenarios.observe.timeline.log_changes import Summary, is_data
from scenarios.observe.timeline.roles import ClusterRoles, PartitionRoles
from scenarios.observe.timeline.selection import Everything, OfPartition
from scenarios.observe.timeline.words import seconds, words

WIDTH = 140
"""Columns of a line with up to seven brokers; with more brokers the words still get ``WORDS_MIN``."""
WORDS_MIN = 60
AROUND_US = 5_000_000
"""The time that is shown before and after a fault."""


def lines(
    events: Iterable[Event],
    partition: TopicPartition | str | None = None,
    from_us: int | None = None,
    to_us: int | None = None,
    around_fault: int | None = None,
    *,
    brokers: Sequence[int] | None = None,
) -> Iterator[str]:
    """The timeline of one partition, or of the whole cluster.

    Args:
        events: the events of one run, from its beginning, in order.
        from_us, to_us: show only this span of virtual time, both ends included.
        around_fault: show only the surroundings (``AROUND_US``) of the N-th fault, counted from 1.
        brokers: the columns; without them, all brokers in the events (``events`` is then held in memory).

    Raises: BadInput for a malformed name, a fault that did not happen, or a partition that is in no event.
    """
    tp = _parsed(partition) if isinstance(partition, str) else partition
    if brokers is None or around_fault is not None or tp is not None:
        events = list(events)
        brokers = _brokers(events) if brokers is None else brokers
        if around_fault is not None:
            from_us, to_us = _around(events, around_fault, from_us, to_us)
        if tp is not None:
            _check_known(events, tp)
    return _Timeline(tp, brokers, from_us, to_us).lines(events)


def shown(
    events: Sequence[Event],
    partition: TopicPartition | str | None = None,
    from_us: int | None = None,
    to_us: int | None = None,
) -> Iterator[Event]:
    """The events that the timeline shows, those that it summarises included. The arguments are those of ``lines``."""
    tp = _parsed(partition) if isinstance(partition, str) else partition
    if tp is not None:
        _check_known(events, tp)
    selection = Everything() if tp is None else OfPartition(tp)
    for event in events:
        concerns = selection.concerns(event)
        if concerns and (from_us is None or event.t_us >= from_us) and (to_us is None or event.t_us <= to_us):
            yield event


class _Timeline:
    def __init__(
        self, partition: TopicPartition | None, brokers: Sequence[int], from_us: int | None, to_us: int | None
    ) -> None:
        self._one = partition is not None
        self._title = "cluster" if partition is None else str(partition)
        self._replay = PastReplay()
        cluster = Past(self._replay).now
        self._roles = ClusterRoles(cluster) if partition is None else PartitionRoles(cluster, partition)
        self._selection = Everything() if partition is None else OfPartition(partition)
        self._brokers = brokers
        self._cell = max((len(str(broker)) for broker in brokers), default=1) + 2
        self._from_us, self._to_us = from_us, to_us
        self._summary = Summary()
        self._entered: Step | None = None
        """The ``before`` edge that came last, if it has not been shown yet."""

    def lines(self, events: Iterable[Event]) -> Iterator[str]:
        yield f"{self._title}: {self._roles.legend}; in brackets: the broker that acts"
        ids = "".join(f"{broker:^{self._cell}}" for broker in self._brokers)
        yield f"{'time s':>13} {'seq':>8}  {ids}  event"
        for event in events:
            if self._to_us is not None and event.t_us > self._to_us:
                break
            yield from self._event(event)
        yield from self._held_back()

    def _event(self, event: Any) -> Iterator[str]:
        shown = self._selection.concerns(event)
        if self._from_us is not None and event.t_us < self._from_us:
            self._replay.play((event,))
        elif shown and is_data(event):
            self._summary.add(event)
        elif shown and self._completes(event):
            self._entered = None
            yield self._line(event, words(event).replace(" after", "", 1), actor(event))
        elif shown:
            yield from self._held_back()
            self._replay.play((event,))
            if type(event) is Step and event.edge == "before":
                self._entered = event
            else:
                yield self._line(event, words(event), actor(event))
        else:
            self._replay.play((event,))

    def _completes(self, event: Any) -> bool:
        """Whether it is the ``after`` edge of the step whose ``before`` edge came last."""
        before = self._entered
        if before is None or type(event) is not Step or self._summary:
            return False
        return event.edge == "after" and event.step == before.step and event[5:] == before[5:]

    def _held_back(self) -> Iterator[str]:
        """The lines that were held back: an edge, and what happened to the logs since."""
        entered, self._entered = self._entered, None
        if entered is not None:
            yield self._line(entered, words(entered), actor(entered))
        yield from self._summarised()

    def _summarised(self) -> Iterator[str]:
        slowest = self._summary.slowest
        if slowest is not None:
            yield self._line(slowest, f"after {slowest.latency_us / 1e6:.3f} s {words(slowest)}", -1)
        text = self._summary.take(self._one)
        if text:
            yield self._line(self._summary.last, text, -1)

    def _line(self, event: Event, text: str, actor: int) -> str:
        cells = "".join(self._column(broker, broker == actor) for broker in self._brokers)
        start = f"{seconds(event.t_us):>13} {event.seq:>8}  {cells}  "
        room = max(WIDTH - len(start), WORDS_MIN)
        return start + (text if len(text) <= room else text[: room - 1] + "…")

    def _column(self, broker: int, acts: bool) -> str:
        letter = self._roles.letter(broker)
        return f"{f'[{letter}]' if acts else letter:^{self._cell}}"


def actor(event: Any) -> int:
    """The broker that did it; -1 for a client, ZooKeeper, the scenario, or where the event does not say."""
    node = event.client if type(event) is ZkWritten else getattr(event, "node", -1)
    return node if node >= 0 else -1


def _brokers(events: Iterable[Any]) -> list[int]:
    """All that were started, assigned or in an ISR, ascending."""
    found: dict[int, None] = {}
    for event in events:
        kind = type(event)
        if kind is NodeStarted and event.node >= 0:
            found[event.node] = None
        elif kind is ZkWritten and event.op != "delete" and event.path.startswith(TOPICS):
            found.update(dict.fromkeys(_named(event)))
    return sorted(found)


def _named(event: ZkWritten) -> Iterator[int]:
    if state_path_partition(event.path) is not None:
        yield from LeaderAndIsr.decode(event.data, event.version).isr
    elif event.path.count("/") == TOPICS.count("/") + 1:
        for replicas in decode_topic(event.data).values():
            yield from replicas


def _parsed(name: str) -> TopicPartition:
    try:
        return TopicPartition.parse(name)
    except ValueError as error:
        raise BadInput(str(error)) from error


def _around(
    events: Iterable[Event], number: int, from_us: int | None, to_us: int | None
) -> tuple[int | None, int | None]:
    faults = [event for event in events if type(event) is Fault]
    if not 1 <= number <= len(faults):
        known = f"faults are numbered 1 to {len(faults)}" if faults else "this run had none"
        raise BadInput(f"there is no fault {number}; {known}")
    t_us = faults[number - 1].t_us
    return max(t_us - AROUND_US, from_us or 0), t_us + AROUND_US if to_us is None else min(t_us + AROUND_US, to_us)


def _check_known(events: Iterable[Any], tp: TopicPartition) -> None:
    known: dict[TopicPartition, None] = {}
    for event in events:
        if type(event) is ZkWritten and (found := state_path_partition(event.path)) is not None:
            known[found] = None
    if tp not in known:
        names = ", ".join(str(found) for found in list(known)[:10]) or "none"
        raise BadInput(f"unknown partition '{tp}'; the trace has: {names}")
