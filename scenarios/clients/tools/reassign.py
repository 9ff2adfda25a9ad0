"""ReassignPartitionsCommand up to 2.5, kafka-reassign-partitions --zookeeper."""

from collections.abc import Mapping

from emulator.protocol.events import MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, encode_reassignment
from emulator.zookeeper import NodeExists
from scenarios.clients.operator import Operator


async def execute(operator: Operator, moves: Mapping[TopicPartition, tuple[int, ...]]) -> bool:
    """--execute: False, and nothing written, where another reassignment is under way."""
    try:
        await operator.zk.create(REASSIGN_PARTITIONS, encode_reassignment(moves))
    except NodeExists:
        return False
    for tp, target in moves.items():
        operator.process.anchor(MoveStarted, tp.topic, tp.partition, target)
    return True
