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
        failures: the consequence of an error.
        end_thread_when_all_failed: KIP-461's text ends a thread at once when all its partitions have failed; 2.3 ends
            it at the next idle sweep.
    """

    num_replica_fetchers: int = config("num.replica.fetchers", 1, "fetcher threads per source broker", dynamic=True)
    replica_fetch_wait_max_us: int = config(
        "replica.fetch.wait.max.ms", 500, "how long a fetch without data waits at the leader", at_least=0
    )
    replica_fetch_min_bytes: int = config(
        "replica.fetch.min.bytes", 1, "a fetch is answered at once when that much is there", at_least=0
    )
    replica_fetch_max_bytes: int = config(
        "replica.fetch.max.bytes", 1_048_576, "most bytes of one partition in a fetch"
    )
    replica_fetch_response_max_bytes: int = config(
        "replica.fetch.response.max.bytes", 10_485_760, "most bytes of a whole fetch"
    )
    replica_fetch_backoff_us: int = config(
        "replica.fetch.backoff.ms", 1_000, "pause of a partition after an error", at_least=0
    )
    replica_socket_timeout_us: int = config(
        "replica.socket.timeout.ms", 30_000, "a fetch unanswered for longer has failed"
    )
    assignment: Assignment = fetcher_id
    truncation: TruncationRule = field(factory=Kip279)
    out_of_range_drops_log: bool = False
    failures: FailureRule = KIP_461
    end_thread_when_all_failed: bool = False
