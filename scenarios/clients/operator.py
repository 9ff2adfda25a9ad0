"""The operator's tools, up to 2.3: TopicCommand and ReassignPartitionsCommand write their wishes into ZooKeeper."""

from collections.abc import Mapping

from attrs import define, field

from emulator.network import Network
from emulator.nodes import Process
from emulator.protocol.events import MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import (
    CONFIG_TOPICS,
    REASSIGN_PARTITIONS,
    encode_config,
    encode_reassignment,
    encode_topic,
    topic_path,
)
from emulator.zookeeper import NodeExists, ZkClient, ZkSpec

RETRY_US = 100_000


@define(eq=False)
class Operator:
    """One operator with a ZooKeeper session. ``main`` is what its process runs; commands run as tasks of it."""

    network: Network
    zk_spec: ZkSpec
    process: Process = field(init=False)
    zk: ZkClient = field(init=False)

    async def main(self, process: Process) -> None:
        self.process = process
        self.zk = ZkClient(self.network, process, self.zk_spec)
        await self.zk.connect()

    async def create_topic(
        self, topic: str, assignment: Mapping[int, tuple[int, ...]], config: Mapping[str, str]
    ) -> None:
        """kafka-topics --create: the configuration first, then the assignment, which wakes the controller."""
        path = f"{CONFIG_TOPICS}/{topic}"
        await self.zk.create_parents(path)
        await self.zk.create(path, encode_config(config))
        await self.zk.create_parents(topic_path(topic))
        await self.zk.create(topic_path(topic), encode_topic(assignment))

    async def reassign(self, moves: Mapping[TopicPartition, tuple[int, ...]]) -> bool:
        """kafka-reassign-partitions --execute: False, and nothing written, where another one is under way."""
        try:
            await self.zk.create(REASSIGN_PARTITIONS, encode_reassignment(moves))
        except NodeExists:
            return False
        for tp, target in moves.items():
            self.process.anchor(MoveStarted, tp.topic, tp.partition, target)
        return True
