"""An admin client that works on topics of its own: it creates them, adds partitions, writes a record, changes settings,
and deletes them (KafkaAdminClient, 1.0)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from emulator.protocol.alter_configs import AlterConfigsRequest
from emulator.protocol.create_partitions import CreatePartitionsRequest, NewPartitions
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest
from emulator.protocol.describe_configs import Resource, ResourceType
from scenarios.cluster.clients.admin import KafkaError
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import TOPIC_NAME
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client

SETTINGS: tuple[dict[str, str | None], ...] = ({}, {"retention.ms": "5000"}, {"segment.bytes": "8192"})
MOST_PARTITIONS = 6
WAITS_US = 5_000_000


@behaviour("administrator", "an admin client that creates, extends, changes and deletes topics, several in one request")
@frozen(kw_only=True)
class Administrator(Behaviour):
    """One client. It asks, and believes the answers."""

    topics: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(TOPIC_NAME, unique=True, empty=False), "the topics that it works on")
    )
    pause_us: int = field(default=1_000_000, metadata=key(DURATION, "between two requests", name="pause"))

    async def run(self, client: Client) -> None:
        there: dict[str, int] = {}
        while True:
            with suppress(KafkaError):
                await self._change(client, there)
            await client.sleep(format_duration(self.pause_us))

    async def _change(self, client: Client, there: dict[str, int]) -> None:
        """Make one change. ``there``: the partitions of each topic, as far as it knows. Raises: KafkaError."""
        count = 1 + client.below(len(self.topics))
        first = client.below(len(self.topics))
        names = (*self.topics[first:], *self.topics[:first])[:count]
        known = tuple(name for name in names if name in there)
        if not known or client.below(4) == 0:
            new = tuple(
                NewTopic(name, 1 + client.below(2), 1 + client.below(min(3, len(client.brokers)))) for name in names
            )
            await client.ask_controller(CreateTopicsRequest(new, WAITS_US))
            there.update({topic.name: topic.partitions for topic in new if topic.name not in there})
            return
        request = self._request(client, known, there)
        if request is None:
            await client.produce(f"{known[0]}-{client.below(there[known[0]])}", within="2s")
        elif isinstance(request, AlterConfigsRequest):
            await client.ask(client.brokers[client.below(len(client.brokers))], request)
        else:
            await client.ask_controller(request)

    @staticmethod
    def _request(client: Client, known: tuple[str, ...], there: dict[str, int]) -> Any:
        """A request about topics that exist; None: they are written to."""
        way = client.below(6)
        if way < 2:
            for name in known:
                del there[name]
            return DeleteTopicsRequest(known, WAITS_US)
        if way == 2:
            there.update({name: min(there[name] + 1, MOST_PARTITIONS) for name in known})
            return CreatePartitionsRequest(tuple(NewPartitions(name, there[name]) for name in known), WAITS_US)
        if way == 3:
            settings = tuple(SETTINGS[client.below(len(SETTINGS))].items())
            return AlterConfigsRequest(tuple((Resource(ResourceType.TOPIC, name), settings) for name in known))
        return None
