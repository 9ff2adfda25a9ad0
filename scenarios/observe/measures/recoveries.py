"""The times that a cluster took to recover from each fault: until no partition was under-replicated any more.

A partition is under-replicated by KIP-352's rule, so that replicas which a move is adding do not count. An
under-replicated time follows a fault if it is present at the fault, or begins before the next fault. The recovery is
from the fault to the end of the last such time, 0 where there is none. A time that lasts to the run's end counts up to
then, and is marked as not over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from emulator.protocol.events import Fault
from scenarios.observe.measures.at_once import AtOnce
from scenarios.observe.measures.figure import Better, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, RunParts
from scenarios.observe.measures.isr_row import IsrRow

NO_FAULTS = (
    # actions of an operator or an application
    "reassign.execute", "reassign.cancel", "reassign.list", "reassign.verify", "config.set", "topic.create",
    "topic.delete", "topic.expand", "records.delete", "election.preferred", "election.unclean", "controller.resign",
    # actions that end a fault, or hold the run at a step
    "heal", "broker.start", "broker.resume", "broker.fast", "broker.clock_sync", "client.start", "disk.heal",
    "link.heal", "host.reconnect", "network.heal", "message.release", "gate.hold", "gate.release", "zookeeper.start",
    "zookeeper.fast", "request.clear",
)  # fmt: skip
"""Actions in the table ``faults`` that are none."""


def recovered_us(faults_us: Sequence[int], times: Collection[Sequence[int]]) -> list[int]:
    """For each fault, the end of the last time that follows it; 0 where none does.

    Args:
        faults_us: the times of the faults, in order.
        times: begin and end of each under-replicated time, in order.
    """
    found = []
    for place, at_us in enumerate(faults_us):
        next_us = next((later_us for later_us in faults_us[place:] if later_us > at_us), None)
        follow = (end for begin, end in times if end > at_us and (next_us is None or begin < next_us))
        found.append(max(follow, default=0))
    return found


class Recoveries(Fold):
    """The fold over one run."""

    FIGURES = (
        Figure(
            name="recovery_max_us",
            text="from a fault until no partition was under-replicated (KIP-352), of the fault that took longest",
            unit="s",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="unrecovered_faults",
            text="faults after which a partition was under-replicated to the end of the run",
            unit="faults",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
    )

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._under_replicated = AtOnce()
        self._faults_us: list[int] = []
        self._end_us = 0
        source.isr_changed.append(self._changed)

    def finish(self, end_us: int) -> None:
        self._end_us = end_us

    def figures(self) -> Mapping[str, Value]:
        recovered = recovered_us(self._faults_us, self._under_replicated.episodes)
        return {
            "recovery_max_us": max(
                (max(0, until_us - at_us) for at_us, until_us in zip(self._faults_us, recovered, strict=True)),
                default=0,
            ),
            "unrecovered_faults": sum(until_us == self._end_us for until_us in recovered),
        }

    def _changed(self, t_us: int, closed: IsrRow | None, opened: IsrRow | None, _: IsrRow | None) -> None:
        was = closed is not None and closed.under_replicated_final
        now = opened is not None and opened.under_replicated_final
        if was != now:
            self._under_replicated.change(t_us, now - was)

    def on_struck(self, event: Fault) -> None:
        if event.action not in NO_FAULTS:
            self._faults_us.append(event.t_us)
