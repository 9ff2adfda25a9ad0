"""An ideal partition: replication as Kafka's protocol means it, one transition at a time, with the events of each.

Any list of transitions is a legal history, so no checker may fire on it. A transition whose condition
does not hold does nothing.
"""

from __future__ import annotations

from emulator.protocol import events as e
from tests.scenarios.observe.checkers.written_history import COUNT, ORDERS_0, WrittenHistory

NODES = (0, 1, 2, 3)
TRANSITIONS = (
    "produce",
    "fetch",
    "fetch",
    "expand",
    "shrink",
    "ack",
    "elect",
    "elect_unclean",
    "restart",
    "lose",
)
Move = tuple[str, int]


class Ideal:
    """Logs are lists of (id, epoch); all batches are ``COUNT`` records, so positions are offsets /
    ``COUNT``.
    """

    def __init__(self, history: WrittenHistory) -> None:
        self.written = history
        self.logs: dict[int, list[tuple[int, int]]] = {node: [] for node in NODES}
        self.high_watermarks = dict.fromkeys(NODES, 0)
        self.leader, self.epoch = 0, 0
        self.isr: tuple[int, ...] = (0, 1, 2)
        self.epoch_start = 0
        self.produced = 0
        self.waiting: list[tuple[int, int, int]] = []
        self.travelling: list[tuple[int, int, int]] = []
        self.acknowledged = 0
        history.controller(3, 1)
        for node in NODES:
            history.loaded(node)
        self._write()
        self._take_roles()

    def run(self, moves: list[Move]) -> None:
        for name, node in moves:
            getattr(self, name)(node)

    def _write(self) -> None:
        self.written.state(self.leader, self.isr, self.epoch)

    def _take_roles(self) -> None:
        history, leader = self.written, self.leader
        history.leads(leader, self.epoch, self.high_watermarks[leader], self._end(leader))
        for node in NODES:
            if node != leader:
                history.follows(node, leader, self.epoch, self.high_watermarks[node], self._end(node))
                self._truncate(node)
        self._advance()

    def _end(self, node: int) -> int:
        return len(self.logs[node]) * COUNT

    def _truncate(self, node: int) -> None:
        log, leaders = self.logs[node], self.logs[self.leader]
        same = 0
        while same < min(len(log), len(leaders)) and log[same] == leaders[same]:
            same += 1
        if same < len(log):
            del log[same:]
            self.high_watermarks[node] = min(self.high_watermarks[node], same * COUNT)
            self.written.truncated(node, same * COUNT, self.epoch, self.high_watermarks[node])

    def _advance(self) -> None:
        lowest = min(len(self.logs[node]) for node in self.isr) * COUNT
        if lowest > self.high_watermarks[self.leader]:
            self.high_watermarks[self.leader] = lowest
            self.written.high_watermark(self.leader, lowest, self.epoch, leader=True)
        reached = self.high_watermarks[self.leader]
        self.travelling += [batch for batch in self.waiting if batch[0] + COUNT <= reached]
        self.waiting = [batch for batch in self.waiting if batch[0] + COUNT > reached]

    # -- the transitions -------------------------------------------------------------------------------------

    def produce(self, _: int) -> None:
        self.produced += 1
        log = self.logs[self.leader]
        base = len(log) * COUNT
        log.append((self.produced, self.epoch))
        self.written.append(self.leader, base, self.produced, self.epoch, leader=True)
        self.waiting.append((base, self.produced, self.leader))
        self._advance()

    def fetch(self, node: int) -> None:
        """Fetch the whole log, and the leader's high watermark."""
        log, leaders = self.logs[node], self.logs[self.leader]
        for id, epoch in leaders[len(log) :]:
            self.written.append(node, len(log) * COUNT, id, epoch)
            log.append((id, epoch))
        self._advance()
        learnt = min(self.high_watermarks[self.leader], len(log) * COUNT)
        if learnt != self.high_watermarks[node]:
            self.high_watermarks[node] = learnt
            self.written.high_watermark(node, learnt, self.epoch)

    def expand(self, node: int) -> None:
        end = len(self.logs[node]) * COUNT
        if node not in self.isr and end >= max(self.high_watermarks[self.leader], self.epoch_start):
            self.isr = (*self.isr, node)
            self._write()

    def shrink(self, node: int) -> None:
        if node in self.isr and node != self.leader:
            self.isr = tuple(member for member in self.isr if member != node)
            self._write()
            self._advance()

    def ack(self, _: int) -> None:
        """The oldest acknowledgement on its way arrives."""
        if self.travelling:
            base, id, leader = self.travelling.pop(0)
            self.acknowledged += 1
            self.written.acked(base, id, leader)

    def elect(self, node: int) -> None:
        if node in self.isr and node != self.leader:
            self._crown(node, self.isr)

    def elect_unclean(self, node: int) -> None:
        if node not in self.isr:
            self._crown(node, (node,))

    def _crown(self, node: int, isr: tuple[int, ...]) -> None:
        self.waiting.clear()
        self.leader, self.epoch, self.isr = node, self.epoch + 1, isr
        self.epoch_start = len(self.logs[node]) * COUNT
        self._write()
        self._take_roles()

    def restart(self, node: int) -> None:
        """A follower's process crashes and comes back with its whole log and an old checkpoint."""
        if node != self.leader:
            self.high_watermarks[node] //= 2
            self.written.emit(e.NodeCrashed, node, 1, "process")
            self.written.emit(e.NodeStarted, node, 2)
            self.written.loaded(node, self._end(node), self.high_watermarks[node])
            self.written.follows(node, self.leader, self.epoch, self.high_watermarks[node], self._end(node))

    def lose(self, node: int) -> None:
        """A replica outside the ISR loses its disk: no guarantee depends on it."""
        if node not in self.isr:
            self.logs[node].clear()
            self.high_watermarks[node] = 0
            self.written.emit(e.ReplicaStopped, node, *ORDERS_0, True)
            self.written.loaded(node)
            self.written.follows(node, self.leader, self.epoch)
