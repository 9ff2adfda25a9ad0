"""V2: a partition that can be led is led."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.findings.isr_facts import NotLed
from scenarios.observe.past.changes import StateWritten

SETTLING_US = 5_000_000
"""Time for the notification of a controller, what it has to do before, its reads and its write."""
PER_PARTITION_US = 10_000
"""Time for what a new controller reads, and for the elections that come before."""


class LedInTime(InTime[TopicPartition]):
    """A partition has a live leader in ZooKeeper soon after an in-sync replica and a controller live.

    Verified: once a second, and when the cluster is at rest: a partition with leader none, or whose leader is not
        registered, while an assigned member of its ISR runs, is registered, has all its log directories and is reached
        by the controller, which works and reaches ZooKeeper.

    The bound begins when all of that is so. It is ZooKeeper's session timeout, within which a controller that cannot
    work is replaced, 5 s, and 10 ms for each partition. A fault that may delay anything suspends it, and it starts
    again when one that stops or cuts off a machine begins or ends.

    Not verified: partitions of topics that are being deleted; that the leader serves (it may not know that it leads);
        elections outside the ISR where the settings allow them.
    """

    ids = ("V2",)
    statement = (
        "∃ b ∈ Z.isr alive, a controller alive ⇒ Z.leader alive within T: "
        "a partition with a live in-sync replica has a leader soon"
    )
    catches = ("KAFKA-3083", "KAFKA-4447")
    fails_when = "a controller elects no leader when a broker fails"

    def begin(self) -> None:
        super().begin()
        self.bound_us = self.start.session_timeout_us + SETTLING_US
        self._led: dict[int, dict[TopicPartition, None]] = {}

    def on_state(self, event: StateWritten) -> None:
        tp, before, state = event.tp, event.before, event.state
        if before is not None:
            self._led.get(before.leader, {}).pop(tp, None)
        if state is None:
            self.lasting.end(tp)
            return
        self._led.setdefault(state.leader, {})[tp] = None
        if self.cluster.is_registered(state.leader):
            self.lasting.end(tp)
        else:
            self.lasting.begin(tp, event.t_us)

    def on_written(self, event: ZkWritten) -> None:
        parent, _, child = event.path.rpartition("/")
        if parent == znodes.BROKER_IDS:
            for tp in self._led.get(int(child), ()):
                if event.op == "delete":
                    self.lasting.begin(tp, event.t_us)
                else:
                    self.lasting.end(tp)

    def more_us(self) -> int:
        return PER_PARTITION_US * len(self.cluster.states)

    def report(self, moment: Moment, tp: TopicPartition, held_us: int) -> None:
        state = self.cluster.state(tp)
        assert state is not None
        registered, controller = tuple(sorted(self.cluster.registrations)), self.cluster.controller
        facts = NotLed(state.leader, state.isr, registered, held_us, controller)
        self.violated(moment, facts, tp)

    def free_since_us(self, tp: TopicPartition) -> int | None:
        """Time since which a member of the ISR could lead; None: none can now."""
        state, now = self.cluster.state(tp), self.now
        if state is None or self.cluster.is_deleting(tp.topic):
            return None
        assigned = self.cluster.assignment(tp) or state.isr
        since_us = [
            now.reached_since_us(broker)
            for broker in state.isr
            if broker in assigned and not self.cluster.is_shutting_down(broker) and not self.cluster.lacks_dirs(broker)
        ]
        return min((since for since in since_us if since is not None), default=None)
