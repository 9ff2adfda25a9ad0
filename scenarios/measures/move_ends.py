"""When moves end.

With ``MoveFinished``, by which the controller says so. A controller that dies after KIP-455's B6 has written the last
of a move to ZooKeeper and not said it, and if the API asked for the move there is nothing left for the next one to
finish: such a move ends with that one's election.
"""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol.events import ControllerElected, MoveFinished, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.trace import Event, Trace
from emulator.trace.events import ZkWritten
from scenarios.measures.topology import Topology

Ended = Callable[[Event, TopicPartition], None]


class MoveEnds:
    """Calls ``ended(event, partition)``; also for a partition of which no move is open."""

    def __init__(self, trace: Trace, topology: Topology, ended: Ended) -> None:
        self._ended = ended
        self._at_rest: dict[TopicPartition, None] = {}
        """Those that have come to rest in ZooKeeper, and of which nobody has said so yet."""
        topology.subscribe_motions(self._moved)
        trace.fold(MoveStarted, self._started)
        trace.fold(MoveFinished, self._finished)
        trace.fold(ControllerElected, self._elected)

    def _moved(self, _: ZkWritten, tp: TopicPartition, in_motion: bool) -> None:
        if in_motion:
            self._at_rest.pop(tp, None)
        else:
            self._at_rest[tp] = None

    def _started(self, event: MoveStarted) -> None:
        self._at_rest.pop(TopicPartition(event.topic, event.partition), None)

    def _finished(self, event: MoveFinished) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._at_rest.pop(tp, None)
        self._ended(event, tp)

    def _elected(self, event: ControllerElected) -> None:
        at_rest, self._at_rest = self._at_rest, {}
        for tp in at_rest:
            self._ended(event, tp)
