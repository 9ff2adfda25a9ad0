"""The profiles a scenario may name (readings §1): which Kafka release's behaviour the brokers and the
controller show."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.strategies.names import NOT_YET

DEFAULT_PROFILE = "kafka-2.3"


@frozen
class Profile:
    name: str
    help: str
    available: bool = True


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("kafka-2.3", "the default: the wiki's 12 steps and KIP-461's failed partitions"),
        Profile(
            "wiki-text", "kafka-2.3 with step 7's recipients and the replica states as the wiki page has them"
        ),
        Profile("kafka-0.8", "0.8.0: KAFKA-42's 7 steps", available=False),
        Profile("kafka-1.1", "1.1: the 12 steps, no KIP-461", available=False),
        Profile("kafka-2.4", "2.4: KIP-455", available=False),
        Profile("kafka-2.5", "2.5: KIP-352 and KIP-537", available=False),
        Profile("kafka-2.6", "2.6: KIP-570", available=False),
        Profile("kafka-2.7", "2.7: AlterIsr", available=False),
        Profile(
            "kip-461",
            "kafka-2.3 with the KIP's literal rule for a thread whose partitions all failed",
            available=False,
        ),
        Profile(
            "kip-352-draft", "kafka-2.3 with the draft's current and impending replicas", available=False
        ),
    )
}


def check_profile(name: str) -> str:
    """`name` itself when this version has the profile; `BadInput` otherwise."""
    if name not in PROFILES:
        raise BadInput(f"unknown profile {name!r}; {did_you_mean(name, PROFILES)}")
    if not PROFILES[name].available:
        have = ", ".join(profile.name for profile in PROFILES.values() if profile.available)
        raise BadInput(f"profile {name!r} {NOT_YET}; write one of {have}")
    return name
