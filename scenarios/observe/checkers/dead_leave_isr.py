"""M6: a controller removes the dead from ISRs."""

from __future__ import annotations

from emulator.protocol.events import ControllerElected
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from scenarios.observe.checkers.checker import Gravity, Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import PER_PARTITION_US, SETTLING_US
from scenarios.observe.findings.isr_facts import DeadInIsr
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_past import READS_BROKERS, broker_fails

Member = tuple[TopicPartition, int]


class DeadLeaveIsr(InTime[Member]):
    """A broker that the controller knows to be dead leaves the ISRs of the partitions that others lead.

    Verified: once a second, and when the cluster is at rest: the ISRs in ZooKeeper of partitions whose leader is
        registered. The bound is that of ``led_in_time``.

    Before KAFKA-3143 (2.3) a controller that takes over leaves them in, and a leader removes them only once it has new
    records. A leader may also add a replica that has died since its last fetch (KAFKA-14140, 3.3).

    Not verified: the last member of an ISR, which stays; a broker whose session has expired while its process runs: it
        goes on fetching, and before KIP-841 (3.3) its leader adds it again.
    """

    ids = ("M6",)
    gravity = Gravity.LIVENESS
    statement = (
        "the controller knows that b is dead, Z.leader ≠ b alive ⇒ b ∉ Z.isr within T: dead brokers leave the ISRs soon"
    )
    fails_when = "a new controller leaves dead replicas as they are"

    def begin(self) -> None:
        super().begin()
        self.bound_us = self.start.session_timeout_us + SETTLING_US
        self._in_sync: dict[int, dict[TopicPartition, None]] = {}
        """Partitions that have a broker in their ISR, by broker."""

    def on_state(self, event: StateWritten) -> None:
        before = () if event.before is None else event.before.isr
        after = () if event.state is None else event.state.isr
        for broker in before:
            if broker not in after:
                self._in_sync[broker].pop(event.tp, None)
                self.lasting.end((event.tp, broker))
        for broker in after:
            if broker not in before:
                self._in_sync.setdefault(broker, {})[event.tp] = None
                if broker in self.cluster.known_dead:
                    self.lasting.begin((event.tp, broker), event.t_us)

    def on_elected(self, event: ControllerElected) -> None:
        self.lasting.clear()

    def on_step(self, event: Step) -> None:
        if broker_fails(event) and event.edge == "before":
            self._begin(event, event.broker)
        elif event.step == READS_BROKERS and event.edge == "after":
            for broker in self.cluster.known_dead:
                self._begin(event, broker)

    def _begin(self, event: Step, broker: int) -> None:
        for tp in self._in_sync.get(broker, ()):
            self.lasting.begin((tp, broker), event.t_us)

    def more_us(self) -> int:
        return PER_PARTITION_US * len(self.cluster.states)

    def report(self, moment: Moment, member: Member, held_us: int) -> None:
        tp, broker = member
        state = self.cluster.state(tp)
        assert state is not None
        self.violated(
            moment, DeadInIsr(state.isr, state.leader, self.cluster.controller, held_us, broker), tp, (broker,)
        )

    def free_since_us(self, member: Member) -> int | None:
        (tp, broker), now = member, self.now
        state, since_us = self.cluster.state(tp), now.controlled_since_us()
        known_us = self.cluster.known_dead.get(broker)
        if (
            state is None
            or since_us is None
            or known_us is None
            or state.leader == broker
            or self.cluster.is_up(broker)
        ):
            return None
        led_us = self.cluster.registered_us(state.leader)
        return None if led_us is None else max(since_us, known_us, led_us)
