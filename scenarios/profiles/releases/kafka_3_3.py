"""Kafka 3.3 (3.3.2) with ZooKeeper: AlterPartition, which is refused for what it must not change (KIP-841)."""

from brokers.partition.isr import ByController
from scenarios.profiles.profile import Difference, api_versions
from scenarios.profiles.releases.kafka_3_0 import PROFILE as KAFKA_3_0
from scenarios.profiles.tickets import differences

RELEASE = "3.3.2"
PROFILE = KAFKA_3_0.with_differences(
    *differences(KAFKA_3_0, RELEASE),
    Difference(
        title="tombstones and the markers of transactions stay in a compacted log",
        before="until the part of the log that is compacted has changed delete.retention.ms after their segment",
        here="for delete.retention.ms after they were first compacted",
        source="KIP-534, 3.1",
        policies={"brokers.log_rules.sets_delete_horizons": True},
    ),
    Difference(
        title="a leader changes its ISR",
        here="as in 3.0; the answer moves the high watermark at once, and a leader that is refused for a reason that "
        "may pass asks again",
        source="KAFKA-13091, 3.1; KAFKA-14010, 3.2.1",
        policies={
            "brokers.isr_writes": ByController(
                at_once=True, awaits_answers=True, outcome_moves_high_watermark=True, asks_again=True
            )
        },
    ),
    Difference(
        title="an ISR that the controller cannot write because its session has expired",
        before="is refused with the whole request, which is sent again",
        here="is refused for its partition alone, and asked for again",
        source="KafkaZkClient.updateLeaderAndIsr, 3.3.2; KAFKA-14010, 3.2.1",
        policies={"controller.refuses_isrs_singly": True},
    ),
    Difference(
        title="the failure of a broker or of a log directory brings an UpdateMetadata of its own",
        before="where every partition has a live leader",
        here="where no replica has gone offline and no leader was elected: else their UpdateMetadata say it",
        source="KAFKA-13225, 3.1",
        policies={"controller.skips_needless_metadata": True},
    ),
    Difference(
        title="the state znode of a leader that was not in the ISR, and its LeaderAndIsr,",
        before="say nothing of it",
        here="say that it recovers (`leader_recovery_state`), until it changes its ISR",
        source="KIP-704: KAFKA-13587, 3.2",
        policies={"controller.marks_recovering": True},
    ),
    Difference(
        title="a leader that asks for an ISR and has another leader epoch, or another version, than the controller",
        before="is refused where its leader epoch is earlier, and else when ZooKeeper refuses the write",
        here="is refused at once, but gets what is there already; where it is ahead of the controller, it looks for "
        "another one",
        source="KAFKA-14144 and KAFKA-14154, 3.3",
        policies={"controller.fences_isrs": True},
    ),
    Difference(
        title="an ISR with a broker that is not alive, or shuts down,",
        before="is written",
        here="is refused by the controller (INELIGIBLE_REPLICA); a leader does not ask for a broker that its metadata "
        "does not show as alive",
        source="KIP-841: KAFKA-14140, 3.3",
        policies={"controller.refuses_dead_in_isr": True, "brokers.isr_needs_live": True},
    ),
    Difference(
        title="a follower that is not assigned, as far as the leader knows,",
        before="gets no records, and no error",
        here="is refused (UNKNOWN_LEADER_EPOCH), and tries again",
        source="KAFKA-13837 and KAFKA-14078, 3.3",
        policies={"brokers.refuses_unassigned": True},
    ),
    Difference(
        title="a real consumer that waits at a follower for records",
        before="waits for its time to be over",
        here="is answered when the follower learns a later high watermark",
        source="KAFKA-14334, 3.3.2",
        policies={"brokers.learned_high_watermark_completes_fetches": True},
    ),
    Difference(
        title="a commit without a generation to an empty group",
        here="is accepted, whichever member it names, as up to 2.8",
        source="KAFKA-14201, 3.3",
        policies={"brokers.groups.empty_validates_members": False},
    ),
    Difference(
        title="a member of a consumer group that joins again with other timeouts",
        before="keeps those of its first JoinGroup",
        here="has them from then on",
        source="KAFKA-14009, 3.3.2",
        policies={"brokers.groups.rejoining_sets_timeouts": True},
    ),
    Difference(
        title="a change of settings that names a resource twice, that a topic cannot have, or that appends to a list",
        before="is made twice; is refused with INVALID_REQUEST; appends what is there already once more",
        here="is refused; is refused with INVALID_CONFIG; appends what is not there",
        source="KAFKA-13552, 3.2; KAFKA-13862 and KAFKA-13899, 3.3",
        policies={"brokers.admin.checks_resources": True},
    ),
    Difference(
        title="a topic that is created again",
        before="is refused while its znode is there",
        here="is refused until /admin/delete_topics has its name no more, which is deleted last",
        source="KAFKA-13175, 3.1",
        policies={"brokers.admin.refuses_marked": True},
    ),
    api_versions(
        RELEASE,
        "3.3.2: as in 3.0, and topic ids (Metadata 12, Fetch 13), reasons to join and leave (JoinGroup 9, "
        "LeaveGroup 5), DescribeLogDirs 4",
        "KIP-800, 3.2; KIP-827, 3.3",
    ),
    name="kafka-3.3",
    release=RELEASE,
    help="3.3: kafka-3.0 with ISRs of live brokers only (KIP-841)",
    leaves_out=(
        *KAFKA_3_0.leaves_out,
        "topic ids in fetches between brokers (KAFKA-10580, KAFKA-13102, 3.1), and in AlterPartition",
        "the metrics ActiveBrokerCount, FencedBrokerCount and PartitionsWithLateTransactionsCount (3.1, 3.2)",
    ),
)
