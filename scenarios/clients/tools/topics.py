"""TopicCommand up to 2.1, kafka-topics --zookeeper: it writes its wishes into ZooKeeper."""

from collections.abc import Mapping

from emulator.protocol.znodes import CONFIG_TOPICS, encode_config, encode_topic, topic_path
from scenarios.clients.operator import Operator


async def create(
    operator: Operator, topic: str, assignment: Mapping[int, tuple[int, ...]], config: Mapping[str, str]
) -> None:
    """--create: the configuration first, then the assignment, which wakes the controller."""
    path = f"{CONFIG_TOPICS}/{topic}"
    await operator.zk.create_parents(path)
    await operator.zk.create(path, encode_config(config))
    await operator.zk.create_parents(topic_path(topic))
    await operator.zk.create(topic_path(topic), encode_topic(assignment))
