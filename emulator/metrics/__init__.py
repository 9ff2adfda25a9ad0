"""Metrics under Kafka's names: gauges, meters and timers that write their values into the trace."""

from emulator.metrics.metrics import Gauge, KafkaTimer, Meter, Metrics, SampledGauge, attribute, mbean, short_name, tag

__all__ = ["Gauge", "KafkaTimer", "Meter", "Metrics", "SampledGauge", "attribute", "mbean", "short_name", "tag"]
