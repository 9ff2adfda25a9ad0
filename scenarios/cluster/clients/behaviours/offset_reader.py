"""A client that asks where a group is, as a consumer of committed records does before it begins (ConsumerCoordinator
.fetchCommittedOffsets, 2.5; KIP-447)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import field, frozen

from emulator.protocol.groups.find_coordinator import CoordinatorType
from emulator.protocol.groups.group_offsets import OffsetFetchRequest, OffsetsWanted
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import MOVED, Coordinator
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, ListOf, Text, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME, split_partition
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client


@behaviour("offset-reader", "a client that asks for a group's stable offsets, which no open transaction may replace")
@frozen(kw_only=True)
class OffsetReader(Behaviour):
    """One client. It asks, and does nothing with the answers."""

    group: str = field(metadata=key(Text(), "the group"))
    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what it asks about")
    )
    pause_us: int = field(default=500_000, metadata=key(DURATION, "between two questions", name="pause"))

    async def run(self, client: Client) -> None:
        coordinator = Coordinator(client, self.group, CoordinatorType.GROUP)
        wanted = OffsetsWanted(self.group, tuple(TopicPartition(*split_partition(name)) for name in self.partitions))
        while True:
            with suppress(KafkaError):
                (answer,) = (await coordinator.ask(OffsetFetchRequest((wanted,), True))).groups
                if answer.error in MOVED:
                    coordinator.moved()
            await client.sleep(format_duration(self.pause_us))
