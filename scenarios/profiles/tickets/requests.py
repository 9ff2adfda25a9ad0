"""Tickets of the controller's requests to brokers (late, unordered, not sent), and of the deletion of topics."""

from controller.metrics import is_offline_by_leader
from controller.state_machines.leader_election_algorithms import CONTROLLED_SHUTDOWN_AMONG_LIVE
from controller.state_machines.rules import leader_only
from scenarios.profiles.profile import Difference
from scenarios.profiles.ticket import Effect, Ticket

TICKETS = (
    Ticket(
        key="KAFKA-9539",
        title="a StopReplica that arrives late stops a replica that has been started again",
        until=("2.6.0",),
        affected="up to 2.5; fixed in 2.6.0 (KIP-570)",
        happened="StopReplica had no leader epoch, so that a broker could not tell an old one from a new one. The "
        "controller gave up a connection and sent the request again on the next; what was still under way on the "
        "old one arrived after later requests, and stopped or deleted a replica that had been assigned again "
        "meanwhile.",
        here="StopReplica has no leader epochs. The checker sees a broker that deletes a replica because of a "
        "request that was sent before the LeaderAndIsr that started it.",
        checker="stops_in_order",
        also=("roles_adopted",),
        policies={"controller.stops_name_epochs": False},
        fixed={"controller.stops_name_epochs": True},
        differences=(
            Difference(
                title="a StopReplica that arrives late",
                before="stops or deletes a replica that has been started again",
                here="is refused unless its leader epoch is above the broker's (FENCED_LEADER_EPOCH)",
                source="KIP-570, 2.6",
            ),
        ),
        trigger="a StopReplica that is so late that the partition has been moved back when it arrives",
        effects=(
            Effect(
                text="a StopReplica that was stuck on its way stops a replica that has been started again",
                checkers=("stops_in_order",),
            ),
        ),
        source="KafkaApis.handleStopReplicaRequest and ReplicaManager.stopReplicas, 2.5.0 and 2.6.0",
    ),
    Ticket(
        key="KAFKA-1187",
        title="a request to a broker is lost with its connection",
        since="0.8.0",
        last="0.8.0",
        until=("0.8.1",),
        happened="The controller sent each request once. When the connection was broken, as after any pause of the "
        "network, the request failed with a line in the log, and the next one opened another connection. The broker "
        "never learned that it led, or whom to follow.",
        here="A request whose connection is lost is not sent again. The checker sees a leader in ZooKeeper that "
        "does not know that it leads.",
        checker="requests_delivered",
        also=("converged",),
        policies={"controller.retries_requests": False},
        source="ControllerChannelManager's RequestSendThread.doWork, 0.8.0 and 0.8.1",
    ),
    Ticket(
        key="KAFKA-532",
        title="brokers obey a controller that was replaced",
        until=("0.8.0",),
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="A controller that came back from a long pause sent the requests that it had prepared, and brokers "
        "could not tell that another one had been elected: leaders and replicas were set back. The ticket brought "
        "the controller epoch, which brokers compare.",
        here="Brokers do not compare the controller epoch of a request with the highest that they know. The checker "
        "sees brokers that obey the older controller again.",
        checker="epochs_grow",
        policies={"brokers.checks_controller_epoch": False},
        source="ReplicaManager.becomeLeaderOrFollower and stopReplicas, before and after the ticket's commit "
        "(November 2012)",
    ),
    Ticket(
        key="KAFKA-1188",
        title="the leader alone learns that an ISR has shrunk",
        since="0.8.0",
        last="0.8.0",
        until=("0.8.1",),
        happened="When the controller took a dead broker out of an ISR it wrote the next leader epoch, and told the "
        "leader only. The followers stayed an epoch behind: at the next failover they took the same leader for a "
        "new one, stopped, and truncated their logs.",
        here="LeaderAndIsr goes to the leader alone when the controller shrinks an ISR. Followers that name their "
        "epoch (KIP-320) are then refused for ever. The checker sees that they do not come back into the ISR.",
        checker="converged",
        policies={"controller.replicas.told_of_shrunk_isr": leader_only},
        source="ReplicaStateMachine.handleStateChange, 0.8.0 and 0.8.1",
    ),
    Ticket(
        key="KAFKA-7482",
        title="a broker that is shutting down is not told that it no longer leads",
        last="2.0",
        until=("2.1.0",),
        happened="During a controlled shutdown the controller sent LeaderAndIsr to live brokers only, and did not "
        "count the broker that was shutting down as live. That broker led on until its process ended. Its followers "
        "fetched from the new leaders by then, so writes with acks=all waited at it until they timed out.",
        here="The elections of a controlled shutdown are announced to the brokers that stay. The checker sees a "
        "live replica that is sent no LeaderAndIsr after an election.",
        checker="replicas_notified",
        policies={"controller.selectors.controlled_shutdown": CONTROLLED_SHUTDOWN_AMONG_LIVE},
        differences=(
            Difference(
                title="a controlled shutdown gives leadership to",
                before="the first assigned replica that is alive and in the ISR",
                here="the first assigned replica that is alive and in the ISR; the broker that shuts down gets no "
                "LeaderAndIsr",
            ),
        ),
        effects=(
            Effect(
                text="a broker in its controlled shutdown gets no LeaderAndIsr for the leaderships that it gives up",
                checkers=("replicas_notified",),
            ),
        ),
        witness="KAFKA-7482",
        source="PartitionStateMachine.doElectLeaderForPartitions and leaderForControlledShutdown, 2.0.0 and 2.1.0",
    ),
    Ticket(
        key="KAFKA-1681",
        title="a new controller does not begin the deletions that are asked for",
        since="0.8.1",
        last="0.8.1",
        until=("0.8.2.0",),
        happened="A controller that took over found the topics to be deleted in ZooKeeper, queued them, and did not "
        "wake the thread that deletes. They stayed until something else woke it, such as the next request or a "
        "broker that started.",
        here="A new controller queues the deletions and does not begin them. The checker sees a request for a "
        "deletion that stays in ZooKeeper.",
        checker="converged",
        policies={"controller.resumes_deletions": False},
        trigger="a controller that is replaced within milliseconds of a request for a deletion, and no broker "
        "that starts after that",
        source="TopicDeletionManager.start, 0.8.1.1 and 0.8.2.0",
    ),
    Ticket(
        key="KAFKA-6650",
        title="a topic that is half deleted cannot be deleted by the next controller",
        last="1.1",
        until=("2.0.0",),
        happened="A controller deletes the znodes of a topic one after the other. When it failed in between, its "
        "successor found partitions without a leader and ISR, and refused to take their replicas offline; a replica "
        "that is not offline cannot be deleted. The topic stayed, marked for deletion, until its znodes were "
        "removed by hand (KAFKA-2937 is an earlier form).",
        here="A replica of a partition that has no state znode does not go offline. The checker sees a request for "
        "a deletion that stays in ZooKeeper.",
        checker="converged",
        policies={"controller.replicas.leaderless_go_offline": False},
        differences=(
            Difference(
                title="a replica of a partition that never had a leader",
                before="goes offline like any other, so that its topic can be deleted",
                here="never goes offline: its topic cannot be deleted",
            ),
        ),
        effects=(
            Effect(
                text="replicas of partitions that never had a leader do not go offline, and so their topic is never "
                "deleted",
                checkers=("converged",),
                parts=("NOTHING_ASKED", "LED"),
            ),
        ),
        witness="KAFKA-6650",
        source="ReplicaStateMachine.doHandleStateChanges, 1.1.1 and 2.0.0",
    ),
    Ticket(
        key="KAFKA-1742",
        title="a controller remembers the leaders of a topic that is gone",
        until=("0.8.2.0",),
        affected="0.8.2 during its development, and 0.8.1; fixed in 0.8.2.0",
        happened="Meant to drop a deleted topic from two maps, the code dropped entries only as long as they came "
        "first in the map (dropWhile instead of filter). The leaders of deleted topics stayed in the controller's "
        "memory, and were counted as offline.",
        here="The memory keeps the leaders of deleted topics; OfflinePartitionsCount goes by leaders, as it did "
        "until 1.1. The checker sees more offline partitions than there are.",
        checker="offline_true",
        also=("counts_true",),
        policies={"controller.keeps_deleted_leaders": True, "controller.is_offline": is_offline_by_leader},
        source="ControllerContext.removeTopic, 0.8.1.1 and 0.8.2.0",
    ),
    Ticket(
        key="KAFKA-9946",
        title="a topic counts as deleted before its replicas are",
        until=("2.6.0",),
        affected="2.6 during its development; fixed in 2.6.0",
        happened="A deletion sends each replica two StopReplica, one that keeps it and one that deletes it. When "
        "the deletion flag moved from the request to its partitions (KIP-570), the controller took the answer to "
        "the first for that of the second: it deleted the znodes of the topic while the replicas were still there, "
        "and could not be deleted any more if that failed. Found by its author before the release.",
        here="The answer to a StopReplica that keeps replicas counts like that of one that deletes them. The "
        "checker sees a topic that is forgotten before its replicas are deleted.",
        checker="replicas_deleted_first",
        also=("answers_taken",),
        policies={"controller.counts_kept_as_deleted": True},
        source="AbstractControllerBrokerRequestBatch.sendStopReplicaRequests, before and after the ticket's commit "
        "(May 2020)",
    ),
    Ticket(
        key="KAFKA-6612",
        title="partitions that are added to a topic while it is deleted stay in its znode",
        last="1.1",
        until=("2.0.0",),
        happened="A deletion that waits for a broker can last for days. The controller passed over partitions that "
        "were added meanwhile, and left them in the topic's znode. Its successor found them there without a leader, "
        "and could not take their replicas offline (KAFKA-6650): the deletion never ended.",
        here="Partitions that are added to a topic while it is deleted stay in its znode, and the next controller has "
        "to delete them, too. As in the releases that had this one, KAFKA-6650 is there as well, so it cannot: the "
        "checker sees a request for a deletion that stays in ZooKeeper.",
        checker="converged",
        policies={"controller.restores_deleting": False, "controller.replicas.leaderless_go_offline": False},
        differences=(
            Difference(
                title="partitions that are added to a topic while it is deleted",
                before="are taken out of its znode again",
                here="stay in its znode",
                policies={"controller.restores_deleting": False},
            ),
        ),
        effects=(
            Effect(
                text="partitions that are added to a topic while it is deleted stay in its znode, and the controller "
                "does not know them",
                checkers=("controller_remembers",),
            ),
        ),
        source="KafkaController.PartitionModifications, 1.1.1 and 2.0.0; DeleteTopicTest, 2.0.0",
    ),
    Ticket(
        key="Election.leaderForOffline (2.3.1 to 2.7.2)",
        title="a broker in its controlled shutdown gets no LeaderAndIsr when a partition without a leader, or a new "
        "one, gets one",
        effects=(Effect(checkers=("replicas_notified",)),),
        witness="Election.leaderForOffline",
    ),
    Ticket(
        key="KIP-380",
        title="a broker that has been restarted remembers no controller epoch, and obeys a controller that has been "
        "replaced",
        until=("2.2.0",),
        policies={"controller.broker_epochs": False},
        effects=(Effect(checkers=("append_shape",)),),
    ),
    Ticket(
        key="KAFKA-1120",
        title="a broker that is gone and back before the controller looks at /brokers/ids gets neither LeaderAndIsr "
        "nor all metadata",
        until=("2.2.0",),
        policies={"controller.broker_epochs": False},
        effects=(
            Effect(
                checkers=("roles_adopted", "replicas_notified", "metadata_kept", "converged"), parts=("LED", "IN_SYNC")
            ),
            Effect(
                text="a broker that ends its controlled shutdown and is back before the controller looks at "
                "/brokers/ids shuts down for ever in the controller's memory, and is neither elected nor moved to",
                checkers=("led_in_time", "converged"),
                parts=("LED", "NOTHING_ASKED"),
            ),
            Effect(
                text="a broker that is gone and back before the controller looks at /brokers/ids is not told who lives",
                checkers=("broker_remembers",),
            ),
            Effect(
                text="a broker that is gone and back before the controller looks at /brokers/ids has its failed log "
                "directories for ever in the controller's memory, and in the metadata that this sends",
                checkers=("controller_remembers", "broker_remembers"),
            ),
            Effect(
                text="a broker that ends its controlled shutdown and is back before the controller looks at "
                "/brokers/ids has replicas that are offline for ever in the controller's memory",
                checkers=("controller_remembers",),
            ),
            Effect(
                text="a topic is not deleted while the controller remembers failed log directories of a broker that is "
                "gone and back before it looks at /brokers/ids",
                checkers=("converged",),
                parts=("NOTHING_ASKED", "LED"),
            ),
        ),
    ),
    Ticket(
        key="PartitionStateMachine.initializeLeaderAndIsrForPartitions (0.8.0 to 3.9)",
        title="a controller whose connection to ZooKeeper is lost with the answer to its first write of a partition's "
        "state finds the state as it tries again, and takes the partition for new: no broker is sent its leader until "
        "another controller is elected",
        effects=(
            Effect(
                checkers=(
                    "controller_remembers",
                    "metadata_kept",
                    "metadata_follows",
                    "replicas_notified",
                    "roles_adopted",
                    "converged",
                ),
                parts=("LED", "IN_SYNC"),
            ),
            Effect(
                text="the same: its gauges, and the metadata that it sends of the topic, leave the partition out",
                checkers=("counts_true", "steps_done"),
            ),
        ),
    ),
    Ticket(
        key="MetadataCache.updateMetadata (0.8.0 to 2.7.2)",
        title="a broker takes any metadata, also from before what it knows: an UpdateMetadata that was stuck on a "
        "connection which the controller had given up takes back what a later one said",
        effects=(
            Effect(checkers=("metadata_kept",)),
            Effect(
                text="the same: it goes on with the replicas, ISRs and live brokers from before",
                checkers=("broker_remembers",),
            ),
        ),
    ),
    Ticket(
        key="KAFKA-13572",
        title="PreferredReplicaImbalanceCount falls below the truth, and below zero, when a topic is deleted while "
        "another one waits for its deletion",
        since="2.7.0",
        last="3.2.0",
        until=("3.2.1", "3.3.0"),
        policies={"controller.discounts_queued_again": True},
        differences=(
            Difference(
                title="PreferredReplicaImbalanceCount, when a topic is deleted while another one waits for its "
                "deletion,",
                before="leaves both out",
                here="falls by the partitions of the one that waits, whose leader is gone: it can be below zero, until "
                "another controller counts",
            ),
        ),
        effects=(Effect(checkers=("times_true",)),),
        source="ControllerContext.queueTopicDeletion, 2.7.0 to 3.2.1",
    ),
)
