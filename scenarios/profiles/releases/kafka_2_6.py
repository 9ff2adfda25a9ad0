"""Kafka 2.6: StopReplica with leader epochs (KIP-570)."""

from controller.operations.rebalance import preferred_could_lead
from scenarios.profiles.profile import SCALA_2_13, Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_4 import LOGGERS as LOGGERS_OF_2_4
from scenarios.profiles.releases.kafka_2_5 import PROFILE as KAFKA_2_5
from scenarios.profiles.tickets import differences

RELEASE = "2.6.3"
STATE_CHANGES = "state.change.logger"
LOGGERS = tuple((name, "INFO" if name == STATE_CHANGES else level) for name, level in LOGGERS_OF_2_4)
"""The loggers of config/log4j.properties, 2.6."""
PROFILE = KAFKA_2_5.with_differences(
    *differences(KAFKA_2_5, RELEASE),
    Difference(
        title="a real client that asks a broker for its loggers, or changes their levels (BROKER_LOGGER),",
        here="sees and changes those of config/log4j.properties, which has state.change.logger at INFO by then",
        source="config/log4j.properties, 2.6.0",
        policies={"brokers.loggers": LOGGERS},
    ),
    Difference(
        title="a StopReplica without deletion, for a replica whose log directory is offline,",
        before="succeeds",
        here="is refused (KAFKA_STORAGE_ERROR)",
        source="KIP-570, 2.6",
        policies={"brokers.stop_refuses_offline": True},
    ),
    Difference(
        title="a reader that needs no leader asks a broker without a replica",
        before="REPLICA_NOT_AVAILABLE",
        here="NOT_LEADER_FOR_PARTITION",
        source="KAFKA-10223, 2.6",
        policies={"brokers.sends_any_reader_on": True},
    ),
    Difference(
        title="auto rebalance elects the preferred replica",
        before="if it is alive",
        here="if it is alive and in sync",
        source="KAFKA-9866, 2.6",
        policies={"controller.auto_rebalance.eligible": preferred_could_lead},
    ),
    Difference(
        title="a request to change settings that leaves out a value, or appends to a list that was not set,",
        before="fails (UNKNOWN_SERVER_ERROR)",
        here="is refused (INVALID_REQUEST); changes the list's default",
        source="KAFKA-9644 and KAFKA-9695, 2.6",
        policies={"brokers.admin.knows_missing_settings": True},
    ),
    Difference(
        title="a producer of before 2.3 that commits offsets while their coordinator reads its log gets",
        before="COORDINATOR_LOAD_IN_PROGRESS, which it does not know",
        here="COORDINATOR_NOT_AVAILABLE",
        source="KAFKA-9656, 2.6",
        policies={"brokers.groups.hides_loading": True},
    ),
    Difference(
        title="replicas of several brokers that go offline leave an ISR in the order",
        here="of the hashes of the brokers' ids (0, 1, 2), as Scala 2.13 has them; so have ISRs of more than four, and "
        "moves that begin together. `cluster.scala` asks for the build for Scala 2.12",
        source="KAFKA-9907, 2.6",
        policies={"scala": SCALA_2_13},
    ),
    Difference(
        title="a follower's fetch that waits at the leader is answered",
        here="when there are records",
        source="KAFKA-9952, 2.6",
        policies={"brokers.high_watermark_completes_fetches": False},
    ),
    Difference(
        title="a transaction is ended",
        before="also with a higher epoch than that of its producer",
        here="with the epoch of its producer alone",
        source="KAFKA-9600, 2.6",
        policies={"brokers.transactions.end_needs_same_epoch": True},
    ),
    Difference(
        title="a coordinator aborts a transaction that has lasted too long, and fences its producer",
        before="with an epoch that it raises at each attempt, and that in 2.5 the producer gets for its old one",
        here="with one epoch for all attempts, for good",
        source="KAFKA-9666, 2.6",
        policies={"brokers.transactions.fences_once": True},
    ),
    api_versions(RELEASE, "2.6.3: as in 2.5, and StopReplica 3, DescribeConfigs 3", "message definitions of 2.6.3"),
    message_format("2.6-IV0"),
    name="kafka-2.6",
    release=RELEASE,
    help="2.6: kafka-2.5 with leader epochs in StopReplica (KIP-570)",
    tool="api",
)
