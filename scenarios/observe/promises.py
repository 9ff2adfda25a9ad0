"""The promises of each role of a cluster, with the checkers that see them broken, or the sentence that none does.

The promises are those of Kafka's protocol: improvement proposals (KIP), tickets (KAFKA), and classes of a release.
docs/reference/checker-list.md is rendered from them; a test holds that each checker is named here.
"""

from __future__ import annotations

from typing import NamedTuple


class Promise(NamedTuple):
    """One promise.

    Attributes:
        text: what the role promises; a clause after "It".
        source: where Kafka does: a proposal, a ticket, or a class with the releases.
        checkers: those that see it broken; none: ``unseen`` says why, and what is seen of it.
        unseen: what no checker sees of it.
    """

    text: str
    source: str
    checkers: tuple[str, ...] = ()
    unseen: str = ""


PROMISES: dict[str, tuple[Promise, ...]] = {
    "The controller": (
        Promise(
            "is the only one", "ControllerElection, 0.8; KAFKA-6082", ("one_active_controller", "controller_fence")
        ),
        Promise(
            "stays the controller while its session lives",
            "KafkaController.triggerControllerMove, 1.1",
            unseen="No checker: an error that it does not expect ends its term in Kafka, too.",
        ),
        Promise(
            "knows what ZooKeeper has: brokers, assignments, leaders, moves, deletions",
            "ControllerContext, 0.8",
            ("controller_remembers",),
        ),
        Promise(
            "forgets everything as it resigns", "KafkaController.onControllerResignation, 0.8", ("resigned_forgets",)
        ),
        Promise(
            "reads what brokers announce (ISRs, failed log directories) before it deletes that",
            "KAFKA-1367; KIP-112",
            ("notifications_taken", "controller_remembers", "broker_remembers"),
        ),
        Promise(
            "takes up what changes: brokers that come and go, new topics, topics to be deleted",
            "KafkaController.process, 1.1",
            ("notifications_taken",),
        ),
        Promise(
            "raises epochs with each change of a leader",
            "KafkaController, 0.8",
            ("epochs_grow", "one_leader_per_epoch"),
        ),
        Promise(
            "elects a leader from the ISR that lives, soon",
            "PartitionLeaderElectionAlgorithms, 2.3; KAFKA-1028",
            ("led_in_time", "leader_in_isr", "elects_the_living", "unclean_where_allowed"),
        ),
        Promise(
            "elects the first in the assignment that may lead, and leaves who lives in the ISR",
            "PartitionLeaderElectionAlgorithms, 2.0",
            ("elects_in_order",),
        ),
        Promise("lets dead brokers leave the ISRs", "KAFKA-3143", ("dead_leave_isr",)),
        Promise("adds no replica to an ISR", "PartitionStateMachine, 0.8", ("controller_adds_none",)),
        Promise(
            "makes only legal changes of state", "ReplicaStateMachine, PartitionStateMachine", ("legal_transitions",)
        ),
        Promise(
            "tells each live replica of its leader, and stops the ones that leave",
            "ControllerBrokerRequestBatch, 0.8",
            ("replicas_notified", "stops_in_order", "drops_stopped", "new_replicas_marked"),
        ),
        Promise(
            "sends each request until it is answered, or its broker is gone",
            "RequestSendThread, 0.8",
            ("requests_delivered",),
        ),
        Promise(
            "sends of each partition what it has written or read",
            "ControllerBrokerRequestBatch, 0.8.1",
            ("sent_as_written",),
        ),
        Promise(
            "does each step of a move, a deletion and a failover, and all of them in their order",
            "KafkaController.onPartitionReassignment, 0.8 to 2.7; KIP-455",
            ("steps_done",),
        ),
        Promise("acts on the answers", "TopicDeletionManager, 0.8.1", ("answers_taken",)),
        Promise(
            "carries out, recovers and ends moves, once all replicas are in sync and one of them leads",
            "KIP-455; wiki",
            ("moves_recoverable", "moves_end_in_sync", "converged"),
        ),
        Promise(
            "deletes topics wholly, and gives them no leaders meanwhile",
            "TopicDeletionManager, 0.8.1; KAFKA-6612",
            ("replicas_deleted_first", "deleted_get_no_leader", "gone_topics_forgotten", "converged"),
        ),
        Promise("refuses only for a reason", "KafkaController; KIP-455", ("refusals_have_reasons",)),
        Promise("says that topics are there, or gone, once they are", "AdminManager, 0.10.1", ("topic_answers_true",)),
        Promise("counts offline partitions right", "KAFKA-849", ("offline_true",)),
        Promise("counts topics, partitions and missing preferred leaders right", "KIP-503", ("counts_true",)),
        Promise("leaves a cluster alone that is well", "KAFKA-7152", ("idle_changes_nothing",)),
        Promise(
            "gives leadership back to preferred replicas (auto.leader.rebalance.enable)",
            "KAFKA-930",
            ("controller_remembers", "elects_in_order"),
        ),
    ),
    "The leader of a partition": (
        Promise(
            "acknowledges with acks=all what min.insync.replicas replicas in sync have, and loses none of it",
            "KAFKA-1555; ReplicaManager, 0.8",
            ("acks_all_in_sync", "no_acked_record_lost"),
        ),
        Promise(
            "loses nothing that acks=1 acknowledged, which Kafka does not promise", "-", ("no_acks_1_record_lost",)
        ),
        Promise(
            "shows consumers nothing that min.insync.replicas replicas do not have",
            "KAFKA-15583, 3.7",
            ("held_by_min_isr",),
        ),
        Promise("answers a producer as soon as it can", "DelayedProduce, 0.8", ("acks_in_time",)),
        Promise("commits what all of its ISR has", "Partition.maybeIncrementLeaderHW, 0.8", ("commits_in_time",)),
        Promise(
            "moves its high watermark only up, and within its log",
            "KAFKA-5634",
            ("high_watermark_monotone", "offset_bounds"),
        ),
        Promise(
            "has all that is committed", "KIP-101; KIP-279", ("leader_completeness", "isr_complete", "log_matching")
        ),
        Promise(
            "takes followers into the ISR that have caught up, and are assigned",
            "KAFKA-7128; KIP-497",
            ("joins_caught_up", "expands_assigned", "fetch_fence"),
        ),
        Promise(
            "removes those from the ISR that lag, and no others", "KAFKA-1546", ("shrinks_overdue", "laggards_leave")
        ),
        Promise(
            "says that records are deleted once every live replica has deleted them", "KIP-107", ("deletions_complete",)
        ),
        Promise(
            "refuses a batch, or a fetch, only for a reason",
            "Partition.appendRecordsToLeader, 0.8",
            ("leaders_accept",),
        ),
        Promise("writes an ISR only over the version that it knows", "KAFKA-2729", ("isr_write_conditional",)),
        Promise("learns the outcome of each change of its ISR", "KAFKA-13091", ("isr_changes_end", "laggards_leave")),
        Promise("tells the latest offset once it knows what is committed", "KAFKA-2334", ("applied_high_watermark",)),
        Promise(
            "gives readers what is committed", "ReplicaManager.fetchMessages", ("reads_committed", "reads_consistent")
        ),
        Promise("gives readers of committed records what is decided", "KIP-98", ("reads_decided",)),
        Promise("recognises repeated batches", "KIP-98; KIP-360", ("no_batch_twice",)),
        Promise("fences producers of earlier epochs", "KIP-98", ("zombies_fenced", "records_in_transactions")),
        Promise("ends transactions as their markers say", "KIP-98", ("markers_decided", "transactions_close")),
        Promise(
            "fences coordinators of transactions that were replaced", "KIP-98; KAFKA-9144", ("old_coordinators_fenced",)
        ),
        Promise(
            "answers what its log has, about each partition that it is asked about",
            "KafkaApis, 0.8; KIP-101; KIP-207; KIP-320",
            ("answers_true", "append_shape"),
        ),
        Promise("closes sessions and connections only for a reason", "KIP-227", ("answers_fit", "sessions_follow")),
        Promise("answers in a session for what its reader has there", "KIP-227", ("answers_fit", "sessions_follow")),
        Promise(
            "answers a fetch once there is fetch.min.bytes, or after fetch.max.wait.ms",
            "DelayedFetch, 0.8",
            ("fetches_complete",),
        ),
        Promise("refuses a position only where its log does not go on there", "KIP-320", ("polls_go_on",)),
        Promise("counts partitions right that lack replicas", "KIP-352", ("under_replicated_true", "reassigning_true")),
    ),
    "A follower and its fetchers": (
        Promise(
            "fetches what it follows, from the leader, and nothing else",
            "AbstractFetcherManager, 0.8",
            ("followed_in_time", "fetchers_fit", "one_role"),
        ),
        Promise(
            "truncates what its leader has not, nothing committed, and nothing else",
            "KIP-101; KIP-279",
            ("truncate_safety", "isr_logs_identical", "log_matching"),
        ),
        Promise("goes on with others when one partition fails", "KIP-461", ("followed_in_time", "failed_until_epoch")),
        Promise("ends threads that have nothing to do", "KIP-461", ("idle_fetchers_end",)),
        Promise("leaves its leader alone for a while when that does not answer", "KAFKA-1461", ("fetches_back_off",)),
        Promise("keeps to its throttles", "KIP-73; KIP-542", ("throttle_kept",)),
        Promise("is not held back by a throttle while it has everything", "KIP-73", ("in_sync_fetched",)),
        Promise("goes on once a throttle allows it", "KIP-73", ("converged",)),
        Promise("shows its lag", "KAFKA-7704", ("lag_true",)),
    ),
    "The replica manager and the logs": (
        Promise(
            "takes each role that the controller sends",
            "ReplicaManager.becomeLeaderOrFollower",
            ("roles_adopted", "replicas_notified"),
        ),
        Promise(
            "changes nothing for a request that it refuses",
            "KIP-380; ReplicaManager",
            ("refused_changes_nothing", "broker_epoch_fence"),
        ),
        Promise("keeps logs without holes, with epochs that grow", "KAFKA-7415", ("append_shape", "offset_bounds")),
        Promise(
            "keeps an epoch cache that agrees with the log, and finds all its logs again after a restart",
            "KIP-101",
            ("logs_reload", "broker_remembers"),
        ),
        Promise(
            "writes its checkpoints in time",
            "ReplicaManager.checkpointHighWatermarks; LogManager.checkpointLogRecoveryOffsets",
            ("logs_reload",),
            "That of high watermarks alone.",
        ),
        Promise(
            "ends each copy to another log directory",
            "KIP-113",
            ("logs_reload",),
            "Not those that a StopReplica or a new leader epoch has stopped, which releases leave (KAFKA-9654).",
        ),
        Promise(
            "compacts a log so that the last committed record of each key stays, and what readers have to know",
            "KAFKA-13194; LogCleaner, 0.8.1; KIP-534",
            ("compaction_keeps",),
        ),
        Promise("deletes segments as retention says", "LogManager.cleanupLogs", ("segments_expire",)),
        Promise("works with the settings that ZooKeeper has", "KIP-226; KAFKA-9254", ("broker_remembers",)),
        Promise("writes the settings that it says are changed", "KIP-133", ("settings_written",)),
        Promise("shows how many replicas, leaders, groups and failed partitions it has", "KIP-461", ("counts_true",)),
        Promise("meters what it appends, sends and answers", "BrokerTopicStats, 0.8", ("meters_true",)),
        Promise("does not use a log directory that has failed", "KIP-112", ("failed_dirs_offline",)),
        Promise("tells the state of its log directories", "KIP-113", ("log_dirs_true",)),
        Promise("deletes the logs of replicas that are gone", "KAFKA-1074", ("gone_topics_forgotten", "converged")),
        Promise(
            "leaves when the controller has moved what it led", "KafkaServer.controlledShutdown", ("leaves_in_order",)
        ),
        Promise(
            "fetches nothing new while it shuts down",
            "ReplicaManager.makeFollowers, 0.8.1",
            unseen="No checker: what it fetches does no harm, and it leaves the ISRs as it ends.",
        ),
        Promise("answers each request", "RequestChannel, 0.8", ("requests_answered", "acks_in_time")),
        Promise("measures times that can be", "RequestMetrics", ("times_true",)),
        Promise("does nothing in ZooKeeper without a session", "KAFKA-7165", ("no_write_after_expiry",)),
        Promise(
            "closes its connections as it ends",
            "SocketServer.shutdown",
            unseen="No checker: the emulated network closes the connections of a process that ends.",
        ),
        Promise(
            "keeps to quotas of clients",
            "KIP-13; KIP-124",
            unseen="No checker: they act on real clients alone.",
        ),
    ),
    "A broker's metadata": (
        Promise("knows what the controller has sent", "MetadataCache, 0.8", ("metadata_kept",)),
        Promise("tells clients what it knows", "KafkaApis.handleTopicMetadataRequest, 0.8", ("metadata_kept",)),
        Promise("has the leaders that ZooKeeper has, soon", "KAFKA-4229", ("metadata_follows",)),
        Promise(
            "has the ISRs, replicas and live brokers that ZooKeeper has, and says which replicas are offline",
            "KAFKA-972; KAFKA-1367; KIP-112",
            ("broker_remembers",),
        ),
        Promise("forgets topics that are gone", "KAFKA-1558", ("gone_topics_forgotten",)),
    ),
    "The coordinator of a group": (
        Promise(
            "is the leader of the group's partition, and no other broker is",
            "GroupMetadataManager, 0.9; KAFKA-10614",
            ("coordinators_lead",),
        ),
        Promise(
            "answers with the offsets that the group has committed, after a failover too",
            "KAFKA-1012",
            ("offsets_read_back", "coordinators_remember"),
        ),
        Promise("answers with stable offsets where a client asks for such", "KIP-447", ("offsets_stable",)),
        Promise("takes offsets from present members alone", "GroupCoordinator.doCommitOffsets", ("commits_fenced",)),
        Promise(
            "takes the offsets of transactions as they end", "KIP-98; KIP-447", ("offsets_read_back", "zombies_fenced")
        ),
        Promise("removes members that are silent, and no others", "DelayedHeartbeat; KAFKA-9232", ("members_silent",)),
        Promise(
            "gives each member the assignment that the leader has made for it",
            "GroupCoordinator.doSyncGroup, 0.9",
            ("rejoins_rebalance",),
        ),
        Promise("knows the members after a failover, too", "GroupMetadataManager; KAFKA-10284", ("members_kept",)),
        Promise("keeps static members through a rebalance", "KIP-345; KAFKA-8220", ("members_silent",)),
        Promise("gives each generation its own number", "GroupMetadata.initNextGeneration, 0.9", ("generations_grow",)),
        Promise("rebalances when a member asks for it", "KAFKA-2464; KAFKA-9801", ("rejoins_rebalance",)),
        Promise("takes back member ids that no client joins with", "KIP-394; KAFKA-9752", ("ids_taken_back",)),
        Promise("ends rebalances", "DelayedJoin; KAFKA-9752", ("groups_settle", "rebalances_complete")),
        Promise("keeps offsets for as long as they are to be kept", "KIP-211", ("offsets_expire_late",)),
        Promise(
            "gives each partition to one member",
            "ConsumerPartitionAssignor",
            unseen="No checker: the leader of the group assigns, which is a client.",
        ),
    ),
    "The coordinator of transactions": (
        Promise(
            "is the leader of the id's partition, and no other broker is",
            "TransactionStateManager, 0.11",
            ("coordinators_lead",),
        ),
        Promise("remembers what its log says", "KAFKA-5351", ("coordinators_remember",)),
        Promise("sends markers as it has decided, to all partitions", "KIP-98; KAFKA-5130", ("markers_decided",)),
        Promise("ends each transaction within its timeout", "KIP-98", ("transactions_end", "transactions_close")),
        Promise(
            "ends a transaction as its producer asks, and aborts none by itself before its time",
            "KIP-98",
            ("aborts_have_reasons",),
        ),
        Promise("fences a producer whose transaction lasts too long", "KAFKA-6119", ("records_in_transactions",)),
        Promise("gives each producer id once, and keeps it", "ProducerIdManager, 0.11", ("producer_ids_once",)),
        Promise("fences no producer that is alone with its id", "KIP-360", ("fences_have_reasons",)),
        Promise("uses up one epoch of a producer at a time", "KAFKA-9666", ("epochs_used_once",)),
        Promise("forgets transactional ids that are not used", "KIP-98; KAFKA-7519", ("ids_expire",)),
    ),
    "A client": (
        Promise("writes each batch once, in order, with idempotence", "KIP-98", ("no_batch_twice",)),
        Promise("reads on where it was", "KIP-320", ("polls_go_on",)),
        Promise("gets an outcome for each batch", "KIP-91", ("converged",)),
    ),
    "A tool of an operator": (
        Promise(
            "asks only for what it should, once",
            "ReassignPartitionsCommand",
            unseen="No checker: what a tool asks for is in the scenario. `converged` sees whether it comes about.",
        ),
        Promise(
            "takes its throttles back",
            "KIP-73",
            unseen="No checker: a scenario says when a throttle ends. `throttle_kept` sees brokers that do not follow.",
        ),
    ),
    "ZooKeeper": (
        Promise(
            "ends a session that is not heard from, and its ephemeral znodes",
            "ZooKeeper 3.4",
            ("sessions_end", "no_write_after_expiry"),
        ),
        Promise(
            "writes conditionally, in one order, and tells each watch once",
            "ZooKeeper 3.4",
            ("isr_write_conditional", "controller_fence", "asks_in_order"),
            "Watches that are lost show as what their reader then does not know.",
        ),
    ),
}
"""All promises, by role."""
