"""The replicas that a broker may keep though they are not assigned to it any more."""

from __future__ import annotations

from emulator.protocol.types import TopicPartition
from scenarios.observe.past.changes import AssignmentWritten
from scenarios.observe.past.cluster_state import FoldedState


class LeftReplicas:
    """The fold: which controller took each replica out of the assignment.

    A controller has such a replica stopped once, and only by a broker that it takes to be alive
    (ControllerChannelManager.sendRequest, 1.1.1 to 3.9.0). A broker refuses what is meant for its registration before
    (KafkaApis.handleStopReplicaRequest, 2.2.0 to 3.9.0), and the controller does not send it again. With the topic only
    the assigned replicas are deleted (TopicDeletionManager.onPartitionDeletion, 1.1.1 to 3.9.0).
    """

    def __init__(self, cluster: FoldedState) -> None:
        self._cluster = cluster
        self._dropped: dict[tuple[int, TopicPartition], int] = {}
        """Which controller, by the event with which it created /controller, wrote that the replica of a broker left the
        assignment; 0: one that another one had replaced."""

    def on_assigned(self, event: AssignmentWritten) -> None:
        for broker in event.replicas:
            self._dropped.pop((broker, event.tp), None)
        by_present = event.client == self._cluster.controller
        # Where the topic is gone, what was assigned until then has been deleted.
        for broker in event.before if event.replicas else ():
            if broker not in event.replicas:
                self._dropped[broker, event.tp] = self._last_controller() if by_present else 0

    def may_stay(self, broker: int, tp: TopicPartition) -> bool:
        """Whether a replica was taken out of the assignment, and Kafka may never stop it: the process or the session of
        its broker has ended, or the controller that wrote this has been replaced, perhaps before its last
        StopReplica."""
        dropped = self._dropped.get((broker, tp))
        if dropped is None:
            return False
        return self._cluster.was_interrupted(broker) or dropped != self._last_controller()

    def _last_controller(self) -> int:
        """The event with which the last controller created /controller."""
        created = self._cluster.controller_writes.get("create")
        return 0 if created is None else created.seq
