"""What profiles do differently in fetcher threads, in words (``scenarios.profiles.traits``)."""

from fetchers.assignment import fetcher_id
from fetchers.failures import KIP_461, STORAGE_TOLERATED, THREAD_DIES
from fetchers.truncation import Kip101, Kip279, OnFetch, ToHighWatermark
from scenarios.profiles.trait import Trait, either

FETCHER_TRAITS = (
    Trait(
        ("fetchers.truncation",),
        "a follower under a new leader epoch cuts its log",
        lambda rule: {
            ToHighWatermark: "at its high watermark, and asks nobody",
            Kip101: "where the leader says that its latest epoch ends, after one question",
            Kip279: "where leader and follower agree, asking about ever earlier epochs",
            OnFetch: "where the leader says that the logs part, in answer to a fetch",
        }[type(rule)],
        "KIP-101, 0.11; KIP-279, 2.0; KIP-595, inter-broker protocol 2.7-IV1 (the follower's code: 2.8.0)",
    ),
    Trait(
        ("fetchers.out_of_range_drops_log",),
        "a follower out of the leader's range whose log is by now the shorter one",
        either("drops its log and begins at the leader's start", "keeps its log"),
        "KAFKA-2143, 0.10",
    ),
    Trait(
        ("fetchers.assignment",),
        "with several fetchers, a partition's is found by",
        either(
            "`abs(31 * hash(topic) + partition)`",
            "`hash(topic) + 31 * partition`, which may be below zero: there are up to twice as many threads",
            lambda assignment: assignment is fetcher_id,
        ),
        "Kafka's code, 0.8.0 and 0.8.1",
    ),
    Trait(
        ("fetchers.failures", "brokers.disk_errors_halt"),
        "a partition whose fetcher meets an error",
        {
            KIP_461: "fails, and the thread goes on with the others",
            STORAGE_TOLERATED: "is tried again if its disk refused; any other error ends the thread silently",
            THREAD_DIES: "ends the thread silently; if its disk refused, the broker",
        }.__getitem__,
        "KIP-461, 2.3; KIP-112, 1.0",
    ),
    Trait(
        ("fetchers.end_thread_when_all_failed",),
        "a fetcher thread whose partitions have all failed",
        either("ends at once", "ends at the next idle sweep"),
        "KIP-461, 2.3",
    ),
)
