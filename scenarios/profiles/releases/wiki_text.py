"""The controller page as it is written. Where Kafka's code does it in another way, the text of the page counts."""

from controller.reassignment.wiki import old_then_new, target_only
from controller.state_machines.leader_election_algorithms import CONTROLLED_SHUTDOWN_AMONG_LIVE
from controller.state_machines.rules import FOUR_STATES
from scenarios.profiles.profile import Difference
from scenarios.profiles.releases.kafka_2_3 import PROFILE as KAFKA_2_3

PROFILE = KAFKA_2_3.with_differences(
    Difference(
        title="the states of a replica are",
        before="seven, three of them for deletion",
        here="four",
        source="controller page; topic deletion, 0.8.1",
        policies={
            "controller.replicas.predecessors": FOUR_STATES.predecessors,
            "controller.replicas.deletion": FOUR_STATES.deletion,
            "controller.replicas.unreachable": FOUR_STATES.unreachable,
        },
    ),
    Difference(
        title="when the controller removes a replica from an ISR, it sends LeaderAndIsr",
        before="to all replicas but the removed one",
        here="to the leader",
        source="controller page; Kafka's code, 1.1",
        policies={"controller.replicas.told_of_shrunk_isr": FOUR_STATES.told_of_shrunk_isr},
    ),
    Difference(
        title="replicas of several brokers that go offline leave an ISR in the order",
        before="of Kafka's `groupBy` (2, 1, 0)",
        here="of the list (0, 1, 2)",
        source="controller page; Kafka's code, 1.1",
        policies={"controller.replicas.broker_order": FOUR_STATES.broker_order},
    ),
    Difference(
        title="step 1 of `wiki` writes",
        before="the target, then the old replicas; more than four in the order of Scala's hashes",
        here="the old replicas, then the new ones",
        source="controller page",
        policies={"wiki.widened": old_then_new},
    ),
    Difference(
        title="a new controller",
        here="leaves dead replicas in their ISRs",
        source="controller page",
        policies={"controller.replicas.shrink_at_failover": False},
    ),
    Difference(
        title="a controlled shutdown gives leadership to",
        here="the first assigned replica that is alive and in the ISR; the broker that shuts down gets no LeaderAndIsr",
        source="controller page",
        policies={"controller.selectors.controlled_shutdown": CONTROLLED_SHUTDOWN_AMONG_LIVE},
    ),
    Difference(
        title="step 7 of `wiki`, where the leader stays, sends LeaderAndIsr",
        before="to old and new replicas",
        here="to the replicas of the new list",
        source="controller page; Kafka's code, 0.8.1",
        policies={"wiki.recipients_in_step_7": target_only},
    ),
    Difference(
        # A raised epoch goes to the leader alone: no other replica could fetch under it.
        title="a reader that knows another leader epoch than the replica",
        here="may read",
        source="controller page",
        policies={"brokers.checks_epochs": False},
    ),
    name="wiki-text",
    help="kafka-2.3 with step 7's recipients and the replica states as the wiki page has them",
)
