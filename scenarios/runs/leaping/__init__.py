"""Sampled runs: stretches in which every message is simulated alternate with *leaps*, in which time passes and only the
control plane acts; at the end of a leap one transition brings what would have come (docs/understand/sampled.md).

    leaper ── followed   who follows whom, and how far each is
           ├─ quiet      holds clients and fetchers, until nothing of them is in flight
           ├─ sharing    how fast each copy goes: measured in a stretch, and known where a quota binds
           ├─ gain       where leaps save too little for what they leave uncertain
           ├─ bounds     how far a leap may go, and why no further
           └─ arrival    what a leap brings, in one transition

Virtual time is never shifted: ticks, pings, looks and the operator go on during a leap, and the first event of the
control plane ends it.
"""

from scenarios.runs.leaping.leaper import Leaper
from scenarios.runs.leaping.leaps_account import Leaping

__all__ = ["Leaper", "Leaping"]
