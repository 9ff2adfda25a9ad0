"""V12: a cluster that is well and has nothing to do changes nothing."""

from __future__ import annotations

from controller.procedures import STEPS
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.elect_leaders import ElectionsRequested
from emulator.protocol.events import IsrChanged, IsrProposed, IsrUpdateFailed
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import ChangedWhileIdle, LeadershipState, SentWhileIdle
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

ADMIN = "/admin/"
"""Below it are the requests of operators."""


class IdleChangesNothing(Checker):
    """While a cluster stands idle, no leader, no leader epoch and no ISR changes, and no controller sends LeaderAndIsr.

    Verified: where a scenario expects ``converged``, for two replica.lag.time.max.ms after everything is well, if all
        loads have ended then: long enough for two looks of each leader at its ISRs.

    Automatic preferred elections may come at any time: a leader that gives its partition to the preferred replica is
    no violation. A request of an operator whose tool has waited for a dead broker may come late, too, and so may the
    change of an ISR that a leader has asked a dead controller for: AlterIsr waits for request.timeout.ms, 30 s
    (BrokerToControllerChannelManager, 2.7 to 3.9). The cluster is not idle any more then.

    Not verified: clusters under a load; znodes other than those of partitions; UpdateMetadata (``metadata_follows``
        looks for those that say nothing new).
    """

    ids = ("V12",)
    statement = "idle(t) ⇒ Z at t + 2T = Z at t: a cluster that is well and has nothing to do changes nothing"
    catches = ("KAFKA-7152",)
    fails_when = "a controller elects preferred leaders where they lead already"

    def begin(self) -> None:
        self._elected: dict[TopicPartition, int] = {}
        """The partitions that have gone to their preferred replicas last, each with the new leader epoch; a cluster may
        come to stand idle before that is announced."""
        self._asked: dict[TopicPartition, IsrProposed] = {}
        """The changes of ISRs without an outcome, by the time the cluster came to stand idle."""
        self.window_us = 2 * self.start.time_us("replica.lag.time.max.ms", 10_000)
        """Time for which a cluster has to be idle."""
        self.idle = False
        """Whether everything is well and there is nothing to do; set by who judges that."""

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if before is None or state is None:
            return
        if (before.leader, before.leader_epoch, before.isr) == (state.leader, state.leader_epoch, state.isr):
            return
        asked = self._asked.pop(event.tp, None)
        if asked and (asked.leader_epoch, sorted(asked.isr)) == (state.leader_epoch, sorted(state.isr)):
            self.idle = False
        elif self._goes_to_preferred(event.tp, before, state):
            self._elected[event.tp] = state.leader_epoch
        elif self.idle:
            self.violated(event, ChangedWhileIdle(_leadership(before), _leadership(state)), event.tp)

    def _goes_to_preferred(self, tp: TopicPartition, before: LeaderAndIsr, state: LeaderAndIsr) -> bool:
        assigned = self.cluster.assignment(tp)
        return before.isr == state.isr and before.leader != state.leader and assigned[:1] == (state.leader,)

    def on_proposed(self, event: IsrProposed) -> None:
        if not self.idle:
            self._asked[TopicPartition.of(event.topic, event.partition)] = event

    def on_outcome(self, event: IsrChanged | IsrUpdateFailed) -> None:
        self._asked.pop(TopicPartition.of(event.topic, event.partition), None)

    def on_step(self, event: Step) -> None:
        self.idle &= not STEPS[event.step].reassignment

    def on_asked(self, event: ElectionsRequested | AssignmentWritten) -> None:
        self.idle = False

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith(ADMIN):
            self.idle = False

    def on_queued(self, event: ControlQueued) -> None:
        if not self.idle or not isinstance(event.request, LeaderAndIsrRequest):
            return
        for state in event.request.partitions:
            if self._elected.get(state.tp) != state.leader_epoch:
                self.violated(
                    event, SentWhileIdle(event.node, event.broker, state.leader, state.leader_epoch), state.tp
                )


def _leadership(state: LeaderAndIsr) -> LeadershipState:
    return LeadershipState(state.leader, state.leader_epoch, state.isr)
