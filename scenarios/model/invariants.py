"""The invariants that a scenario may expect by name; checkers of the same names watch every run."""

from __future__ import annotations

from collections.abc import Mapping

INVARIANTS: Mapping[str, str] = {
    "no_acked_record_lost": "a record acknowledged with acks=all is never gone from the committed log",
    "one_leader_per_epoch": "no two brokers lead one partition in the same leader epoch",
    "high_watermark_monotone": "on one broker and in one leader epoch the high watermark never goes back",
}
