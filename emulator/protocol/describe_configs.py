"""DescribeConfigs (API 32, KIP-133, 0.11): a client asks a broker for the settings of topics, which every broker
answers, and for its own.

Versions: v1 (1.1, KIP-226) sources and synonyms; v3 (2.6) types and documentation.
"""

from enum import IntEnum
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.configs import ConfigType
from emulator.protocol.errors import ApiError


class ResourceType(IntEnum):
    """Kafka's numbers (org.apache.kafka.common.config.ConfigResource.Type)."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8


class ConfigSource(IntEnum):
    """Where a value comes from (DescribeConfigsResponse.ConfigSource, 1.1; loggers since 2.4)."""

    UNKNOWN = 0
    TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6


class Resource(NamedTuple):
    """A thing that has settings: a topic by its name, a broker by its id, or all brokers (a broker with the empty
    name).

    ``type`` is a number, since a client may send one that no resource has.
    """

    type: int
    name: str

    def __str__(self) -> str:
        known = self.type in ResourceType.__members__.values()
        return f"ConfigResource(type={ResourceType(self.type if known else 0).name}, name='{self.name}')"


class ConfigSynonym(NamedTuple):
    """One value of a setting and its source: the value in force, or one that would be in force without those before
    it."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One setting.

    Attributes:
        value: the value as text, in Kafka's unit.
        synonyms: the values from all sources, the one in force first; empty if they are not asked for.
    """

    name: str
    value: str | None
    source: ConfigSource
    type: ConfigType
    read_only: bool = False
    is_sensitive: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()


@define(eq=False)
class DescribeConfigsRequest(Request):
    """Ask for settings.

    Attributes:
        resources: each with the names that are asked for; None: all.
    """

    resources: tuple[tuple[Resource, tuple[str, ...] | None], ...]
    include_synonyms: bool = False

    @property
    def size(self) -> int:
        return 20 + 40 * len(self.resources)


class DescribedResource(NamedTuple):
    """The settings of one resource, by name."""

    resource: Resource
    error: ApiError
    entries: tuple[ConfigEntry, ...] = ()


@define(eq=False)
class DescribeConfigsResponse(Response):
    """One result for each resource, in the order of the request."""

    resources: tuple[DescribedResource, ...]

    @property
    def size(self) -> int:
        return 10 + sum(30 + 50 * len(each.entries) for each in self.resources)


declare(
    32,
    "DescribeConfigs",
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    help="a client asks a broker for the settings of topics or its own",
)
