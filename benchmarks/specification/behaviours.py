"""Runs as behaviours of the specification: what a run wrote to ZooKeeper, held against the modules by TLC.

A generated module lets ``Next`` happen only where the znodes stay as they are or become what the run wrote next. TLC
looks for a behaviour that gets through the whole of it; brokers, logs and queues may do in between what they like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attrs import evolve, frozen

from benchmarks.specification.checker import run
from benchmarks.specification.configurations import Configuration
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten

MODULE = "Traced.tla"
_TEXT = """---- MODULE Traced ----
EXTENDS Kafka
VARIABLES which, at
Traces == <<
%s
>>
Shown(z) == [leader |-> z.leader, epoch |-> z.epoch, isr |-> z.isr, version |-> z.version, by |-> z.by,
             replicas |-> z.replicas, adding |-> z.adding, removing |-> z.removing, admin |-> z.admin,
             cepoch |-> z.cepoch]
TracedInit == Init /\\ which \\in DOMAIN Traces /\\ at = 1 /\\ Shown(zk) = Traces[which][1]
TracedNext ==
  /\\ at < Len(Traces[which])
  /\\ Next
  /\\ UNCHANGED which
  /\\ IF Shown(zk') = Shown(zk) THEN UNCHANGED at ELSE Shown(zk') = Traces[which][at + 1] /\\ at' = at + 1
TracedSpec == TracedInit /\\ [][TracedNext]_<<vars, which, at>>
Reached == PrintT(<<"reached", which, at>>)
====
"""
_REACHED = re.compile(r'<<"reached", (\d+), (\d+)>>')


class Znodes(NamedTuple):
    """The content of ZooKeeper for one partition and the controller: ``zk`` of Cluster.tla but for ``controller``."""

    leader: int
    epoch: int
    isr: tuple[int, ...]
    version: int
    by: int
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    admin: tuple[int, ...]
    cepoch: int

    def __str__(self) -> str:
        def several(brokers: Iterable[int]) -> str:
            return f"{{{', '.join(map(str, sorted(brokers)))}}}"

        def ordered(brokers: Iterable[int]) -> str:
            return f"<<{', '.join(map(str, brokers))}>>"

        return (
            f"[leader |-> {max(self.leader, 0)}, epoch |-> {self.epoch}, isr |-> {several(self.isr)}, "
            f"version |-> {self.version}, by |-> {self.by}, replicas |-> {ordered(self.replicas)}, "
            f"adding |-> {several(self.adding)}, removing |-> {several(self.removing)}, "
            f"admin |-> {ordered(self.admin)}, cepoch |-> {self.cepoch}]"
        )


def znodes_of(events: Iterable[ZkWritten], tp: TopicPartition) -> list[Znodes]:
    """The znodes of a partition, from the creation of its state znode on, each time that it changed."""
    now = Znodes(0, 0, (), 0, 0, (), (), (), (), 0)
    found: list[Znodes] = []
    state_path, topic_path = znodes.state_path(tp), znodes.topic_path(tp.topic)
    for event in events:
        gone = event.op == "delete"
        if event.path == state_path:
            state = znodes.LeaderAndIsr.decode(event.data, event.version)
            now = now._replace(leader=state.leader, epoch=state.leader_epoch, isr=tuple(sorted(state.isr)),
                               version=state.zk_version, by=state.controller_epoch)  # fmt: skip
            found = found or [now]
        elif event.path == topic_path:
            replicas = znodes.decode_topic(event.data)[tp.partition]
            moving = znodes.decode_reassigning(event.data).get(tp.partition)
            adding, removing = ((), ()) if moving is None else (moving.adding, moving.removing)
            now = now._replace(replicas=replicas, adding=tuple(sorted(adding)), removing=tuple(sorted(removing)))
        elif event.path == znodes.REASSIGN_PARTITIONS:
            asked = {} if gone else znodes.decode_reassignment(event.data)
            now = now._replace(admin=asked.get(tp, ()))
        elif event.path == znodes.CONTROLLER_EPOCH:
            now = now._replace(cepoch=int(event.data))
        if found and found[-1] != now:
            found.append(now)
    return found


@frozen
class Group:
    """Behaviours that one run of TLC looks at: they have the same constants.

    Attributes:
        configuration: with the bounds of all of them.
    """

    configuration: Configuration
    traces: tuple[tuple[Znodes, ...], ...]

    @property
    def module(self) -> str:
        """The generated module."""
        lines = ["  <<" + ",\n    ".join(map(str, trace)) + ">>" for trace in self.traces]
        return _TEXT % ",\n".join(lines)

    @property
    def asked(self) -> str:
        """The configuration that TLC reads."""
        text = evolve(self.configuration, invariants=("Reached",), properties=(), constraints=()).text
        return text.replace("SPECIFICATION Spec", "SPECIFICATION TracedSpec").replace(
            "SYMMETRY AnyControllerIsAny\n", ""
        )


def reached(group: Group, class_path: str, cpu_s: int) -> list[int]:
    """How many of the writes of each behaviour some behaviour of the specification has too, in their order.

    Raises: RuntimeError where TLC does not end.
    """
    output = run(group.asked, class_path, cpu_s, MODULE, group.module)
    if "Model checking completed. No error" not in output:
        raise RuntimeError(f"TLC cannot look at it:\n{output[-3000:]}")
    most = [0] * len(group.traces)
    for which, at in _REACHED.findall(output):
        most[int(which) - 1] = max(most[int(which) - 1], int(at))
    return most


def edited(event: ZkWritten, **changes: object) -> ZkWritten:
    """A copy of the write with other values in its payload, which is JSON."""
    return event._replace(data=json.dumps(json.loads(event.data) | changes, separators=(",", ":")))


def accepted(group: Group, class_path: str, cpu_s: int) -> Sequence[bool]:
    """Whether each is a behaviour of the specification."""
    return [most == len(trace) for most, trace in zip(reached(group, class_path, cpu_s), group.traces, strict=True)]
