"""M4: a controller notifies every live replica of its leader, and stops every one that leaves the assignment."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.events import ControlledShutdownAnswered, ControllerElected, LeaderElected
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import PER_PARTITION_US, SETTLING_US
from scenarios.observe.findings.control_facts import (
    LeaderNotNamed,
    NotNotified,
    NotStopped,
    SentNothing,
    StopToLeader,
    StopToStranger,
)
from scenarios.observe.history.deadlines import Deadlines
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

Replica = tuple[TopicPartition, int]
KNOWN_AFTER_US = 5_000_000


class ReplicasNotified(Checker):
    """After each election every live replica of the partition is sent LeaderAndIsr, and each live replica that leaves
    the assignment is sent StopReplica. No other broker is. A broker that registers is soon sent something,
    since 2.2.

    Verified: once a second, and when the cluster is at rest, for each change of a partition's leader in ZooKeeper, and
        for each replica that the topic's znode has no longer. The bound is that of ``led_in_time``. A broker that shuts
        down has been sent all that concerns the leaderships which it gave up, by elections of the controller that
        answers it and as far as that knows, before it does. Each LeaderAndIsr names the leaders of its partitions as
        live that have been registered and reached for 5 s. Each StopReplica: its broker is, or was, a replica of all
        its partitions, in ZooKeeper or by a LeaderAndIsr. None goes to a broker that shuts down, for what it leads.

    Up to 2.0 a controller does not notify a broker that is shutting down of the leaders that take over (KAFKA-7482,
    2.1).

    A controller that takes over once the assignment is written does not stop what has left it (kip-455 before U3,
    kafka-6794 after a hop): a stray replica stays, and nothing is expected.

    Not verified: requests after a leader epoch has been raised alone, or an ISR has shrunk, for which releases choose
        other receivers; that the requests arrive (``requests_delivered``); brokers that are not registered;
        LeaderAndIsr to a broker of which a log directory has failed, until it is started again: its replicas get none.
    """

    ids = ("M4",)
    gravity = Gravity.LIVENESS
    statement = (
        "elect(l, p) ⇒ LeaderAndIsr to all live r ∈ RS; r leaves RS ⇒ StopReplica to r: "
        "every live replica is notified of its new leader, and stopped when it leaves the assignment"
    )
    catches = ("KAFKA-4443",)
    fails_when = "brokers that shut down are not notified"

    def begin(self) -> None:
        self._bound_us = self.start.session_timeout_us + SETTLING_US
        self._detects_bounces = self.start.detects_bounces
        self._waiting: Deadlines[Replica] = Deadlines()
        self._of_broker: dict[int, dict[TopicPartition, int]] = {}
        """Partitions whose leader a broker has not been notified of, and since when, by broker."""
        self._unstopped: Deadlines[Replica] = Deadlines()
        self._stopped: dict[Replica, None] = {}
        """Replicas that were sent StopReplica and no LeaderAndIsr since."""
        self._former: dict[TopicPartition, dict[int, None]] = {}
        """Brokers that are no replicas of a partition, and were, or were sent a LeaderAndIsr that names it."""
        self._unaddressed: Deadlines[int] = Deadlines()
        """Brokers that have registered, and been sent nothing since."""
        self._elected: dict[TopicPartition, tuple[int, int, int | None]] = {}
        """The last leader of each partition that a controller knows to have elected, its epoch, and the controller."""
        self._controllers: dict[int, int] = {}
        """The brokers that have been elected, by controller epoch."""
        self._addressed: dict[int, int] = {}
        """Time at which a request was last queued for a broker, by broker."""

    def on_state(self, event: StateWritten) -> None:
        tp, before, state = event.tp, event.before, event.state
        if state is None or state.leader < 0:
            for broker in self.cluster.assignment(tp):
                self._notified(tp, broker)
        elif before is None or before.leader != state.leader:
            for broker in self.cluster.assignment(tp):
                if self._is_known(broker):
                    self._waiting.end((tp, broker))
                    self._waiting.begin((tp, broker), event.t_us)
                    self._of_broker.setdefault(broker, {})[tp] = event.t_us

    def on_assigned(self, event: AssignmentWritten) -> None:
        tp, now, before = event.tp, event.replicas, event.before
        for broker in before:
            if broker not in now:
                self._former.setdefault(tp, {})[broker] = None
                self._notified(tp, broker)
                stopped = (tp, broker) in self._stopped
                self._stopped.pop((tp, broker), None)
                if now and not stopped and self._is_known(broker):
                    self._unstopped.begin((tp, broker), event.t_us)
        for broker in now:
            self._unstopped.end((tp, broker))

    def on_elected(self, event: ControllerElected) -> None:
        self._unstopped.clear()
        self._controllers[event.controller_epoch] = event.node

    def on_leader(self, event: LeaderElected) -> None:
        by = self._controllers.get(event.controller_epoch)
        self._elected[TopicPartition.of(event.topic, event.partition)] = event.leader, event.leader_epoch, by

    def on_written(self, event: ZkWritten) -> None:
        """A broker that registers again is sent everything; one that is gone needs nothing."""
        if not event.path.startswith(f"{znodes.BROKER_IDS}/"):
            return
        broker = int(event.path.rpartition("/")[2])
        self._unaddressed.end(broker)
        if event.op != "delete":
            if self._detects_bounces:
                self._unaddressed.begin(broker, event.t_us)
        else:
            for tp in list(self._of_broker.get(broker, ())):
                self._notified(tp, broker)

    def on_queued(self, event: ControlQueued) -> None:
        request, broker = event.request, event.broker
        self._addressed[broker] = event.t_us
        self._unaddressed.end(broker)
        if isinstance(request, LeaderAndIsrRequest):
            waiting = self._of_broker.get(broker)
            for state in request.partitions:
                if broker not in self.cluster.assignment(state.tp):
                    self._former.setdefault(state.tp, {})[broker] = None
                self._stopped.pop((state.tp, broker), None)
                if waiting and state.tp in waiting:
                    self._notified(state.tp, broker)
            self._check_named(event, request)
        elif isinstance(request, StopReplicaRequest):
            for tp in request.partitions:
                self._unstopped.end((tp, broker))
                replicas = self.cluster.assignment(tp)
                if broker in replicas:
                    self._stopped[tp, broker] = None
                    if event.node == self.cluster.controller and not request.delete_partitions:
                        self._check_follows(event, tp, broker)
                elif broker not in self._former.get(tp, ()):
                    self.violated(event, StopToStranger(broker, tuple(replicas)), tp, (broker,))

    def _check_follows(self, event: ControlQueued, tp: TopicPartition, broker: int) -> None:
        """A broker that shuts down goes on with what it leads (ControlledShutdown, 0.8)."""
        cluster = self.cluster
        leads = cluster.leader(tp) == broker and not cluster.is_deleting(tp.topic)
        if leads and cluster.is_shutting_down(broker) and not cluster.lacks_dirs(broker):
            self.violated(event, StopToLeader(broker), tp, (broker,))

    def _check_named(self, event: ControlQueued, request: LeaderAndIsrRequest) -> None:
        """A broker does not follow a leader that is not named (Partition.makeFollower, 0.8)."""
        for state in request.partitions:
            if state.leader < 0 or state.leader in request.live_leaders or event.node != self.cluster.controller:
                continue
            since_us = self.now.reached_since_us(state.leader)
            if since_us is not None and event.t_us - since_us > KNOWN_AFTER_US:
                facts = LeaderNotNamed(event.node, event.broker, state.leader, tuple(request.live_leaders))
                self.violated(event, facts, state.tp, (event.broker,))

    def _is_known(self, broker: int) -> bool:
        """Whether the controller knows the registration of a broker: it has had a request for it since. What starts is
        sent everything that is assigned to it, and no StopReplica for what is not any more."""
        registered_us = self.cluster.registered_us(broker)
        return registered_us is not None and self._addressed.get(broker, -1) >= registered_us

    def _notified(self, tp: TopicPartition, broker: int) -> None:
        if self._of_broker.get(broker, {}).pop(tp, None) is not None:
            self._waiting.end((tp, broker))

    def on_shutdown(self, event: ControlledShutdownAnswered) -> None:
        """An election that is in ZooKeeper has failed for a controller that gets no answer. One that has been replaced
        may answer, too, and knows nothing of its successor's."""
        if event.error == "NONE" and not self.cluster.lacks_dirs(event.node):
            for tp, since_us in list(self._of_broker.get(event.node, {}).items()):
                state = self.cluster.state(tp)
                if state and self._elected.get(tp) == (state.leader, state.leader_epoch, event.controller):
                    self._report_waiting(event, tp, event.node, event.t_us - since_us)

    def look(self, moment: Moment) -> None:
        if len(self._waiting) or len(self._unstopped) or len(self._unaddressed):
            self._report_overdue(moment, self._bound_us + PER_PARTITION_US * self.cluster.count_partitions())

    def at_rest(self, moment: Moment) -> None:
        self._report_overdue(moment, self.now.bound_at_rest(moment.t_us, self._bound_us))

    def _report_overdue(self, moment: Moment, bound_us: int) -> None:
        for (tp, broker), held_us in self._waiting.overdue(moment.t_us, bound_us, self._has_dirs_since_us):
            self._report_waiting(moment, tp, broker, held_us)
        for (tp, broker), held_us in self._unstopped.overdue(moment.t_us, bound_us, self._free_since_us):
            self.violated(moment, NotStopped(broker, tuple(self.cluster.assignment(tp)), held_us), tp, (broker,))

        for broker, held_us in self._unaddressed.overdue(moment.t_us, bound_us, self.now.reached_since_us):
            self.violated(moment, SentNothing(broker, held_us), brokers=(broker,))

    def _report_waiting(self, event: Event, tp: TopicPartition, broker: int, held_us: int) -> None:
        state = self.cluster.state(tp)
        leader, epoch = (None, -1) if state is None else (state.leader, state.leader_epoch)
        self._notified(tp, broker)
        self.violated(
            event, NotNotified(leader, epoch, broker, tuple(self.cluster.assignment(tp)), held_us), tp, (broker,)
        )

    def _has_dirs_since_us(self, replica: Replica) -> int | None:
        return None if self.cluster.lacks_dirs(replica[1]) else self._free_since_us(replica)

    def _free_since_us(self, replica: Replica) -> int | None:
        return self.now.reached_since_us(replica[1])
