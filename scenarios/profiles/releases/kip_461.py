"""KIP-461 as it was written; Kafka 2.3 lets such a thread end at the next idle sweep."""

from scenarios.profiles.profile import Difference
from scenarios.profiles.releases.kafka_2_3 import PROFILE as KAFKA_2_3

PROFILE = KAFKA_2_3.with_differences(
    Difference(
        title="a fetcher thread whose partitions have all failed",
        before="ends at the next idle sweep",
        here="ends at once",
        source="KIP-461, 2.3",
        policies={"fetchers.end_thread_when_all_failed": True},
    ),
    name="kip-461",
    help="kafka-2.3 with the KIP's literal rule for a thread whose partitions all failed",
)
