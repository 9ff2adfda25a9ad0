"""Faults and failovers by the step in which they came, and moves that the next controller goes on with."""

from __future__ import annotations

from collections.abc import Iterator

from controller.procedures import STEPS
from emulator.protocol.events import ControllerElected, ControllerResigned, Fault, NodeCrashed
from emulator.trace.events import Step
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.observe.reach.part import ReachPart, Release

FAULTS = (
    "broker.crash", "controller.crash", "broker.pause", "zk.expire", "link.cut", "host.isolate", "network.partition",
    "disk.fail", "log_dir.offline", "zookeeper.stop", "controller.resign",
)  # fmt: skip
"""The actions that are counted by step."""

_Place = tuple[str, str, int, int]
"""A step with the partition and the broker that it is about."""


class ReachedSteps(ReachPart):
    """A step is open from its edge ``before`` to its edge ``after``, a wait as long as it lasts. A fault that comes
    with the edge ``after`` still counts for its step."""

    def __init__(self, counts: dict[str, int], cluster: FoldedState) -> None:
        super().__init__(counts, cluster)
        self._open: dict[_Place, int] = {}
        """The open steps, each with the controller that is in it."""
        self._steps: dict[str, int] = {}
        """How many of each are open."""
        self._last: Step | None = None
        self._controller = -1
        self._lost_in: tuple[str, ...] = ()
        """The steps in which the last controller was lost."""
        self._lost_moves: dict[tuple[str, int], str] = {}
        """The moves that it was carrying out, each with its step."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        for step in release.steps:
            yield f"step {step}"
            yield f"failover in {step}"
            for action in FAULTS:
                yield f"{action} in {step}"
        for step in release.protocol.steps:
            yield f"resumption after {step}"

    def on_step(self, event: Step) -> None:
        place = event.step, event.topic, event.partition, event.broker
        self._last = event
        if event.edge == "before":
            self._go_on(event)
            if place not in self._open:
                self._steps[event.step] = self._steps.get(event.step, 0) + 1
            self._open[place] = event.node
        else:
            self.count(f"step {event.step}")
            if self._open.pop(place, None) is not None:
                self._close(event.step)

    def _close(self, step: str) -> None:
        self._steps[step] -= 1
        if not self._steps[step]:
            del self._steps[step]

    def _go_on(self, event: Step) -> None:
        if self._lost_moves and STEPS[event.step].reassignment:
            step = self._lost_moves.pop((event.topic, event.partition), None)
            if step is not None:
                self.count(f"resumption after {step}")

    def on_fault(self, event: Fault) -> None:
        if event.action in FAULTS:
            for step in self._now(event.t_us):
                self.count(f"{event.action} in {step}")

    def _now(self, t_us: int) -> tuple[str, ...]:
        """The open steps, and the one that ended at this very instant."""
        last = self._last
        ended = () if last is None or last.edge == "before" or last.t_us != t_us else (last.step,)
        return tuple(dict.fromkeys((*self._steps, *ended)))

    def on_elected(self, event: ControllerElected) -> None:
        if self._controller not in (-1, event.node):
            self._lost(self._controller, event.t_us)
        self._controller = event.node
        for step in self._lost_in:
            self.count(f"failover in {step}")
        self._lost_in = ()

    def on_lost(self, event: NodeCrashed | ControllerResigned) -> None:
        if event.node == self._controller:
            self._lost(event.node, event.t_us)

    def _lost(self, node: int, t_us: int) -> None:
        """The controller on ``node`` is none any more: what was open stays undone."""
        self._lost_in = tuple(dict.fromkeys((*self._lost_in, *self._now(t_us))))
        for (step, topic, partition, _broker), holder in self._open.items():
            if holder == node and STEPS[step].reassignment:
                self._lost_moves[topic, partition] = step
        self._open.clear()
        self._steps.clear()
        self._controller = -1
