"""The metrics of a recorded run, as a scrape of each broker would have shown them."""

from scenarios.observe.exposition.metric_rows import MetricRows
from scenarios.observe.exposition.prometheus import series, text
from scenarios.observe.exposition.shown import ShownMetrics

__all__ = ["MetricRows", "ShownMetrics", "series", "text"]
