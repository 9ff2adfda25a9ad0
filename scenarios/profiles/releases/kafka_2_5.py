"""Kafka 2.5 (2.5.1)."""

from emulator.protocol.errors import Errors
from emulator.protocol.produce import KeylessRecords
from scenarios.profiles import release_metrics
from scenarios.profiles.profile import Difference, api_versions, message_format
from scenarios.profiles.releases.kafka_2_4 import PROFILE as KAFKA_2_4
from scenarios.profiles.tickets import differences

RELEASE = "2.5.1"
PROFILE = KAFKA_2_4.with_differences(
    *differences(KAFKA_2_4, RELEASE),
    Difference(
        title="a record without a key, for a compacted topic,",
        here="is refused with INVALID_RECORD, and each such record is named, with the reason",
        source="LogValidator.processRecordErrors, 2.5",
        policies={"brokers.keyless_records": KeylessRecords(Errors.INVALID_RECORD, names_all=True)},
    ),
    Difference(
        title="Metadata of a partition whose leader is not alive shows, of the leader epoch,",
        before="none",
        here="the last one",
        source="KAFKA-9261, 2.5",
        policies={"brokers.shows_epoch_of_leaderless": True},
    ),
    Difference(
        title="a fetch of a client with a small quota",
        before="may never get records: each answer is larger than the quota lets pass",
        here="gets no more than the quota lets pass in its window",
        source="KAFKA-9677, 2.5",
        policies={"brokers.fetches_fit_quota": True},
    ),
    Difference(
        title="the leader epoch that a reader knows is held against that of the leader",
        before="in the first request of a session; a follower that knows no new epoch goes on reading",
        here="in every request",
        source="KAFKA-9338, 2.5",
        policies={"brokers.sessions_keep_epochs": True},
    ),
    Difference(
        title="an idempotent producer whose batches the leader does not know (any more)",
        before="gets UNKNOWN_PRODUCER_ID unless it begins with sequence number 0",
        here="goes on with any sequence number",
        source="KIP-360, 2.5",
        policies={"brokers.admits_unknown_producers": True},
    ),
    Difference(
        title="a consumer that asks for its offset while a transaction is committing another",
        before="gets the one before",
        here="has to ask again (UNSTABLE_OFFSET_COMMIT)",
        source="KIP-447, 2.5",
        policies={"brokers.groups.unstable_offsets_wait": True},
    ),
    Difference(
        title="a marker of a transaction that a leader answers with KAFKA_STORAGE_ERROR",
        before="is lost, and the transaction ends when its coordinator moves",
        here="is sent again",
        source="KAFKA-9749, 2.5",
        policies={"brokers.transactions.retries_storage_errors": True},
    ),
    Difference(
        title="DescribeConfigs, asked for the rates of throttles,",
        before="withholds them, as what may be a password",
        here="shows them",
        source="KAFKA-9625, 2.5",
        policies={"brokers.admin.shows_rates": True},
    ),
    Difference(
        title="an answer to Fetch",
        before="has as many bytes as its reader allows",
        here="has no more than the broker's fetch.max.bytes",
        source="KIP-541, 2.5",
        policies={"brokers.caps_fetches": True},
    ),
    Difference(
        title="a static member of a consumer group that joins again before the leader has assigned",
        before="keeps its generation, and gets no assignment under its new member id",
        here="starts the rebalance again",
        source="KAFKA-9801, 2.5",
        policies={"brokers.groups.static_member_rebalances": True},
    ),
    api_versions(
        RELEASE,
        "2.5.1: a transactional producer raises its epoch after such an error and goes on (KIP-360, "
        "InitProducerId 3), and may commit no offsets for such members (KIP-447, TxnOffsetCommit 3)",
        "KIP-360 and KIP-447, 2.5",
    ),
    message_format("2.5-IV0"),
    name="kafka-2.5",
    release=RELEASE,
    help="2.5: kafka-2.4 with longer timeouts (KIP-537)",
    defaults={
        "message.max.bytes": 1_048_588,
        "replica.lag.time.max.ms": 30_000,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 10_000,
    },
    session_timeout_us=18_000_000,
    gains_metrics=release_metrics.SINCE_2_5,
)
