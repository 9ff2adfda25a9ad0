"""The metrics of a recorded run, as a scrape of each broker would have shown them."""

from scenarios.exposition.history import History
from scenarios.exposition.prometheus import text
from scenarios.exposition.shown import Shown

__all__ = ["History", "Shown", "text"]
