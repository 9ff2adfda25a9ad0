"""A controller's actions as text: gates and ZooKeeper writes in order, and each broker's requests in order."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emulator.protocol import znodes
from emulator.protocol.assignments import NOT_REASSIGNED
from emulator.protocol.events import LeaderElected, MoveFinished
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.trace.events import Step, ZkWritten
from tests.controller.lab import OPERATOR, Lab, Request

GOLDEN = Path(__file__).parent / "golden"


def numbers(values: Sequence[int]) -> str:
    return ",".join(map(str, values))


def reassigning(adding: Sequence[int], removing: Sequence[int]) -> str:
    """What KIP-455 adds and removes, if anything."""
    return f" adding {{{numbers(adding)}}} removing {{{numbers(removing)}}}" if adding or removing else ""


def write(event: ZkWritten) -> str:
    """One write; the znodes with a form of their own are shown by their content."""
    tp = znodes.state_path_partition(event.path)
    who = "operator" if event.client == OPERATOR else "zookeeper" if event.client < 0 else "zk"
    if tp is not None and event.op != "delete":
        s = znodes.LeaderAndIsr.decode(event.data, event.version)
        return f"{who} {event.op} state {tp}: {s.leader}/{{{numbers(s.isr)}}} epoch {s.leader_epoch}"
    if event.path.startswith(znodes.TOPICS) and event.data:
        found = znodes.decode_reassigning(event.data)
        rows = [
            f"{p}: {{{numbers(rs)}}}" + reassigning(*found.get(p, NOT_REASSIGNED))
            for p, rs in znodes.decode_topic(event.data).items()
        ]
        return f"{who} {event.op} topic {event.path.rpartition('/')[2]} {'; '.join(rows)}"
    if event.path == znodes.REASSIGN_PARTITIONS and event.op != "delete":
        moves = [f"{tp}: {{{numbers(rs)}}}" for tp, rs in znodes.decode_reassignment(event.data).items()]
        return f"{who} {event.op} moves {'; '.join(moves)}"
    return f"{who} {event.op} {event.path}"


def request(message: Request) -> str:
    """One request, its partitions in a line."""
    if isinstance(message, LeaderAndIsrRequest):
        states = [
            f"{s.tp} {s.leader}/{{{numbers(s.isr)}}} epoch {s.leader_epoch} AR {{{numbers(s.replicas)}}}"
            + reassigning(s.adding, s.removing)
            + (" new" if s.is_new else "")
            for s in message.partitions
        ]
        return f"LeaderAndIsr {'; '.join(states)}"
    if isinstance(message, UpdateMetadataRequest):
        parts = [
            f"{s.tp} {s.leader}/{{{numbers(s.isr)}}} epoch {s.leader_epoch} AR {{{numbers(s.replicas)}}}"
            + (f" offline {{{numbers(s.offline_replicas)}}}" if s.offline_replicas else "")
            for s in message.partitions
        ]
        return f"UpdateMetadata live {{{numbers(message.live_brokers)}}} {'; '.join(parts)}".rstrip()
    assert isinstance(message, StopReplicaRequest)
    what = "delete" if message.delete_partitions else "keep"
    epochs = [f" epoch {epoch}" for epoch in message.leader_epochs] or [""] * len(message.partitions)
    named = [f"{tp}{epoch}" for tp, epoch in zip(message.partitions, epochs, strict=True)]
    return f"StopReplica {what} {'; '.join(named)}"


class Notes:
    """Records events and requests from its creation on."""

    def __init__(self, lab: Lab, *, from_start: bool = False) -> None:
        """``from_start``: record what happened before, too."""
        self.lab = lab
        lab.trace.flush()
        self._events = 0 if from_start else len(lab.events)
        self._received = 0 if from_start else len(lab.received)

    def events(self) -> list[Any]:
        self.lab.trace.flush()
        return self.lab.events[self._events :]

    def writes(self) -> list[str]:
        return [write(event) for event in self.events() if isinstance(event, ZkWritten)]

    def requests(self, *, metadata: bool = True, term: int | None = None) -> dict[int, list[str]]:
        """By broker; without UpdateMetadata where that is not the point; of one controller epoch."""
        found: dict[int, list[str]] = {}
        for broker, message in self.lab.received[self._received :]:
            wanted = metadata or not isinstance(message, UpdateMetadataRequest)
            if wanted and term in (None, message.controller_epoch):
                found.setdefault(broker, []).append(request(message))
        return dict(sorted(found.items()))

    def steps(self) -> list[str]:
        """``step edge`` of all gates, with the hop where there is one."""
        return [_gate(event) for event in self.events() if isinstance(event, Step)]

    def text(self) -> str:
        lines = []
        for event in self.events():
            if isinstance(event, Step):
                lines.append(f"-- {_gate(event)}")
            elif isinstance(event, ZkWritten):
                lines.append(f"   {write(event)}")
            elif isinstance(event, LeaderElected):
                lines.append(f"   elected ({event.selector}) {event.topic}-{event.partition}: {event.leader}")
            elif isinstance(event, MoveFinished):
                lines.append(f"   finished {event.topic}-{event.partition}")
        for broker, received in self.requests().items():
            lines += [f"== broker {broker}", *(f"   {line}" for line in received)]
        return "".join(f"{line}\n" for line in lines)


def _gate(event: Step) -> str:
    hop = f" hop {event.hop}" if event.hop else ""
    broker = f" broker {event.broker}" if event.broker >= 0 else ""
    return f"{event.step} {event.edge}{hop}{broker}"


def check_golden(name: str, text: str) -> None:
    """Compare with the golden file; ``UPDATE_GOLDEN=1`` writes it, to be read before it is committed."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def is_subsequence(rows: Sequence[Any], among: Sequence[Any]) -> bool:
    rest = iter(among)
    return all(row in rest for row in rows)
