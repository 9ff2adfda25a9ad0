"""What can differ between controllers. A profile is one bundle of these, composed where releases are known by name."""

from attrs import field, frozen

from controller.channels.schemas import AllReplicas, RequestSchema
from controller.fencing import Fenced, Fencing
from controller.metrics.controller import IsOffline, is_offline_by_state
from controller.operations.rebalance import AutoRebalance
from controller.reassignment.policy import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from controller.states.rules import SEVEN_STATES, ReplicaRules
from controller.states.selectors import Selectors
from emulator.protocol.configs import CONTROLLER_SOCKET_TIMEOUT, config, field_of


@frozen
class ControllerPolicies:
    """The choices of one cluster; times in virtual microseconds. The defaults are those of Kafka 2.3.

    Attributes:
        reassignment: how a partition is moved.
        replicas: how the replica state machine works: Kafka's code or the controller page.
        selectors: how leaders are chosen.
        requests: what requests say of a partition's replicas.
        tells_motions: whether LeaderAndIsr carries the adding and removing replicas (KIP-455).
        answers_preempted: whether a client whose request about reassignments is dropped from the queue, because the
            session expired, is told NOT_CONTROLLER (KAFKA-10193); else it waits until its own timeout.
        fencing: whether a controller that has been replaced can still write, and how one begins its term.
        broker_epochs: whether requests carry the epoch of the broker's incarnation, by which it refuses those meant
            for an earlier one and the controller notices that it has restarted (KIP-380, 2.2).
        stops_name_epochs: whether StopReplica carries leader epochs, by which brokers refuse a late one (KIP-570, 2.6).
        unclean_leader_election: unclean.leader.election.enable.
        delete_topics: delete.topic.enable; without it requests for deletion are dropped unheard.
        deletion_heeds_moves: whether a topic that is asked to go waits until none of its partitions is being
            moved (kafka-behaviour §4). Kafka 2.3 and 2.4 mean to, but mark the topic as waiting before they
            queue it, when the mark is without effect, and delete it at once; after a failover the topic does
            wait, until the first of its moves is done, and for ever where failover.F8 drops them.
        is_offline: which partitions OfflinePartitionsCount counts.
        auto_rebalance: when leadership goes back to preferred replicas by itself.
        request_timeout_us: controller.socket.timeout.ms, for one attempt at a control request.
        retry_pause_us: between two attempts.
        pinned: the only broker that competes in the first election of the cluster; None: all do.
    """

    reassignment: ReassignmentProtocol = field(factory=Wiki)
    replicas: ReplicaRules = SEVEN_STATES
    selectors: Selectors = field(factory=Selectors)
    requests: RequestSchema = field(factory=AllReplicas)
    tells_motions: bool = True
    answers_preempted: bool = False
    fencing: Fencing = field(factory=Fenced)
    broker_epochs: bool = True
    stops_name_epochs: bool = False
    unclean_leader_election: bool = config(
        "unclean.leader.election.enable", False, "whether an out-of-sync replica may become leader",
        topic_name="unclean.leader.election.enable", dynamic=True,
    )  # fmt: skip
    delete_topics: bool = config(
        "delete.topic.enable", True, "whether topics can be deleted; else requests for it are dropped"
    )
    deletion_heeds_moves: bool = True
    is_offline: IsOffline = is_offline_by_state
    auto_rebalance: AutoRebalance = field(factory=AutoRebalance)
    request_timeout_us: int = field_of(CONTROLLER_SOCKET_TIMEOUT)
    retry_pause_us: int = 100_000
    pinned: int | None = None
