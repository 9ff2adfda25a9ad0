"""V3: every live replica follows the leader that ZooKeeper names, or is that leader."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.events import BecameFollower, BecameLeader, ReplicaStopped
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import PER_PARTITION_US, SETTLING_US
from scenarios.observe.findings.control_facts import RoleNotAdopted
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

Replica = tuple[TopicPartition, int]


class RolesAdopted(InTime[Replica]):
    """Each assigned replica whose broker lives soon leads, or follows the leader, as ZooKeeper says.

    Verified: once a second, and when the cluster is at rest: the last role that a broker took in a partition since it
        started, against the leader in ZooKeeper, while that leader is registered. The bound is
        controller.socket.timeout.ms, after which a request whose connection is lost is sent again, 5 s, and 10 ms for
        each partition; it begins once the broker has answered the LeaderAndIsr that names this leader, if that is
        queued for it: a broker that takes long for each request has many before it (``requests_delivered``).

    Not verified: that a follower fetches (``followed_in_time``) and a leader answers; the leader epoch of the role;
        brokers that shut down, that lost a log directory, or into which a scenario has injected a
        failure; topics that are being deleted.
    """

    ids = ("V3",)
    statement = (
        "r ∈ RS alive ⇒ role_r = Z.leader within T: every live replica soon knows the leader that ZooKeeper names"
    )
    catches = ("KAFKA-4443", "KAFKA-1097", "KAFKA-7482")
    fails_when = "brokers refuse every leader that is new to them"

    def begin(self) -> None:
        super().begin()
        self._queues = self.history.control_queues
        self.bound_us = self.start.time_us("controller.socket.timeout.ms", 30_000) + SETTLING_US
        self._assigned: dict[int, dict[TopicPartition, None]] = {}

    def on_assigned(self, event: AssignmentWritten) -> None:
        tp = event.tp
        before = event.before
        for broker in before:
            if broker not in event.replicas:
                self._assigned[broker].pop(tp, None)
                self.lasting.end((tp, broker))
        for broker in event.replicas:
            if broker not in before:
                self._assigned.setdefault(broker, {})[tp] = None
                self._compare(tp, broker, event.t_us)

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if (before and before.leader) != (state and state.leader):
            for broker in self.cluster.assignment(event.tp):
                self._compare(event.tp, broker, event.t_us)

    def _compare(self, tp: TopicPartition, broker: int, now_us: int) -> None:
        leader = self.cluster.leader(tp)
        if leader >= 0 and self.cluster.known_leader(broker, tp) != leader:
            self.lasting.begin((tp, broker), now_us)
        else:
            self.lasting.end((tp, broker))

    def on_role(self, event: BecameLeader | BecameFollower | ReplicaStopped) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if event.node in self.cluster.assignment(tp):
            self._compare(tp, event.node, event.t_us)

    def on_written(self, event: ZkWritten) -> None:
        """A broker that registers learns all its roles again, if it has forgotten them."""
        if event.op != "delete" and event.path.startswith(f"{znodes.BROKER_IDS}/"):
            broker = int(event.path.rpartition("/")[2])
            for tp in self._assigned.get(broker, ()):
                self._compare(tp, broker, event.t_us)

    def more_us(self) -> int:
        return PER_PARTITION_US * self.cluster.count_partitions()

    def report(self, moment: Moment, replica: Replica, held_us: int) -> None:
        tp, broker = replica
        state, role = self.cluster.state(tp), self.cluster.known_leader(broker, tp)
        assert state is not None
        self.violated(moment, RoleNotAdopted(state.leader, state.leader_epoch, broker, role, held_us), tp, (broker,))

    def free_since_us(self, replica: Replica) -> int | None:
        (tp, broker), now = replica, self.now
        state = self.cluster.state(tp)
        if state is None or self.cluster.is_deleting(tp.topic) or self.cluster.is_shutting_down(broker):
            return None
        since_us, led_us = now.reached_since_us(broker), self.cluster.registered_us(state.leader)
        if since_us is None or led_us is None or broker in now.impaired or self.cluster.lacks_dirs(broker):
            return None
        if any(waiting.leader == state.leader for waiting in self._queues.waiting_states(broker, tp)):
            return None
        return max(since_us, led_us)
