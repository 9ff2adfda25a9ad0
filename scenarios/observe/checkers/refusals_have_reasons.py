"""M7: a controller does what it is asked for, unless there is a reason not to, and refuses what cannot be done."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.assignments import without
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlledShutdownAnswered, MoveAnswered, MoveStarted
from emulator.protocol.shown import MistakeAnswered
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.findings.control_facts import MoveAnsweredWrong, PreferredNotElected, ShutdownRefused
from scenarios.observe.past.cluster_past import READS_BROKERS

NOT_KNOWN = (Errors.UNKNOWN_SERVER_ERROR.name, Errors.BROKER_NOT_AVAILABLE.name)
"""The answer of a controller that does not know the broker which shuts down."""
KNOWN_AFTER_US = 5_000_000
ENDS_FAILOVER = "failover.F9"


class RefusalsHaveReasons(Checker):
    """A controller that works does not refuse a broker that shuts down as unknown, nor a move as invalid, and leaves no
    election of a preferred replica out, while it knows all brokers concerned.

    Verified: each answer to ControlledShutdown and AlterPartitionReassignments, where controller and brokers have been
        registered, and have reached each other and ZooKeeper, for 5 s without a fault that delays anything. Of a move
        only the replicas that it adds have to live (KafkaController.validateReplicas, 2.4). A broker
        that shuts down is no live one to the API (ControllerContext.liveBrokerIds, 2.4), however long that takes. When
        a controller deletes /admin/preferred_replica_election, under which it was created: a partition that it names
        has another leader epoch than then, if its preferred replica was registered and in the ISR, and did not lead.
        That it is registered comes to the controller before the request, in whatever time; but a new controller reads
        the znode at the end of its failover (fetchPendingPreferredReplicaElections), and then knows only the brokers
        that it has loaded before. One whose epoch is not the last elects no leader over a state of a later one
        (PartitionStateMachine.doElectLeaderForPartitions, 1.1: /controller and the epoch are two writes before 2.1).

    Each move to replicas that no partition can have, none of them, one twice or one below 0, is answered
        INVALID_REPLICA_ASSIGNMENT (KafkaController.validateReplicas, 2.4).

    Not verified: refusals under faults; the other error codes; moves that are asked for through ZooKeeper.
    """

    ids = ("M7",)
    gravity = Gravity.LIVENESS
    statement = (
        "asked(b) ∧ b ∈ Z.ids for long ⇒ no refusal: a controller does not refuse, nor leave out, what concerns only "
        "brokers that live, and takes up no move that no partition can make"
    )
    catches = ("KAFKA-999",)
    fails_when = "a controller takes every broker that shuts down for unknown"

    def begin(self) -> None:
        self._asked_us = 0
        self._preferred: dict[TopicPartition, tuple[int, int]] = {}
        """The elections that the znode asks for: the preferred replica, and the leader epoch of before."""
        self._targets: dict[TopicPartition, tuple[int, ...]] = {}
        self._stay: dict[TopicPartition, tuple[int, ...]] = {}
        """The replicas that each partition had as a move was asked for, and did not get by another one."""
        self._loads_us: int | None = None
        """When the controller that takes over began to load the brokers; None: no failover is under way."""

    def on_started(self, event: MoveStarted) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._targets[tp], self._stay[tp] = event.target, self._had(tp)

    def _had(self, tp: TopicPartition) -> tuple[int, ...]:
        """The replicas that a partition has, without those that a move adds."""
        return without(self.cluster.assignment(tp), self.cluster.adding(tp))

    def on_step(self, event: Step) -> None:
        if (event.step, event.edge) == (READS_BROKERS, "before"):
            self._loads_us = event.t_us
        elif (event.step, event.edge) == (ENDS_FAILOVER, "after"):
            self._loads_us = None

    def on_written(self, event: ZkWritten) -> None:
        if event.path != znodes.PREFERRED_REPLICA_ELECTION:
            return
        if event.op != "delete":
            self._ask_for(event)
            return
        for tp, (preferred, epoch) in self._preferred.items():
            state = self._waits_for(tp, preferred)
            works = event.client == self.cluster.controller and self.cluster.was_elected_last(event.client)
            if state is not None and state.leader_epoch == epoch and works:
                self.violated(event, PreferredNotElected(event.client, preferred, state.leader), tp)
        self._preferred.clear()

    def _ask_for(self, event: ZkWritten) -> None:
        try:
            named = znodes.decode_preferred_election(event.data)
        except (ValueError, KeyError, TypeError):  # the controller, too, takes it for empty
            return
        self._asked_us = event.t_us
        for tp in named:
            preferred = next(iter(self.cluster.assignment(tp)), -1)
            state = self._waits_for(tp, preferred)
            if state is not None:
                self._preferred[tp] = preferred, state.leader_epoch

    def _waits_for(self, tp: TopicPartition, preferred: int) -> znodes.LeaderAndIsr | None:
        """The state of a partition that its preferred replica can lead, and does not; None: it is otherwise."""
        cluster, state = self.cluster, self.cluster.state(tp)
        if state is None or state.leader == preferred or preferred not in state.isr or cluster.is_deleting(tp.topic):
            return None
        if cluster.assignment(tp)[:1] != (preferred,):
            return None
        if cluster.is_shutting_down(preferred) or cluster.lacks_dirs(preferred) or cluster.controller < 0:
            return None
        since_us = cluster.registered_us(preferred)
        if since_us is None or max(since_us, cluster.controller_since_us) >= self._asked_us:
            return None
        return state if self._loads_us is None or since_us < self._loads_us else None

    def on_move_answered(self, event: MoveAnswered) -> None:
        tp = TopicPartition(event.topic, event.partition)
        target, before, now = self._targets.pop(tp, ()), self._stay.pop(tp, ()), self._had(tp)
        invalid = event.error == Errors.INVALID_REPLICA_ASSIGNMENT.name and bool(target)
        added = [broker for broker in target if broker not in before or broker not in now]
        leaves = any(self.cluster.is_shutting_down(broker) for broker in added)
        since_us = self.now.controlled_since_us()
        calm = since_us is not None and event.t_us - since_us > KNOWN_AFTER_US
        if invalid and calm and not leaves and self._knows(event.t_us, *added):
            self.violated(event, MoveAnsweredWrong(tuple(target), event.error, alive=True), tp)

    def on_mistake(self, event: MistakeAnswered) -> None:
        if event.error != Errors.INVALID_REPLICA_ASSIGNMENT.name:
            facts = MoveAnsweredWrong(tuple(event.target), event.error, alive=False)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))

    def on_shutdown_answered(self, event: ControlledShutdownAnswered) -> None:
        here = event.controller == self.cluster.controller
        if event.error in NOT_KNOWN and here and self._knows(event.t_us, event.node):
            facts = ShutdownRefused(
                event.node, event.controller, event.error, event.t_us - self.cluster.registrations[event.node].t_us
            )
            self.violated(event, facts)

    def _knows(self, now_us: int, *brokers: int) -> bool:
        """Whether the controller must know that these brokers live."""
        since = [self.now.reached_since_us(broker) for broker in brokers]
        return all(since_us is not None and now_us - since_us > KNOWN_AFTER_US for since_us in since)
