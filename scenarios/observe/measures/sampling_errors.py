"""The errors that the seeds of a sampled study have in common, which no number of seeds lowers.

``python -m benchmarks.sampled`` measures them: the standard deviation, over drawn cases, of what sampled means are off
by. The intervals of a comparison of sampled runs are as much wider. Each is a standard error, as a share of the figure.
"""

from __future__ import annotations

from collections.abc import Mapping

EXACT, TIMES, COUNTS, MEDIANS, LAGS, LOOSE, TAILS = 0.0, 0.01, 0.004, 0.03, 0.05, 0.3, 1.0
SHARES: Mapping[float, tuple[str, ...]] = {
    EXACT: (
        "isr_expands", "isr_shrinks", "isr_flaps", "leader_elections", "unclean_elections", "unnecessary_elections",
        "failed_partitions", "leader_and_isr_partitions", "stop_replica_partitions", "peak_replicas", "steps",
        "under_replicated_peak", "leader_and_isr_requests", "stop_replica_requests",
    ),
    COUNTS: ("acked_batches", "consumed_messages", "bytes_moved"),
    MEDIANS: ("produce_p50_ms", "consume_p50_ms"),
    LAGS: ("lag_p95", "lag_p99", "lag_max", "true_lag_p95", "true_lag_p99", "true_lag_max"),
    LOOSE: (
        "lag_p50", "true_lag_p50", "peak_broker_egress", "peak_broker_ingress", "consumer_lag_p50", "consumer_lag_p95",
        "consumer_lag_p99", "consumer_lag_max", "excess_isr_s", "excess_isr_any_s", "under_replicated_draft_s",
        "failed_batches", "unfinished_batches", "unfinished_wait_s",
    ),
    TAILS: ("produce_p99_ms", "consume_p99_ms"),
}  # fmt: skip
"""The metrics by their error."""
_BY_METRIC = {metric: share for share, metrics in SHARES.items() for metric in metrics}


def sampling_error(metric: str) -> float:
    """The standard error of a metric's sampled mean, as a share of it; that of times where nothing else is stated."""
    return _BY_METRIC.get(metric, TIMES)
