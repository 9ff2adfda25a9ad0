"""Kafka 2.3 (2.3.1), the default: the only release that has both the controller page's 12 steps and KIP-461."""

from scenarios.profiles import release_metrics
from scenarios.profiles.profile import Policies, Profile

PROFILE = Profile(
    name="kafka-2.3",
    release="2.3.1",
    help="the default: the wiki's 12 steps and KIP-461's failed partitions",
    policies=Policies().changed(
        {"brokers.lacks_metrics": release_metrics.DRAFT | release_metrics.SINCE_2_5 | release_metrics.SINCE_2_4}
    ),
)
