"""Kafka 3.9 (3.9.1) with ZooKeeper, the last: min.insync.replicas holds the high watermark (KAFKA-15583)."""

from scenarios.profiles.profile import Difference, api_versions
from scenarios.profiles.releases.kafka_3_6 import PROFILE as KAFKA_3_6
from scenarios.profiles.tickets import differences

RELEASE = "3.9.1"
PROFILE = KAFKA_3_6.with_differences(
    *differences(KAFKA_3_6, RELEASE),
    Difference(
        title="while fewer replicas than min.insync.replicas are in sync, the high watermark",
        before="goes on: consumers read what was produced with acks=1",
        here="stays where it is: consumers read it once enough replicas are in sync",
        source="KAFKA-15583, 3.7",
        policies={"brokers.high_watermark_needs_min_isr": True},
    ),
    Difference(
        title="min.insync.replicas above the number of replicas of a partition",
        before="refuses every acks=all (NOT_ENOUGH_REPLICAS), and shows it as UnderMinIsr",
        here="counts as the number of its replicas",
        source="KAFKA-15583, 3.7",
        policies={"brokers.caps_min_isr": True},
    ),
    Difference(
        title="a rate of a throttle that is set for all brokers",
        before="has no effect",
        here="holds at each broker that has none of its own",
        source="KAFKA-10190, 3.9",
        policies={"brokers.rates_of_all": True},
    ),
    Difference(
        title="a negative time that has no meaning in a client's version of ListOffsets",
        before="is answered with no offset, or has the meaning of a later version",
        here="is refused (UNSUPPORTED_VERSION)",
        source="KAFKA-17331, 3.9",
        policies={"brokers.refuses_unknown_times": True},
    ),
    Difference(
        title="a question for the groups in some states (ListGroups)",
        before="has to spell the states as Kafka does",
        here="may spell them in any case",
        source="KAFKA-16095, 3.8",
        policies={"brokers.groups.states_in_any_case": True},
    ),
    Difference(
        title="a log that is copied to another directory while its leader epoch changes",
        before="is neither compacted nor deleted from any more, until the broker starts again",
        here="is compacted, and deleted from, once the copy has taken its place",
        source="KAFKA-16709, 3.8",
        policies={"brokers.log_rules.pauses_once": True},
    ),
    Difference(
        title="a group's coordinator that gets the offsets of a transaction",
        before="writes them, also late ones of a transaction that is over",
        here="asks the transaction's coordinator first",
        source="KAFKA-15449, 3.7",
        policies={"brokers.transactions.verifies_offsets": True},
    ),
    Difference(
        title="a client whose transaction is not verified, as its coordinator does not answer,",
        before="gets NETWORK_EXCEPTION",
        here="gets an error that older clients know to be a passing one, too (NOT_ENOUGH_REPLICAS, for offsets "
        "COORDINATOR_LOAD_IN_PROGRESS)",
        source="KAFKA-16386, 3.7.1",
        policies={"brokers.transactions.hides_network_errors": True},
    ),
    Difference(
        title="a client of 3.8 that writes to a partition which is not in its transaction",
        before="gets INVALID_TXN_STATE, after which it cannot go on",
        here="gets TRANSACTION_ABORTABLE: it can abort and go on",
        source="KAFKA-16314, 3.8",
        policies={"brokers.transactions.knows_abortable": True},
    ),
    Difference(
        title="kafka-reassign-partitions --cancel of a move that only adds replicas",
        before="cancels it",
        here="does nothing",
        source="ReassignPartitionsCommand.cancelAssignment, 3.7.0, 3.8.0 and 3.9.0",
        policies={"tool_keeps_widenings": True},
    ),
    api_versions(
        RELEASE,
        "3.9.1: as in 3.6, and Produce 11 and Fetch 17, which name leaders (KIP-951), "
        "OffsetCommit 9, OffsetFetch 9, FindCoordinator 5, DescribeCluster 1",
        "KIP-951, KIP-848 and KIP-890, 3.7 and 3.8",
    ),
    name="kafka-3.9",
    release=RELEASE,
    help="3.9: kafka-3.6 with a high watermark that min.insync.replicas holds (KAFKA-15583)",
    leaves_out=(
        *KAFKA_3_6.leaves_out,
        "the samples of quotas (SampledStat, 3.8): they end as up to 3.7",
        "the leader in the answers to emulated producers and consumers (KIP-951, 3.7); real clients get it",
        "the migration to KRaft (KIP-866), and what it added to control requests",
    ),
)
