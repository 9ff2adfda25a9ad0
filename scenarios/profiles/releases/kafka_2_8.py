"""Kafka 2.8 (2.8.2) with ZooKeeper: topics have ids (KIP-516)."""

from brokers.partition.isr import ByController
from controller.state_machines.rules import as_in_set
from emulator.protocol.scala_order import SCALA_2_12_13
from scenarios.profiles.profile import Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_7 import PROFILE as KAFKA_2_7
from scenarios.profiles.tickets import differences

RELEASE = "2.8.2"
PROFILE = KAFKA_2_7.with_differences(
    *differences(KAFKA_2_7, RELEASE),
    Difference(
        title="the topics' znodes have",
        here="version 3, with an id for each topic; LeaderAndIsr and UpdateMetadata name it, and a broker refuses a "
        "LeaderAndIsr for the log of another topic of that name (INCONSISTENT_TOPIC_ID), but not the first one after "
        "its start",
        source="KIP-516: KAFKA-10545, KAFKA-12332 and KAFKA-12835, 2.8",
        policies={"controller.topic_znodes": 3},
    ),
    Difference(
        title="in the build for Scala 2.12, replicas of several brokers that go offline leave an ISR in the order",
        before="of a hash table (2, 1, 0)",
        here="of the list (0, 1, 2) up to four brokers; where a topic is deleted, of a set of its replicas",
        source="Scala 2.12.13: TraversableLike.groupBy, in ReplicaStateMachine.handleStateChanges",
        policies={"scala_2_12": SCALA_2_12_13, "controller.replicas.order_in_topic": as_in_set},
    ),
    Difference(
        title="a leader changes its ISR",
        here="through the controller (AlterIsr), as soon as none of its broker's requests is in flight; until it "
        "answers, the larger set counts",
        source="DefaultAlterIsrManager, 2.8",
        policies={"brokers.isr_writes": ByController(at_once=True)},
    ),
    Difference(
        title="a throttle that comes with a move, while others are under way,",
        before="forgets the followers of the others",
        here="limits the followers of the others, too",
        source="KAFKA-10779, 2.8",
        policies={"tool_heeds_moves": True},
    ),
    Difference(
        title="members of a consumer group that do not sync within the rebalance timeout",
        before="stay, as long as they send heartbeats: the group waits for a leader that does not assign",
        here="are removed, and the group rebalances",
        source="KAFKA-12890, 2.8.1",
        policies={"brokers.groups.syncs_time_out": True},
    ),
    Difference(
        title="while a consumer group rebalances, offsets of topics that no member subscribes to any more",
        before="expire, where they do at all",
        here="are kept",
        source="KAFKA-13636, 2.8.2",
        policies={"brokers.groups.rebalance_keeps_offsets": True},
    ),
    Difference(
        title="readers of committed records",
        before="get also the aborted transactions that have no record in the partition",
        here="get only the aborted transactions that have a record in the partition",
        source="KAFKA-10702, 2.8",
        policies={"brokers.log_rules.skips_empty_transactions": True},
    ),
    Difference(
        title="the quotas of addresses (`ip`, connection_creation_rate)",
        before="are not known",
        here="are kept and shown",
        source="KIP-612, 2.8",
        policies={"brokers.admin.limits_addresses": True},
    ),
    Difference(
        title="a real client that asks for an internal topic which does not exist, and for no creation,",
        before="has it created; a name that no topic can have is UNKNOWN_TOPIC_OR_PARTITION",
        here="gets UNKNOWN_TOPIC_OR_PARTITION; a name that no topic can have is INVALID_TOPIC_EXCEPTION",
        source="KAFKA-9751: KafkaApis.getTopicMetadata, 2.8",
        policies={"brokers.internal_topics_need_leave": True},
    ),
    api_versions(
        RELEASE,
        "2.8.2: as in 2.7, and topic ids (Metadata 10, CreateTopics 7, DeleteTopics 6), DescribeCluster",
        "KIP-516 and KIP-700, 2.8",
    ),
    message_format("2.8-IV1"),
    name="kafka-2.8",
    release=RELEASE,
    help="2.8: kafka-2.7 with topic ids (KIP-516)",
    leaves_out=(
        "KAFKA-9751: while a topic is being created for one Metadata request, another one for it is answered as in 2.7",
    ),
)
