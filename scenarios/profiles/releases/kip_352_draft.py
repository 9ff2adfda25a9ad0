"""KIP-352 as it was first proposed: control requests name current and impending replicas."""

from brokers.under_replication import CurrentReplicas
from controller.request_schemas import CurrentAndImpending
from scenarios.profiles import release_metrics
from scenarios.profiles.profile import Difference
from scenarios.profiles.releases.kafka_2_3 import PROFILE as KAFKA_2_3

PROFILE = KAFKA_2_3.with_differences(
    Difference(
        title="LeaderAndIsr and UpdateMetadata name",
        before="all replicas",
        here="current and impending replicas apart",
        source="KIP-352, a draft",
        policies={"controller.requests": CurrentAndImpending()},
    ),
    Difference(
        title="a partition counts as under-replicated",
        here="when one of its replicas from before the move is out of sync",
        source="KIP-352, a draft",
        policies={"brokers.under_replication": CurrentReplicas()},
    ),
    name="kip-352-draft",
    help="kafka-2.3 with the draft's current and impending replicas",
    gains_metrics=release_metrics.DRAFT,
)
