"""The default swarm as it was when campaigns found the seeds that tests name: without the kinds that came later, and
with the loads and the healing of then.

Each block draws from a stream of its own, so the others draw what they drew then.
"""

from __future__ import annotations

from attrs import evolve

from scenarios.chaos.draw import default_swarm
from scenarios.language import Scenario
from scenarios.language.chaos import Chaos, find_kind
from scenarios.profiles import PROFILES
from scenarios.profiles.profile import is_before

LATER = (
    "controllers-again", "coordinators-again", "cut-off-halfway", "groups", "leaders-again", "lost-directories",
    "names-again", "pools-resized", "queued-sends", "record-deletions", "replicas-again", "requests-meet",
    "requests-twice", "retries", "second-faults", "setting-layers", "settings-again", "several-topics", "spoilt-logs",
    "transactions", "waits-for-brokers",
)  # fmt: skip
OTHERWISE = ("healing", "loads", "unclean-elections")
"""The kinds that had no keys of their own in the file then."""
SHARES = {
    "attrition": 0.6, "client-crashes": 0.15, "clock-skew": 0.1, "clogging": 0.35, "controller-hunting": 0.5,
    "cuts": 0.4, "host-loss": 0.25, "message-trouble": 0.5, "pauses": 0.3, "repeated-sends": 0.12,
    "session-storms": 0.3, "short-logs": 0.2, "storms": 0.6, "swizzle": 0.15, "unclean-elections": 0.1,
}  # fmt: skip
"""The shares of seeds that had these kinds then."""
COPIES_WERE_DRAWN_SINCE = "2.5"


def earlier_swarm(profile: str) -> Scenario:
    """That swarm, for runs of a profile."""
    no_copies = is_before(PROFILES[profile].release, COPIES_WERE_DRAWN_SINCE)
    left_out = (*LATER, "copies") if no_copies else LATER
    swarm = default_swarm()
    blocks = [block for block in swarm.chaos if block.kind not in left_out]
    return evolve(swarm, chaos=[_of_then(block) for block in blocks]).for_run(profile=profile)


def _of_then(block: Chaos) -> Chaos:
    plain = find_kind(block.kind)() if block.kind in OTHERWISE else block
    return evolve(plain, share=SHARES[block.kind]) if block.kind in SHARES else plain
