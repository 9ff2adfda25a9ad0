"""The differences between the controllers of releases and documents, as policies. Profiles compose them."""

from attrs import field, frozen

from controller.fencing import Fenced, Fencing
from controller.metrics.controller_metrics import IsOffline, is_offline_by_state
from controller.operations.rebalance import AutoRebalance
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from controller.request_schemas import AllReplicas, RequestSchema
from controller.state_machines.leader_election_algorithms import LeaderElectionAlgorithms
from controller.state_machines.rules import SEVEN_STATES, ReplicaRules
from emulator.protocol.configs import CONTROLLER_SOCKET_TIMEOUT, config, field_of
from emulator.protocol.scala_order import SCALA_2_12, ScalaCollections


@frozen
class ControllerPolicies:
    """The choices of one cluster; times in virtual microseconds. The defaults are those of Kafka 2.3.

    Attributes:
        reassignment: how a partition is moved.
        replicas: the replica state machine: Kafka's code or the controller page.
        selectors: how leaders are chosen.
        requests: how a partition's replicas are written into requests.
        topic_znodes: the version of the topics' znodes that the release's controllers and tools write; 2 (KIP-455, 2.4)
            has adding and removing replicas, empty outside a move; 3 (KIP-516, 2.8) also the topic's id.
        sends_reassigning: whether LeaderAndIsr has the adding and removing replicas (KIP-455).
        answers_preempted: whether a client gets NOT_CONTROLLER when its request about reassignments is dropped from the
            queue because the session expired (KAFKA-10193); else its own timeout ends its wait.
        fencing: whether a controller that has been replaced can still write, and how a controller epoch begins.
        broker_epochs: whether requests have the epoch of the broker's incarnation, by which the broker refuses those
            for an earlier incarnation and the controller notices a restart (KIP-380, 2.2).
        metadata_without_partitions_holds_all: whether an UpdateMetadata that is about brokers alone holds all
            partitions (before KAFKA-7537, 2.2).
        names_all_deleting: whether each UpdateMetadata also holds all partitions of topics that are to be deleted
            (before KAFKA-6481, 2.0).
        metadata_needs_partitions: before KAFKA-1867 (0.9) no UpdateMetadata was sent that would have held no partition:
            brokers of a cluster without topics did not learn of each other.
        announces_brokers: whether all live brokers get UpdateMetadata when a broker starts, or fails without having
            led a partition (KAFKA-972, 0.9); else only the broker that starts gets one.
        names_deleting_at_start: whether a broker that starts gets the metadata of topics that are being deleted; since
            2.7 (ControllerContext.partitionsWithLeaders) it learns of them when their deletion goes on.
        remembers_bumps: whether a leader epoch that is raised alone, as moves do, gets into the controller's memory,
            from which UpdateMetadata is made (KAFKA-9212, 2.4). Before, brokers that lead under the new epoch give
            clients the old one, until the next election, ISR notification or controller: a consumer is then refused
            (FENCED_LEADER_EPOCH).
        groups_stops: whether a broker gets one StopReplica for all the replicas of a state change, rather than one for
            each (KAFKA-8294, 2.3).
        elects_preferred_again: whether /admin/preferred_replica_election also raises the leader epoch of partitions
            that their preferred replica leads already (before KIP-183, 2.2).
        refuses_needless_elections: whether ElectLeaders answers ELECTION_NOT_NEEDED where the preferred replica leads
            already, and leaves those partitions out where all were asked for (KIP-460, 2.4); before, NONE.
        shuts_down_together: whether a controlled shutdown is one change for all partitions, whose leaders are written
            together and announced in one request to each broker (KAFKA-5642, 1.1); else one change after the other.
        refuses_moves_together: whether the moves that the controller does not begin leave /admin/reassign_partitions in
            one write, which is made even where none leaves (KAFKA-6617, 2.0); else each in a write of its own.
        takes_up_moves_together: whether all moves that /admin/reassign_partitions asks for are in the memory before the
            first of them is begun (KAFKA-6193, 1.1). Before, one that ended at once deleted the znode, which the others
            needed after a failover.
        forgets_moves: whether a controller that resigns forgets the moves in its memory (KAFKA-5310, 0.11). Before, it
            took them up again when it was elected again, whatever had become of them.
        loads_every_leader: whether a new controller loads the leaders and ISRs of all partitions; before KAFKA-849
            (0.8.0) only those whose leader was alive, so that the others looked as if they had never had one.
        announces_before_elections: whether a new controller sends UpdateMetadata before it starts the state machines
            (KAFKA-4443, 0.10.2). Before, it came last: brokers refuse a leader that they do not know to be alive.
        retries_requests: whether a request to a broker whose connection is lost is sent again until it is answered
            (KAFKA-1187, 0.8.1); before, it was lost.
        finds_brokers_twice: before KAFKA-3085 (0.10.0) what has changed was found in one list of brokers, and the
            live ones in another, read later: a broker that failed in between was neither live nor dead.
        sessions_in_turn: before KAFKA-5642 (1.1) sessions were made again beside the controller's queue, and each new
            session was handled in its turn, also when there was a later one by then (KAFKA-4229).
        elects_where_gone: before KAFKA-5642 (1.1) ZkClient read /controller when that had changed, and what the broker
            learned of was what it found: a node that was created and deleted again had been deleted. Since then a
            broker that learns of the creation looks, and competes only when it learns of a deletion.
        acts_after_resigning: before KAFKA-4447 (0.10.2) a controller that had resigned kept its memory and handled the
            events that were queued by then, as if it were active.
        keeps_watches: before KAFKA-1578 (0.8.2) a controller that had resigned was still told of new moves and changes.
        follows_controller_epoch: before KAFKA-1096 (0.8.2) every broker's controller read /controller_epoch again when
            it changed, and took it for its own epoch; one that another had replaced went on until its session expired.
        expiry_waits_for_event: 1.1.0 alone (KAFKA-6879): a new session waits for the event that the controller handles,
            and what that event asks ZooKeeper waits for the new session.
        ends_elections_at_failover: whether a new controller deletes /admin/preferred_replica_election once it has held
            the elections (KAFKA-828, 0.8.0).
        restores_deleting: whether partitions that are added to a topic while it is deleted leave its znode again
            (KAFKA-6612, 2.0); before, they stayed there.
        resumes_deletions: whether a new controller begins the deletions that are asked for (KAFKA-1681, 0.8.2).
        keeps_deleted_leaders: before KAFKA-1742 (0.8.2) the memory kept the leaders of deleted topics.
        counts_kept_as_deleted: whether the answer to a StopReplica that keeps the replica counts as its deletion
            (KAFKA-9946: during the development of 2.6).
        follows_unclean_default, follows_unclean_topics: whether unclean.leader.election.enable has an effect when it is
            switched on for all brokers (KAFKA-6526, 2.0) or for a topic (KAFKA-6835, 2.1), without another controller.
        skips_needless_metadata: whether the failure of a broker brings an UpdateMetadata of its own only where no
            change of a replica or leader has brought one (KAFKA-13225, 3.1); before, wherever every partition had a
            live leader.
        marks_recovering: whether a leader that is elected outside the ISR is marked as one that recovers, until it
            writes the state znode (KIP-704, 3.2).
        fences_isrs: whether a leader that asks for an ISR from any other leader epoch or version than the controller's
            is refused without a write: NOT_CONTROLLER where the leader is ahead (KAFKA-14154, 3.3), else
            FENCED_LEADER_EPOCH or INVALID_UPDATE_VERSION; where it asks for what is there, it gets that (KAFKA-14144).
            Before, only earlier leader epochs were refused so.
        refuses_dead_in_isr: whether an ISR with a broker that is not alive, or shuts down, is refused
            (INELIGIBLE_REPLICA; KAFKA-14140, 3.3).
        refuses_isrs_singly: whether an ISR that cannot be written, because the session has expired, is refused for its
            partition alone (KafkaZkClient.updateLeaderAndIsr, 2.7.2 and 3.3.2). Else the request fails as a whole and
            is sent again, where a leader would not ask again (KAFKA-14010).
        stops_name_epochs: whether StopReplica has leader epochs, by which brokers refuse a stale one (KIP-570, 2.6).
        unclean_leader_election: unclean.leader.election.enable.
        delete_topics: delete.topic.enable; without it requests for deletion are dropped.
        is_offline: the partitions that OfflinePartitionsCount counts.
        discounts_queued_again: whether PreferredReplicaImbalanceCount falls by the partitions of a topic that waits for
            its deletion, each time that another one is deleted (KAFKA-13572, 2.7.0 to 3.2.0).
        resigned_shows_offline: whether a controller that has resigned goes on showing its last OfflinePartitionsCount
            (before KAFKA-1068, 0.8.0).
        auto_rebalance: when leadership returns to preferred replicas without a request.
        request_timeout_us: controller.socket.timeout.ms, for one attempt at a request to a broker.
        retry_pause_us: the pause between two attempts.
        collections: the collections of the build's Scala, whose order some lists and loops have.
        pinned: the only broker that competes in the first election of the cluster; None: all do.
    """

    reassignment: ReassignmentProtocol = field(factory=Wiki)
    replicas: ReplicaRules = SEVEN_STATES
    selectors: LeaderElectionAlgorithms = field(factory=LeaderElectionAlgorithms)
    requests: RequestSchema = field(factory=AllReplicas)
    topic_znodes: int = 1
    sends_reassigning: bool = True
    answers_preempted: bool = False
    fencing: Fencing = field(factory=Fenced)
    broker_epochs: bool = True
    metadata_without_partitions_holds_all: bool = False
    names_all_deleting: bool = False
    metadata_needs_partitions: bool = False
    announces_brokers: bool = True
    names_deleting_at_start: bool = True
    remembers_bumps: bool = False
    groups_stops: bool = True
    elects_preferred_again: bool = False
    refuses_needless_elections: bool = False
    shuts_down_together: bool = True
    refuses_moves_together: bool = True
    takes_up_moves_together: bool = True
    forgets_moves: bool = True
    loads_every_leader: bool = True
    announces_before_elections: bool = True
    retries_requests: bool = True
    finds_brokers_twice: bool = False
    sessions_in_turn: bool = False
    elects_where_gone: bool = False
    acts_after_resigning: bool = False
    keeps_watches: bool = False
    follows_controller_epoch: bool = False
    expiry_waits_for_event: bool = False
    ends_elections_at_failover: bool = True
    restores_deleting: bool = True
    resumes_deletions: bool = True
    keeps_deleted_leaders: bool = False
    counts_kept_as_deleted: bool = False
    follows_unclean_default: bool = True
    follows_unclean_topics: bool = True
    discounts_queued_again: bool = False
    skips_needless_metadata: bool = False
    marks_recovering: bool = False
    fences_isrs: bool = False
    refuses_dead_in_isr: bool = False
    refuses_isrs_singly: bool = False
    stops_name_epochs: bool = False
    unclean_leader_election: bool = config(
        "unclean.leader.election.enable", False, "whether an out-of-sync replica may become leader",
        topic_name="unclean.leader.election.enable", dynamic=True,
    )  # fmt: skip
    delete_topics: bool = config(
        "delete.topic.enable", True, "whether topics can be deleted; else requests for it are dropped"
    )
    is_offline: IsOffline = is_offline_by_state
    resigned_shows_offline: bool = False
    auto_rebalance: AutoRebalance = field(factory=AutoRebalance)
    request_timeout_us: int = field_of(CONTROLLER_SOCKET_TIMEOUT)
    retry_pause_us: int = 100_000
    collections: ScalaCollections = SCALA_2_12
    pinned: int | None = None

    @property
    def topic_version(self) -> int:
        """The version of the topics' znodes: the release's, or the later one that the protocol needs."""
        return max(self.topic_znodes, self.reassignment.topic_version)
