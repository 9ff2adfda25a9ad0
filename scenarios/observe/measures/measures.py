"""All measures of one run behind one name."""

from __future__ import annotations

from typing import Any

from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from scenarios.observe import mbeans
from scenarios.observe.measures.cluster import Measured
from scenarios.observe.measures.consumers import Reads
from scenarios.observe.measures.counts import Counts
from scenarios.observe.measures.figures import QUANTILES, Figures
from scenarios.observe.measures.gauges import Gauges
from scenarios.observe.measures.isr import IsrTimes
from scenarios.observe.measures.lag import Lags
from scenarios.observe.measures.moves import Moves
from scenarios.observe.measures.topology import Topology
from scenarios.studies.statistics.percentile import weighted_percentiles

_GAUGES = {
    "offline_partitions": mbeans.OFFLINE,
    "under_replicated_partitions": mbeans.UNDER_REPLICATED,
    "under_min_isr_partitions": mbeans.UNDER_MIN_ISR,
    "failed_partitions": mbeans.FAILED_PARTITIONS,
    "active_controllers": mbeans.ACTIVE_CONTROLLERS,
}


class Measures:
    """Subscribes to a trace before the run; ``finish`` closes everything and gives the figures.

    ``topology``: its decoder of ZooKeeper's writes, for whoever needs one on the same trace.
    """

    def __init__(self, trace: Trace, measured: Measured) -> None:
        self.topology = topology = Topology(trace)
        self._isr = IsrTimes(trace, topology, measured)
        self._lags = Lags(trace, topology, measured)
        self._moves = Moves(trace, topology)
        self._counts = Counts(trace, measured)
        self._reads = Reads(trace, measured)
        self._gauges = Gauges(trace, self._isr, measured)
        self._figures: Figures | None = None

    @property
    def open_moves(self) -> int:
        return self._moves.open

    @property
    def under_way(self) -> tuple[TopicPartition, ...]:
        """The partitions whose moves were asked for and have not ended."""
        return self._moves.under_way

    def now(self, metric: str) -> int:
        """A gauge or counter of ``scenarios.language.METRICS`` as it stands. Raises: KeyError for another
        name."""
        if metric == "consumed_messages":
            return self._reads.messages
        if metric in _GAUGES:
            return self._gauges.total(_GAUGES[metric])
        return self._counts.counts[metric]

    def finish(self, end_us: int) -> Figures:
        """The run is over at ``end_us``. Calling it again gives the same figures."""
        if self._figures is None:
            for fold in (self._isr, self._lags, self._moves, self._gauges, self._reads):
                fold.finish(end_us)
            self._figures = self._total()
        return self._figures

    def tables(self) -> dict[str, list[Any]]:
        """Table name to its rows (``scenarios.observe.measures.rows``), after ``finish``."""
        assert self._figures is not None, "the intervals are still open: finish first"
        return {
            "isr_events": self._isr.rows,
            "replica_lag": self._lags.rows,
            "moves": self._moves.rows,
            "consume": self._reads.rows,
            "consumer_lag": self._reads.lag_rows,
            "metrics": self._gauges.rows,
            **self._counts.rows,
        }

    def _total(self) -> Figures:
        assigned, draft, final, under_min_isr, offline = self._isr.flag_us
        lag, true_lag = self._lags.lag_us, self._lags.true_lag_us
        lag_50, lag_95, lag_99 = weighted_percentiles(lag, QUANTILES)
        true_lag_50, true_lag_95, true_lag_99 = weighted_percentiles(true_lag, QUANTILES)
        produce_50, produce_99 = weighted_percentiles(self._counts.latency_us, (0.5, 0.99))
        consumer_lag = self._reads.lag_us
        consumer_lag_50, consumer_lag_95, consumer_lag_99 = weighted_percentiles(consumer_lag, QUANTILES)
        consume_50, consume_99 = weighted_percentiles(self._reads.delay_us, (0.5, 0.99))
        return Figures(
            time_to_complete_us=self._moves.time_to_complete_us(),
            moves=len(self._moves.rows),
            moves_finished=self._moves.finished(),
            under_replicated_assigned_us=assigned,
            under_replicated_draft_us=draft,
            under_replicated_final_us=final,
            under_min_isr_us=under_min_isr,
            offline_us=offline,
            excess_isr_us=self._isr.excess_us,
            extra_replica_us=self._isr.extra_us,
            peak_replicas=self._isr.peak_replicas,
            lag_p50=lag_50,
            lag_p95=lag_95,
            lag_p99=lag_99,
            lag_max=max(lag, default=None),
            true_lag_p50=true_lag_50,
            true_lag_p95=true_lag_95,
            true_lag_p99=true_lag_99,
            true_lag_max=max(true_lag, default=None),
            produce_p50_us=produce_50,
            produce_p99_us=produce_99,
            consumed_messages=self._reads.messages,
            consume_p50_us=consume_50,
            consume_p99_us=consume_99,
            consumer_lag_p50=consumer_lag_50,
            consumer_lag_p95=consumer_lag_95,
            consumer_lag_p99=consumer_lag_99,
            consumer_lag_max=max(consumer_lag, default=None),
            **self._counts.counts,
        )
