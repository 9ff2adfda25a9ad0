"""The metrics of a recorded run, as a scrape of each broker would have shown them."""

from scenarios.observe.metrics.history import History
from scenarios.observe.metrics.prometheus import text
from scenarios.observe.metrics.shown import Shown

__all__ = ["History", "Shown", "text"]
