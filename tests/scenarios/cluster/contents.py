"""ZooKeeper's state of one partition, after every write and at every edge of every step."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step, ZkWritten


class Row(NamedTuple):
    """As in the table of the controller page: AR, leader and ISR."""

    assignment: tuple[int, ...]
    leader: int
    isr: tuple[int, ...]

    def __str__(self) -> str:
        return f"{_braces(self.assignment):15} {self.leader}/{_braces(self.isr)}"


class Contents:
    """Follows ``events``; ``rows`` has every state that ZooKeeper went through, ``lines`` has them step by step, as
    text."""

    def __init__(self, events: Sequence[Any], tp: TopicPartition) -> None:
        self.rows: list[Row] = []
        self.lines: list[str] = []
        self._tp = tp
        self._assignment: tuple[int, ...] = ()
        for event in events:
            if isinstance(event, ZkWritten):
                self._write(event)
            elif isinstance(event, Step) and (event.topic, event.partition) == tp and self.rows:
                self._step(event)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def _step(self, event: Step) -> None:
        hop = f" hop {event.hop}" if event.hop else ""
        self.lines.append(f"{event.step + ' ' + event.edge + hop:28} {self.rows[-1]}")

    def _write(self, event: ZkWritten) -> None:
        row = self.rows[-1] if self.rows else None
        if event.path == znodes.topic_path(self._tp.topic):
            self._assignment = znodes.decode_topic(event.data)[self._tp.partition]
            if row is None:
                return  # the topic is being created: no leader yet
            row = row._replace(assignment=self._assignment)
        elif event.path == znodes.state_path(self._tp):
            state = LeaderAndIsr.decode(event.data, event.version)
            row = Row(self._assignment, state.leader, state.isr)
        elif event.path == znodes.REASSIGN_PARTITIONS:
            moves = znodes.decode_reassignment(event.data) if event.data else {}
            target = moves.get(self._tp)
            self.lines.append(f"  {f'admin path by {event.client}':26} {'gone' if target is None else _braces(target)}")
            return
        else:
            return
        self.rows.append(row)
        what = "assignment" if event.path == znodes.topic_path(self._tp.topic) else "leader and ISR"
        self.lines.append(f"  {f'{what} by {event.client}':26} {row}")


def _braces(brokers: Sequence[int]) -> str:
    return "{" + ",".join(map(str, brokers)) + "}"
