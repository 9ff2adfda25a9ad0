"""Where a follower cuts its log when it meets a leader under a new epoch: one rule for each generation of releases
(kafka-behaviour, 8.3)."""

from fetchers.truncation.high_watermark import ToHighWatermark
from fetchers.truncation.kip_101 import Kip101
from fetchers.truncation.kip_279 import Kip279
from fetchers.truncation.on_fetch import OnFetch
from fetchers.truncation.rule import Cut, TruncationRule

__all__ = ["Cut", "Kip101", "Kip279", "OnFetch", "ToHighWatermark", "TruncationRule"]
