"""The replicas of partitions, read from the topics' znodes."""

from collections.abc import Iterable, Mapping

from emulator.protocol.assignments import Replicas
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS, decode_topic, topic_path
from emulator.zookeeper import NoNode, ZkClient

Assignments = Mapping[TopicPartition, Replicas]


async def read_assignments(zk: ZkClient, topics: Iterable[str] | None = None) -> Assignments:
    """Every partition of ``topics`` (None: of all topics) with its replicas; a topic without a znode is left out."""
    found: dict[TopicPartition, Replicas] = {}
    for topic in await zk.children(TOPICS) if topics is None else dict.fromkeys(topics):
        try:
            data, _ = await zk.get(topic_path(topic))
        except NoNode:
            continue
        found.update({TopicPartition(topic, number): replicas for number, replicas in decode_topic(data).items()})
    return found
