"""Settings that change while the broker runs (KIP-226; kafka.server.DynamicConfigManager, 2.3).

A tool writes an entity's settings and then a notification under /config/changes; every broker reads both. A broker that
starts reads the settings of all topics and its own, and, beside that, the notifications. Kafka deletes those after 15
minutes; here they are kept, and read again by a broker that starts: so it gets the quotas of clients and users.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from emulator.kernel import Mailbox
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.znodes import (
    ALL_BROKERS,
    CONFIG_BROKERS,
    CONFIG_CHANGES,
    CONFIG_TOPICS,
    broker_entity,
    decode_config,
    decode_config_change,
)
from emulator.zookeeper import NoNode, SessionExpired, ZkClient

OF_CLIENTS = ("clients/", "users/")
"""The beginnings of the entities that have quotas of clients."""
Apply = Callable[[str, Mapping[str, str]], None]


class DynamicConfigManager:
    """Calls ``apply(entity, settings)`` for each notification, in their order. An entity is, for example,
    ``topics/orders``. The settings of other brokers are not read."""

    def __init__(self, process: Process, zk: ZkClient, apply: Apply) -> None:
        self._process = process
        self._zk = zk
        self._apply = apply
        self._changes = Mailbox(process.world, f"changed settings for {process.name}")
        self._last = ""

    def start(self) -> None:
        self._zk.on_children(CONFIG_CHANGES, lambda _: self.look())
        self._process.spawn(self._live, name="config changes")

    async def read_all(self) -> Sequence[str]:
        """Read the settings of all topics, and of this broker, one after the other (DynamicConfigManager.startup).
        Returns the topics: a topic has its znode of settings from its creation on."""
        topics = await self._read_each(CONFIG_TOPICS)
        await self._read_each(CONFIG_BROKERS)
        return topics

    async def _read_each(self, parent: str) -> Sequence[str]:
        names = await self._zk.children(parent)
        for name in names:
            entity = f"{parent.removeprefix('/config/')}/{name}"
            settings = await self._settings(entity) if self._concerns(entity) else {}
            if settings:
                self._apply(entity, settings)
        return names

    def _concerns(self, entity: str) -> bool:
        """Whether this broker takes over the settings of ``entity``."""
        if entity.startswith("topics/"):
            return True
        if entity.startswith(OF_CLIENTS):
            from brokers.client_quotas import entity_of  # only clusters with real clients have quotas of clients

            return entity_of(entity) is not None
        return entity in (ALL_BROKERS, broker_entity(self._process.node.id))

    def look(self) -> None:
        """Read new notifications, because a watch fired or a new session began."""
        if not len(self._changes):
            self._changes.put(None)

    async def _live(self) -> None:
        while True:
            await self._changes.get()
            try:
                for name in self._new(await self._zk.children(CONFIG_CHANGES)):
                    await self._read(name)
                    self._last = name
            except SessionExpired as error:
                get_logger("brokers.broker_config").warning("settings not read", reason=str(error))

    def _new(self, names: Sequence[str]) -> list[str]:
        """The names after the last one read, in their order. Looks at those and at one more."""
        return list(takewhile(lambda name: name > self._last, reversed(names)))[::-1]

    async def _read(self, name: str) -> None:
        data, _ = await self._zk.get(f"{CONFIG_CHANGES}/{name}")
        entity = decode_config_change(data)
        if self._concerns(entity):
            self._apply(entity, await self._settings(entity))

    async def _settings(self, entity: str) -> dict[str, str]:
        try:
            data, _ = await self._zk.get(f"/config/{entity}")
        except NoNode:
            return {}  # a topic that is gone
        return decode_config(data)
