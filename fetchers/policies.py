"""The fetchers' part of a profile. Kafka's configuration names with underscores; times in microseconds."""

from attrs import field, frozen

from emulator.protocol.configs import config
from fetchers.assignment import Assignment, fetcher_id
from fetchers.failures import KIP_461, FailureRule
from fetchers.truncation import Kip279, TruncationRule


@frozen
class FetcherPolicies:
    """Kafka's settings for fetchers, and the rules that differ between releases. The defaults are those of 2.3.

    Attributes:
        assignment: which fetcher id a partition belongs to.
        truncation: where a follower truncates its log.
        out_of_range_drops_log: until 0.9 (KAFKA-2143, 0.10): a follower whose fetch offset is out of the leader's
            range, although its log is no longer than the leader's by now, drops its log and starts at the leader's
            start.
        learns_before_truncating: before KAFKA-14704 (3.5): a follower takes over the high watermark from an answer that
            tells it to truncate, while it still has what it is about to truncate.
        empty_answer_lags: KAFKA-7704 (2.1.1): before, a follower that an answer without records finds at the end showed
            the whole high watermark as its lag.
        idle_lag_unknown: KAFKA-15080 (2.5.0 to 3.5.0): a follower that has fetched no records since its fetcher began
            counts as behind, whatever its leader answers: a throttle holds it back.
        out_of_range_halts: until KAFKA-7414 (2.0.1): a follower whose log is longer than the leader's when its fetch
            offset is out of range ends its broker, since unclean elections are disabled (and are, here, whatever the
            topic says).
        ends_without_partition: KAFKA-8012 (2.1.0 alone): a thread that truncates a partition which was taken from it
            meanwhile ends. Without: it leaves the partition out.
        truncates_late_us: KAFKA-13207 (2.8.1): how long a thread waits for its lock before it truncates where an answer
            says so. Before, it truncated whatever had become of the partition meanwhile; 0: nothing becomes of it.
        names_all_partitions: before KIP-227 (1.1) each fetch named all partitions, and its answer had the high
            watermark of each. Sessions are used all the same; what comes back is then new in the session, and is sent
            its high watermark again.
        failures: the consequence of an error.
        end_thread_when_all_failed: KIP-461's text ends a thread at once when all its partitions have failed; 2.3 ends
            it at the next idle sweep.
    """

    num_replica_fetchers: int = config("num.replica.fetchers", 1, "fetcher threads per source broker", dynamic=True)
    replica_fetch_wait_max_us: int = config(
        "replica.fetch.wait.max.ms", 500, "how long a fetch without data waits at the leader", at_least=0
    )
    replica_fetch_min_bytes: int = config(
        "replica.fetch.min.bytes", 1, "a Fetch is answered at once when this many bytes are there", at_least=0
    )
    replica_fetch_max_bytes: int = config(
        "replica.fetch.max.bytes", 1_048_576, "the largest number of bytes of one partition in a response to Fetch"
    )
    replica_fetch_response_max_bytes: int = config(
        "replica.fetch.response.max.bytes", 10_485_760, "the largest number of bytes in a response to Fetch"
    )
    replica_fetch_backoff_us: int = config(
        "replica.fetch.backoff.ms", 1_000, "how long a partition is not fetched after an error", at_least=0
    )
    replica_socket_timeout_us: int = config(
        "replica.socket.timeout.ms", 30_000, "how long a Fetch may be unanswered before it has failed"
    )
    assignment: Assignment = fetcher_id
    truncation: TruncationRule = field(factory=Kip279)
    out_of_range_drops_log: bool = False
    learns_before_truncating: bool = False
    empty_answer_lags: bool = False
    idle_lag_unknown: bool = False
    out_of_range_halts: bool = False
    ends_without_partition: bool = False
    truncates_late_us: int = 0
    names_all_partitions: bool = False
    failures: FailureRule = KIP_461
    end_thread_when_all_failed: bool = False
