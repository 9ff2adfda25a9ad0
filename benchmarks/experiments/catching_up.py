"""The lag of each replica's log to the leader's while a move goes on, for pictures."""

from attrs import define, field

from emulator.protocol.events import Appended, MoveFinished
from scenarios.runs.runner import Stage

EVERY_US = 1_000_000


@define(eq=False)
class CatchingUp:
    """Watches one partition. ``points``: broker -> (seconds, messages behind), at most one a second."""

    leader: int
    brokers: tuple[int, ...]
    points: dict[int, list[tuple[float, float]]] = field(factory=dict)
    _end: int = 0
    _next_us: dict[int, int] = field(factory=dict)
    _over: bool = False

    def __call__(self, stage: Stage) -> None:
        self.points = {broker: [] for broker in self.brokers}
        self._next_us = dict.fromkeys(self.brokers, 0)
        stage.cluster.trace.fold(Appended, self._appended)
        stage.cluster.trace.fold(MoveFinished, self._finished)

    def _appended(self, event: Appended) -> None:
        if event.node == self.leader:
            self._end = event.next_offset
        elif event.node in self._next_us and event.t_us >= self._next_us[event.node] and not self._over:
            self._next_us[event.node] = event.t_us + EVERY_US
            self.points[event.node].append((event.t_us / 1e6, max(0, self._end - event.next_offset)))

    def _finished(self, _: MoveFinished) -> None:
        self._over = True
