"""Bugs of elections, and of who is in the ISR when a broker dies."""

from controller.state_machines.selectors import HEAD_OF_ISR
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-1028",
        title="the last in-sync replica leaves the ISR when it dies, so that any other may lead",
        affected="up to 0.8.1; fixed in 0.8.2.0",
        happened="When the last in-sync replica died, the controller wrote an ISR without it and elected any replica "
        "that was alive, however far it lagged: committed records were gone, whatever the operator wanted. The ticket "
        "brought unclean.leader.election.enable, and a controller that leaves the last member in the ISR.",
        here="The controller removes the last member from the ISR too, and gives leadership to the first live replica "
        "whatever the settings say. The checker sees a leader that was not in the ISR.",
        checker="unclean_where_allowed",
        also=("leader_in_isr",),
        policies={"controller.replicas.keeps_last_in_isr": False, "controller.selectors.offline": HEAD_OF_ISR},
        source="KafkaController.removeReplicaFromIsr and OfflinePartitionLeaderSelector, 0.8.0 and 0.8.2.0",
    ),
    Bug(
        ticket="KAFKA-708",
        title="a dead broker stays the leader of a partition whose ISR it has left",
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="The controller took a dead replica out of the ISR and left the leader as it was, also where that was "
        "the same broker. The last replica of a partition was then its leader and not in its ISR, which had no "
        "members; brokers could not read a LeaderAndIsr with such an ISR.",
        here="A controller that takes the last replica out of an ISR leaves it the leader. The checker sees a leader "
        "that is not in the ISR.",
        checker="leader_in_isr",
        policies={
            "controller.replicas.keeps_last_in_isr": False,
            "controller.replicas.offline_lead_no_longer": False,
        },
        source="KafkaController.removeReplicaFromIsr and PartitionStateInfo.readFrom, before and after the ticket's "
        "commit (January 2013)",
    ),
    Bug(
        ticket="KAFKA-3143",
        title="a new controller leaves replicas on dead brokers in their ISRs",
        affected="up to 2.2; fixed in 2.3.0",
        happened="A broker died together with the controller, or before the controller had learned of it. The next "
        "controller found the broker dead and changed no ISR, as it never handled the broker's failure as an event. "
        "Gauges showed no under-replicated partition, and the replica counted as in sync when it came back.",
        here="A new controller marks the replicas of dead brokers as offline and leaves their ISRs alone. The checker "
        "sees a replica that comes back in the ISR without records that are committed.",
        checker="isr_complete",
        policies={"controller.replicas.shrink_at_failover": False},
        source="ReplicaStateMachine.startup, 2.2.0 and 2.3.0",
    ),
    Bug(
        ticket="KAFKA-6835",
        title="an unclean election that was allowed for a topic waits for another controller",
        affected="up to 2.0; fixed in 2.1.0",
        happened="An operator whose partition had lost its last in-sync replica switched "
        "unclean.leader.election.enable on for the topic, and nothing happened: the controller reads the setting "
        "when it elects, and it elects when brokers come and go. The way out was to delete /controller.",
        here="A topic's setting has no effect by itself when it is switched on. The checker sees a partition that "
        "stays without a leader.",
        checker="converged",
        policies={"controller.follows_unclean_topics": False},
        trigger="the last in-sync replica lost for good while another lives, and the topic's setting switched on "
        "after that",
        source="KafkaController.enableTopicUncleanLeaderElection and TopicConfigHandler, 2.0.0 and 2.1.0",
    ),
    Bug(
        ticket="KAFKA-6526",
        title="unclean elections that were allowed for all brokers wait for another controller",
        affected="1.1; fixed in 2.0.0",
        happened="unclean.leader.election.enable became a setting that can be changed while brokers run (KIP-226), "
        "and switching it on had no effect on the partitions that were offline, until another controller was "
        "elected.",
        here="The setting of all brokers has no effect by itself when it is switched on. The checker sees a "
        "partition that stays without a leader.",
        checker="converged",
        policies={"controller.follows_unclean_default": False},
        trigger="the last in-sync replica lost for good while another lives, and the setting of all brokers "
        "switched on after that",
        source="KafkaController.enableDefaultUncleanLeaderElection and DynamicLogConfig, 1.1.1 and 2.0.0",
    ),
    Bug(
        ticket="KAFKA-828",
        title="a new controller leaves a request for elections in ZooKeeper that it has carried out",
        affected="0.8.0 during its development; fixed in 0.8.0",
        happened="Preferred elections are asked for in a znode, and the tool makes no other request while it is "
        "there. A controller that found the request when it took over held the elections and left the znode: "
        "preferred elections were over for good, until an operator deleted it.",
        here="A new controller holds the elections that are asked for, and does not delete the request. The checker "
        "sees a request that stays in ZooKeeper.",
        checker="converged",
        policies={"controller.ends_elections_at_failover": False},
        source="KafkaController.onPreferredReplicaElection, before and after the ticket's commit (April 2013)",
    ),
)
