"""The figures of one run, in exact integers where time is involved, and the metrics that people read.

Both computations of every figure, the folds during the run and Spark's afterwards, end in a ``Figures``;
``metrics`` turns either into seconds and milliseconds, in one place, so that equal figures print alike.

Units: ``_us`` microseconds of virtual time (summed over partitions where the state is a partition's), lags
in records.
"""

from __future__ import annotations

from attrs import asdict, fields_dict, frozen

from emulator.protocol.api import control_apis

QUANTILES = (0.5, 0.95, 0.99)
CONTROL_APIS = {api.name: api.snake_name for api in control_apis()}
"""``ControlRequest.api`` to the stem of its metrics."""

Value = int | float | None


@frozen(kw_only=True)
class Figures:
    """Figures of one run.

    Attributes:
        time_to_complete_us: first ``MoveStarted`` to last ``MoveFinished``; None when there was no move or
        one is
            unfinished (censored).
        under_replicated_*_us, under_min_isr_us, offline_us: see ``scenarios.observe.measures.isr``.
        excess_isr_us, extra_replica_us: in-sync and assigned replicas beyond the target replication factor, times how
            long.
        peak_replicas: the most that one partition was assigned at a time.
        lag_*, true_lag_*: time-weighted over all follower replicas; None when there is none.
        leader_elections: without the first leaders of new partitions.
        acked_batches: acknowledged, so without acks=0; failed_batches: given up by their producer.
        consumed_messages: given to applications; consume_*_us: how long after they could be read, by poll.
        consumer_lag_*: time-weighted over all consumers and their partitions; None when there is none.
        steps: protocol steps done (their ``after`` edges).
    """

    time_to_complete_us: int | None
    moves: int
    moves_finished: int
    under_replicated_assigned_us: int
    under_replicated_draft_us: int
    under_replicated_final_us: int
    under_min_isr_us: int
    offline_us: int
    excess_isr_us: int
    extra_replica_us: int
    peak_replicas: int
    lag_p50: float | None
    lag_p95: float | None
    lag_p99: float | None
    lag_max: int | None
    true_lag_p50: float | None
    true_lag_p95: float | None
    true_lag_p99: float | None
    true_lag_max: int | None
    isr_shrinks: int
    isr_expands: int
    isr_update_failures: int
    leader_elections: int
    unclean_elections: int
    acked_batches: int
    failed_batches: int
    produce_p50_us: float | None
    produce_p99_us: float | None
    consumed_messages: int
    consume_p50_us: float | None
    consume_p99_us: float | None
    consumer_lag_p50: float | None
    consumer_lag_p95: float | None
    consumer_lag_p99: float | None
    consumer_lag_max: int | None
    leader_and_isr_requests: int
    leader_and_isr_partitions: int
    update_metadata_requests: int
    update_metadata_partitions: int
    stop_replica_requests: int
    stop_replica_partitions: int
    zk_writes: int
    steps: int
    failed_partitions: int
    violations: int

    def metrics(self) -> dict[str, Value]:
        """Metric name to value: ``_us`` becomes ``_s`` (latencies: ``_ms``)."""
        return dict(_readable(name, value) for name, value in asdict(self).items())


FIGURES: tuple[str, ...] = tuple(fields_dict(Figures))
"""The names of all figures, in their order."""


def _readable(name: str, value: Value) -> tuple[str, Value]:
    if not name.endswith("_us"):
        return name, value
    unit, per = ("_ms", 1_000) if name.startswith(("produce_", "consume_")) else ("_s", 1_000_000)
    return name.removesuffix("_us") + unit, None if value is None else value / per
