"""Bugs of the controller's requests to brokers: late, unordered, or not sent."""

from controller.state_machines.rules import leader_only
from controller.state_machines.selectors import TOLD_TO_LIVE
from scenarios.profiles.bug import Bug

BUGS = (
    Bug(
        ticket="KAFKA-9539",
        title="a StopReplica that arrives late stops a replica that has been started again",
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
        trigger="a StopReplica that is so late that the partition has been moved back when it arrives",
        source="KafkaApis.handleStopReplicaRequest and ReplicaManager.stopReplicas, 2.5.0 and 2.6.0",
    ),
    Bug(
        ticket="KAFKA-1187",
        title="a request to a broker is lost with its connection",
        affected="0.8.0; fixed in 0.8.1",
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
    Bug(
        ticket="KAFKA-532",
        title="brokers obey a controller that was replaced",
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
    Bug(
        ticket="KAFKA-1188",
        title="the leader alone learns that an ISR has shrunk",
        affected="0.8.0; fixed in 0.8.1",
        happened="When the controller took a dead broker out of an ISR it wrote the next leader epoch, and told the "
        "leader only. The followers stayed an epoch behind: at the next failover they took the same leader for a "
        "new one, stopped, and truncated their logs.",
        here="LeaderAndIsr goes to the leader alone when the controller shrinks an ISR. Followers that name their "
        "epoch (KIP-320) are then refused for ever. The checker sees that they do not come back into the ISR.",
        checker="converged",
        policies={"controller.replicas.told_of_shrunk_isr": leader_only},
        source="ReplicaStateMachine.handleStateChange, 0.8.0 and 0.8.1",
    ),
    Bug(
        ticket="KAFKA-7482",
        title="a broker that is shutting down is not told that it leads no longer",
        affected="up to 2.0; fixed in 2.1.0",
        happened="During a controlled shutdown the controller announced the new leaders to live brokers only, and a "
        "broker that is shutting down was none. Until its process ended it went on leading: its followers had left "
        "it, so writes with acks=all waited there until they timed out.",
        here="The elections of a controlled shutdown are announced to the brokers that stay. The checker sees a "
        "live replica that is sent no LeaderAndIsr after an election.",
        checker="replicas_notified",
        policies={"controller.selectors.controlled_shutdown": TOLD_TO_LIVE},
        source="PartitionStateMachine.doElectLeaderForPartitions and leaderForControlledShutdown, 2.0.0 and 2.1.0",
    ),
)
