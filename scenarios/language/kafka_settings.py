"""Broker and topic settings under Kafka's own names, as the classes that hold them declare them
(``emulator.protocol.configs``), with the defaults of Kafka 2.3 (kafka-behaviour §10); profiles say which of them other
releases change.

An unknown key is refused with a suggestion; for a few that Kafka has and this file sets elsewhere the message says
where.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from attrs import AttrsInstance, field, frozen

from brokers.broker_config import BrokerConfig
from brokers.config_def import TOPIC_CONFIGS, ConfigDefinition, ConfigException
from brokers.groups.config import GroupCoordinatorConfig
from brokers.log.log_config import MOST_BYTES_PER_SECOND, LogConfig, LogManagerConfig
from brokers.transactions.config import TransactionConfig
from controller.operations.rebalance import AutoRebalance
from controller.policies import ControllerPolicies
from emulator.protocol.configs import ConfigKey, ConfigType, config_keys
from fetchers.policies import FetcherPolicies
from fetchers.quota import RATE_NAMES, ThrottledRates
from scenarios.errors import BadInput
from scenarios.language.schema.kinds import Boolean, Choice, Integer, Kind, Number, Schema, Text, at
from scenarios.language.schema.table_reader import TableReader, refuse_unknown


@frozen
class Setting:
    """One Kafka setting; durations are integers in the unit that its name ends with, as in
    server.properties."""

    name: str
    kind: Kind[Any]
    default: Any
    help: str
    type: ConfigType = ConfigType.UNKNOWN


def settings_table(*settings: Setting) -> Mapping[str, Setting]:
    return {setting.name: setting for setting in settings}


BROKER_SETTINGS: dict[str, Setting] = {}
TOPIC_SETTINGS: dict[str, Setting] = {}
DYNAMIC_BROKER_SETTINGS: dict[str, Setting] = {}
"""The broker settings that can be changed while brokers run (KIP-226, 2.3)."""
BROKERS_NAMES: dict[str, str] = {}
"""The broker's name of a topic's setting, where it differs."""


def declare(cls: type[AttrsInstance]) -> None:
    """Accept the settings that ``cls`` declares (``emulator.protocol.configs``)."""
    for key in config_keys(cls).values():
        setting = BROKER_SETTINGS[key.name] = Setting(key.name, _kind(key), key.default, key.doc, key.type)
        if key.topic_name:
            own = TOPIC_CONFIGS[key.topic_name]
            TOPIC_SETTINGS[own.name] = Setting(own.name, _kind(own), key.default, key.doc, own.type)
            if key.topic_name != key.name:
                BROKERS_NAMES[key.topic_name] = key.name
        if key.dynamic:
            DYNAMIC_BROKER_SETTINGS[key.name] = setting


def _kind(key: ConfigKey | ConfigDefinition) -> Kind[Any]:
    """The kind of value that Kafka's ConfigDef accepts, as TOML has it."""
    if key.type in (ConfigType.LIST, ConfigType.DOUBLE):
        own = key if isinstance(key, ConfigDefinition) else TOPIC_CONFIGS.get(key.topic_name)
        if own is None or key.type is ConfigType.DOUBLE:
            return Number(key.at_least or 0, MOST_BYTES_PER_SECOND if own is None else own.at_most or 1)
        return Text(partial(_check_words, own), "a text")
    if key.choices:
        return Choice(key.choices, "value")
    if key.type is ConfigType.BOOLEAN:
        return Boolean()
    most = (1 << key.type.bits - 1) - 1
    least = -most - 1 if key.at_least is None else int(key.at_least)
    return Integer(least, None if key.type is ConfigType.LONG else most)


def _check_words(definition: ConfigDefinition, text: str) -> None:
    """Check a setting that is a list of words. Raises: BadInput."""
    try:
        definition.parse(text)
    except ConfigException:
        words = ",".join(definition.choices)
        raise BadInput(f'{text!r} does not fit; write one of {", ".join(definition.choices)}, or "{words}"') from None


CONFIG_CLASSES: tuple[type[AttrsInstance], ...] = (
    BrokerConfig,
    ControllerPolicies,
    AutoRebalance,
    FetcherPolicies,
    LogConfig,
    LogManagerConfig,
    GroupCoordinatorConfig,
    TransactionConfig,
    ThrottledRates,
)
for _cls in CONFIG_CLASSES:
    declare(_cls)


def _check_list(text: str) -> None:
    try:
        TOPIC_CONFIGS["leader.replication.throttled.replicas"].parse(text)
    except ConfigException:
        what = 'write "*", or partition:broker with commas between, as "0:1,0:2"'
        raise BadInput(f"{text!r} lists no replicas; {what}") from None


THROTTLED_REPLICAS = ("leader.replication.throttled.replicas", "follower.replication.throttled.replicas")
"""The settings of a topic that list the replicas which send, and receive, under the rates of their brokers."""
_REPLICA_LIST = Text(_check_list, "a list of replicas")
TOPIC_SETTINGS |= settings_table(
    *(
        Setting(name, _REPLICA_LIST, "", help, ConfigType.LIST)
        for name, help in zip(
            THROTTLED_REPLICAS,
            (
                'the replicas that send under the rate: "*" or "0:1,0:2"',
                "the replicas that receive under the rate",
            ),
            strict=True,
        )
    )
)
QUOTA_RATES = RATE_NAMES
"""The settings that Kafka keeps for each broker by itself; the default of all brokers has no effect on them (2.3)."""
DYNAMIC_SETTINGS = TOPIC_SETTINGS | DYNAMIC_BROKER_SETTINGS

_ELSEWHERE = {
    "file.delete.delay.ms": 'write "log.segment.delete.delay.ms" = 60000 in cluster.config',
    "zookeeper.session.timeout.ms": 'write session_timeout = "6s" in cluster.zk',
    "zookeeper.connection.timeout.ms": 'write session_timeout = "6s" in cluster.zk',
    "zookeeper.max.in.flight.requests": "write max_in_flight = 10 in cluster.zk",
    "broker.rack": "write cluster.racks = N",
}


@frozen
class Config(Kind[dict[str, Any]]):
    """A table of settings by Kafka's names; only those that the file states are kept. ``elsewhere``: for names that
    Kafka has, what to do instead."""

    free_keys = True
    settings: Mapping[str, Setting]
    elsewhere: Mapping[str, str] = field(factory=lambda: _ELSEWHERE)

    def read(self, value: object) -> dict[str, Any]:
        table = TableReader(value).table
        self._refuse_bare_dots(table)
        refuse_unknown(table, self.settings, self.elsewhere)
        return {name: at(name, self.settings[name].kind.read, found) for name, found in table.items()}

    def _refuse_bare_dots(self, table: Mapping[str, object]) -> None:
        """Refuse a bare ``min.insync.replicas``, whose dots TOML takes for tables within tables."""
        for name, found in table.items():
            meant = next((setting for setting in self.settings if setting.startswith(f"{name}.")), None)
            if meant is not None and isinstance(found, Mapping):
                raise BadInput(f'names of Kafka hold dots; write it in quotes, such as "{meant}" = ...', where=name)

    def schema(self) -> Schema:
        return {
            "type": "object",
            "properties": {
                setting.name: {
                    **setting.kind.schema(),
                    "default": setting.default,
                    "description": setting.help,
                }
                for setting in self.settings.values()
            },
            "additionalProperties": False,
        }


BROKER_CONFIG = Config(BROKER_SETTINGS)
DYNAMIC_CONFIG = Config(
    DYNAMIC_SETTINGS,
    dict.fromkeys(
        BROKER_SETTINGS,
        "a running broker refuses it (Cannot update these configs dynamically); write it in cluster.config",
    ),
)
TOPIC_CONFIG = Config(TOPIC_SETTINGS)
