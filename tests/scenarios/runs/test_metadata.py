"""The contents of each broker's metadata cache after a restart of the whole cluster but one broker."""

from typing import Any

import pytest

from emulator.protocol.types import TopicPartition
from tests.scenarios.runs.building import play, scenario

ALONE = TopicPartition("orders", 1)
"""A partition whose only replica is on broker 0, which does not come back."""


def act(at: str, action: str, target: Any, **more: object) -> dict[str, Any]:
    return {"at": at, "action": action, "target": target, **more}


@pytest.mark.parametrize("profile", ["kafka-0.8", "kafka-1.1", "kafka-2.3"])
def test_every_broker_learns_of_a_partition_whose_only_replica_is_dead(profile: str) -> None:
    """The new controller elects no leader and sends no LeaderAndIsr for it. Up to 2.1 its first UpdateMetadata holds
    all partitions; from 2.3 on it writes the ISR of the dead replica again, and sends that (KAFKA-3143)."""
    method = [act("2s", "broker.crash", 0)]
    method += [act("30s", "broker.crash", broker, duration="30s") for broker in (1, 2, 3)]
    wanted = scenario(
        brokers=4, controller=3, assignment=[[1], [0]], method=method, rate=0, profile=profile,
        strategy="kafka-42" if profile == "kafka-0.8" else "wiki",
    )  # fmt: skip
    played = play(wanted)
    brokers = played.stage.cluster.brokers
    assert {broker for broker, runtime in brokers.items() if runtime.replicas.metadata.knows(ALONE)} >= {1, 2, 3}
