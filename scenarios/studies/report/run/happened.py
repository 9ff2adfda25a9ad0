"""The events that a reader of the page steps through, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import frozen

from controller.procedures import STEPS
from emulator.protocol import events as e
from emulator.trace.events import Step, ZkSession
from scenarios.observe.timeline.log_changes import is_data
from scenarios.observe.timeline.words import words

MOST = 2_500


@frozen
class Happened:
    """An event.

    Attributes:
        kind: what it is drawn and filtered as: ``fault``, ``broker``, ``controller``, ``leader``, ``isr``, ``move``,
            ``step``, ``replica``, ``client`` or ``failure``.
        partition: ``orders-0``; empty for an event of the whole cluster.
    """

    t_us: int
    seq: int
    kind: str
    partition: str
    text: str


def _always(_: Any) -> bool:
    return True


_KINDS: Mapping[type, tuple[str, int, Callable[[Any], bool]]] = {
    e.Violated: ("failure", 0, _always),
    e.AckedLost: ("failure", 0, lambda v: not is_data(v)),
    e.PartitionFailed: ("failure", 0, _always),
    e.LogDirFailed: ("failure", 0, _always),
    e.Fault: ("fault", 0, _always),
    e.NodeCrashed: ("broker", 0, _always),
    e.NodeStarted: ("broker", 0, lambda v: v.t_us > 0 and v.node >= 0),
    ZkSession: ("broker", 0, lambda v: v.state == "expired"),
    e.ControllerElected: ("controller", 0, _always),
    e.ControllerResigned: ("controller", 0, _always),
    e.LeaderElected: ("leader", 1, lambda v: v.selector != "new"),
    e.MoveStarted: ("move", 1, _always),
    e.MoveFinished: ("move", 1, _always),
    e.MoveCancelled: ("move", 1, _always),
    e.MoveReported: ("move", 1, _always),
    e.MoveAnswered: ("move", 1, lambda v: v.error != "NONE"),
    e.PartitionFailureCleared: ("replica", 1, _always),
    e.ReplicaOffline: ("replica", 1, _always),
    e.LogRecovered: ("replica", 1, _always),
    e.IsrChanged: ("isr", 2, _always),
    e.IsrUpdateFailed: ("isr", 2, _always),
    e.ConsumerFailed: ("client", 2, _always),
    e.Truncated: ("replica", 3, _always),
    Step: ("step", 3, lambda v: v.step in STEPS and STEPS[v.step].reassignment and v.edge == "after"),
    e.Produced: ("client", 4, lambda v: v.error != "NONE"),
}
"""Kind of event to its kind here, how soon it is left out where there are too many (4 first), and which of them."""
_LAST = 4


def happened(events: Iterable[Any], most: int = MOST) -> tuple[list[Happened], int]:
    """The events in their order, and how many were left out because there are more than ``most``."""
    found = [event for event in events if type(event) in _KINDS and _KINDS[type(event)][2](event)]
    if len(found) > most:
        kept: list[Any] = []
        for rank in range(_LAST + 1):
            own = [event for event in found if _KINDS[type(event)][1] == rank]
            kept += own[: most - len(kept)]
        shown = sorted(kept, key=lambda event: event.seq)
    else:
        shown = found
    return [_told(event) for event in shown], len(found) - len(shown)


def _told(event: Any) -> Happened:
    topic, partition = getattr(event, "topic", ""), getattr(event, "partition", -1)
    name = f"{topic}-{partition}" if topic and partition >= 0 else ""
    return Happened(event.t_us, event.seq, _KINDS[type(event)][0], name, words(event))
