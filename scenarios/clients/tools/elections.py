"""PreferredReplicaLeaderElectionCommand, kafka-preferred-replica-election --zookeeper (deprecated since 2.2)."""

from collections.abc import Sequence

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    PREFERRED_REPLICA_ELECTION,
    TOPICS,
    decode_topic,
    encode_preferred_election,
    topic_path,
)
from emulator.zookeeper import NodeExists
from scenarios.clients.operator import Operator


async def prefer(operator: Operator, partitions: Sequence[TopicPartition] | None) -> bool:
    """Ask for the preferred replicas of ``partitions`` (None: of all there are; what there is not is left out).

    False, and nothing written, where the controller has not done with an earlier request.
    """
    existing = await _existing(operator)
    wanted = existing if partitions is None else [tp for tp in partitions if tp in existing]
    try:
        await operator.zk.create(PREFERRED_REPLICA_ELECTION, encode_preferred_election(wanted))
    except NodeExists:
        return False
    return True


async def _existing(operator: Operator) -> dict[TopicPartition, None]:
    found: dict[TopicPartition, None] = {}
    for topic in await operator.zk.children(TOPICS):
        data, _ = await operator.zk.get(topic_path(topic))
        found.update((TopicPartition(topic, number), None) for number in decode_topic(data))
    return found
