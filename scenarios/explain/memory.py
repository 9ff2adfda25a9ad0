"""The events that an explanation may need, kept in bounded memory while the run goes on.

Causal chains run through the control plane. Events of the data plane come a thousand times as often; they
end a chain, where a checker found something, and never carry one on for long, so the newest are enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from emulator.protocol import events as e
from emulator.trace import Event, Trace
from emulator.trace.events import ZkSession, ZkWritten

CONTROL_PLANE: tuple[type, ...] = (
    e.Step, e.Fault, e.NodeStarted, e.NodeCrashed, e.BrokerRegistered, e.ControllerElected,
    e.ControllerResigned, e.ControlRequest, e.ControlResponse, e.LeaderElected, e.BecameLeader, e.BecameFollower, e.ReplicaStopped,
    e.LogLoaded, e.Truncated, e.IsrChanged, e.IsrUpdateFailed, e.FetcherStarted, e.FetcherStopped,
    e.PartitionFailed, e.PartitionUnfailed, e.MoveStarted, e.MoveFinished, e.Violated, ZkWritten, ZkSession,
)  # fmt: skip
DATA_PLANE: tuple[type, ...] = (e.Appended, e.HighWatermark, e.Produced, e.FetchPosition)
KEPT = 20_000
KEPT_DATA = 2_000


class Memory:
    """The newest events of a trace, from now on. ``events`` gives them by ``seq``."""

    def __init__(self, trace: Trace, kept: int = KEPT, kept_data: int = KEPT_DATA) -> None:
        self._control: deque[Any] = deque(maxlen=kept)
        self._data: deque[Any] = deque(maxlen=kept_data)
        _remember(trace, CONTROL_PLANE, self._control.append)
        _remember(trace, DATA_PLANE, self._data.append)

    def events(self) -> dict[int, Event]:
        """What is remembered, ascending."""
        both = [*self._control, *self._data]
        return {event.seq: event for event in sorted(both, key=_seq)}


def _remember(trace: Trace, kinds: tuple[type, ...], see: Callable[[Any], None]) -> None:
    for kind in kinds:
        trace.fold(kind, see)


def _seq(event: Any) -> int:
    return int(event.seq)
