"""Metrics under Kafka's names: gauges, meters and timers that write their values into the trace."""

from emulator.metrics.metrics import Gauge, Meter, Metrics, SampledGauge, Timer, attribute, mbean, short_name

__all__ = ["Gauge", "Meter", "Metrics", "SampledGauge", "Timer", "attribute", "mbean", "short_name"]
