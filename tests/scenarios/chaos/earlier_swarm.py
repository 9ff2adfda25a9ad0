"""The default swarm as it was when campaigns found the seeds that tests name: without the kinds that came later, and
with the loads and the healing of then.

Each block draws from a stream of its own, so the others draw what they drew then.
"""

from __future__ import annotations

from attrs import evolve

from scenarios.chaos.draw import default_swarm
from scenarios.language import Scenario
from scenarios.language.chaos import find_kind
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

LATER = (
    "asked-elections", "compaction", "controllers-again", "coordinators-again", "copies-meet", "cut-off-halfway",
    "groups", "last-in-sync",
    "leaders-again", "lost-directories", "moves-from-the-dead", "names-again", "pools-resized", "queued-sends",
    "record-deletions", "replicas-again", "requests-meet", "requests-twice", "retries", "second-faults",
    "seldom-messages", "seldom-requests",
    "setting-layers", "settings-again", "several-topics", "spoilt-logs", "transactions", "waits-for-brokers",
)  # fmt: skip
OTHERWISE = ("healing", "loads", "topics")
"""The kinds that had no keys of their own in the file then."""
COPIES_WERE_DRAWN_SINCE = "2.5"


def earlier_swarm(profile: str) -> Scenario:
    """That swarm, for runs of a profile."""
    no_copies = is_before(PROFILES[profile].release, COPIES_WERE_DRAWN_SINCE)
    left_out = (*LATER, "copies") if no_copies else LATER
    swarm = default_swarm()
    blocks = [block for block in swarm.chaos if block.kind not in left_out]
    of_then = [find_kind(block.kind)() if block.kind in OTHERWISE else block for block in blocks]
    return evolve(swarm, chaos=of_then).for_run(profile=profile)
