"""The settings that Kafka's topics have, and how a value is checked (kafka.log.LogConfig and
org.apache.kafka.common.config.ConfigDef, 2.3).

Clients describe and change all of them. Those that the emulator follows are declared at the fields that hold them
(``emulator.protocol.configs``); the others are kept, shown, and have no effect.
"""

import re
from collections.abc import Callable, Mapping

from attrs import frozen

from emulator.protocol.configs import LONG_MAX, ConfigType, as_text
from emulator.protocol.errors import ApiException, Errors

_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_THROTTLED = re.compile(r"\d+:\d+", re.ASCII)


class ConfigException(Exception):
    """A value that a setting cannot have, in Kafka's words (org.apache.kafka.common.config.ConfigException)."""

    def __init__(self, name: str, value: object, why: str) -> None:
        super().__init__(f"Invalid value {value} for configuration {name}: {why}")


@frozen
class ConfigDefinition:
    """One setting.

    Attributes:
        default: the default as text, as Kafka shows it.
        broker_name: the name of the brokers' setting that is the default; empty: there is none.
        at_least, at_most: the limits of a number.
        choices: the accepted words; a list may have any number of them.
        check: returns why a value is not valid, or "": given the items of a list, or one text.
    """

    name: str
    type: ConfigType
    default: str
    broker_name: str = ""
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()
    check: Callable[[list[str]], str] = lambda _texts: ""

    def parse(self, value: str | None) -> str:
        """The value as Kafka shows it. Raises: ConfigException."""
        if value is None:
            raise ConfigException(self.name, value, "entry must not be null")
        text = value.strip()
        if self.type is ConfigType.BOOLEAN:
            if text.lower() not in ("true", "false"):
                raise ConfigException(self.name, value, "Expected value to be either true or false")
            return text.lower()
        if self.type is ConfigType.LIST:
            return self._list(text)
        if self.type.bits or self.type is ConfigType.DOUBLE:
            return self._number(text)
        if self.choices and text not in self.choices:
            raise ConfigException(self.name, value, f"String must be one of: {', '.join(self.choices)}")
        why = self.check([text])
        if why:
            raise ConfigException(self.name, value, why)
        return text

    def _number(self, text: str) -> str:
        try:
            number: float = float(text) if self.type is ConfigType.DOUBLE else _whole(text, self.type.bits)
        except ValueError:
            raise ConfigException(self.name, text, f"Not a number of type {self.type.name}") from None
        shown = as_text(number)
        if self.at_least is not None and number < self.at_least:
            raise ConfigException(self.name, shown, f"Value must be at least {self.at_least}")
        if self.at_most is not None and number > self.at_most:
            raise ConfigException(self.name, shown, f"Value must be no more than {self.at_most}")
        return shown

    def _list(self, text: str) -> str:
        items = [item.strip() for item in text.split(",")] if text else []
        for item in items:
            if self.choices and item not in self.choices:
                raise ConfigException(self.name, item, f"String must be one of: {', '.join(self.choices)}")
        why = self.check(items)
        if why:
            raise ConfigException(self.name, text, why)
        return ",".join(items)


def _whole(text: str, bits: int) -> int:
    """A whole number of at most this many bits. Raises: ValueError."""
    if not _WHOLE.fullmatch(text) or not -(1 << bits - 1) <= int(text) < 1 << bits - 1:
        raise ValueError(text)
    return int(text)


def _throttled(items: list[str]) -> str:
    """Check a list of throttled replicas (ThrottledReplicaListValidator)."""
    if items[:1] == ["*"] or all(not item or _THROTTLED.fullmatch(item) for item in items):
        return ""
    return (
        "leader.replication.throttled.replicas must be the literal '*' or a list of replicas in the following format: "
        "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    )


_API_VERSIONS = {
    "0.8.0": 0, "0.8.1": 0, "0.8.2": 0, "0.9.0": 0, "0.10.0": 2, "0.10.1": 3, "0.10.2": 1, "0.11.0": 3, "1.0": 1,
    "1.1": 1, "2.0": 2, "2.1": 3, "2.2": 2, "2.3": 2, "2.4": 2, "2.5": 1, "2.6": 1, "2.7": 3,
    "2.8": 2, "3.0": 2, "3.1": 1, "3.2": 1, "3.3": 4, "3.4": 1, "3.5": 3, "3.6": 3, "3.7": 5, "3.8": 1,
    "3.9": 1,
}  # fmt: skip
"""The number of internal versions of each release up to 3.9: 1.0 has 1.0-IV0 (kafka.api.ApiVersion)."""


def _api_version(texts: list[str]) -> str:
    """Check a version of Kafka (ApiVersionValidator). The part after the release, such as the patch, does not count.
    Versions of later releases than the brokers' are accepted, too."""
    (text,) = texts
    release, _, internal = ".".join(text.split(".")[: 3 if text.startswith("0.") else 2]).partition("-IV")
    count = _API_VERSIONS.get(release)
    known = count is not None and (not internal or internal in map(str, range(count)))
    return "" if known else f"Version `{text}` is not a valid version"


_INT, _LONG, _DOUBLE = ConfigType.INT, ConfigType.LONG, ConfigType.DOUBLE
_STRING, _BOOLEAN, _LIST = ConfigType.STRING, ConfigType.BOOLEAN, ConfigType.LIST
_WEEK_MS = str(7 * 24 * 3600 * 1000)
_NEVER = str(LONG_MAX)

_TOPIC = (
    ConfigDefinition("cleanup.policy", _LIST, "delete", "log.cleanup.policy", choices=("compact", "delete")),
    ConfigDefinition(
        "compression.type", _STRING, "producer", "compression.type",
        choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    ),
    ConfigDefinition("delete.retention.ms", _LONG, "86400000", "log.cleaner.delete.retention.ms", 0),
    ConfigDefinition("file.delete.delay.ms", _LONG, "60000", "log.segment.delete.delay.ms", 0),
    ConfigDefinition("flush.messages", _LONG, _NEVER, "log.flush.interval.messages", 0),
    ConfigDefinition("flush.ms", _LONG, _NEVER, "log.flush.interval.ms", 0),
    ConfigDefinition("follower.replication.throttled.replicas", _LIST, "", check=_throttled),
    ConfigDefinition("index.interval.bytes", _INT, "4096", "log.index.interval.bytes", 0),
    ConfigDefinition("leader.replication.throttled.replicas", _LIST, "", check=_throttled),
    ConfigDefinition("max.compaction.lag.ms", _LONG, _NEVER, "log.cleaner.max.compaction.lag.ms", 1),
    ConfigDefinition("max.message.bytes", _INT, "1000012", "message.max.bytes", 0),
    ConfigDefinition("message.downconversion.enable", _BOOLEAN, "true", "log.message.downconversion.enable"),
    # Its default is the release's own (BrokerPolicies.message_format).
    ConfigDefinition("message.format.version", _STRING, "", "log.message.format.version", check=_api_version),
    ConfigDefinition(
        "message.timestamp.difference.max.ms", _LONG, _NEVER, "log.message.timestamp.difference.max.ms", 0
    ),
    ConfigDefinition(
        "message.timestamp.type", _STRING, "CreateTime", "log.message.timestamp.type",
        choices=("CreateTime", "LogAppendTime"),
    ),
    ConfigDefinition("min.cleanable.dirty.ratio", _DOUBLE, "0.5", "log.cleaner.min.cleanable.ratio", 0, 1),
    ConfigDefinition("min.compaction.lag.ms", _LONG, "0", "log.cleaner.min.compaction.lag.ms", 0),
    ConfigDefinition("min.insync.replicas", _INT, "1", "min.insync.replicas", 1),
    ConfigDefinition("preallocate", _BOOLEAN, "false", "log.preallocate"),
    ConfigDefinition("retention.bytes", _LONG, "-1", "log.retention.bytes"),
    ConfigDefinition("retention.ms", _LONG, _WEEK_MS, "log.retention.ms", -1),
    ConfigDefinition("segment.bytes", _INT, "1073741824", "log.segment.bytes", 14),
    ConfigDefinition("segment.index.bytes", _INT, "10485760", "log.index.size.max.bytes", 0),
    ConfigDefinition("segment.jitter.ms", _LONG, "0", "log.roll.jitter.ms", 0),
    ConfigDefinition("segment.ms", _LONG, _WEEK_MS, "log.roll.ms", 1),
    ConfigDefinition("unclean.leader.election.enable", _BOOLEAN, "false", "unclean.leader.election.enable"),
)  # fmt: skip

TOPIC_CONFIGS: Mapping[str, ConfigDefinition] = {each.name: each for each in _TOPIC}
"""The settings of topics, by name (LogConfig.configNames)."""


def valid_topic_config(config: Mapping[str, str | None]) -> dict[str, str]:
    """The settings of a topic with their values as Kafka shows them (LogConfig.validate).

    Raises:
        ApiException: a name that no setting has, or values that contradict each other.
        ConfigException: a value that the setting cannot have.
    """
    for name in config:
        if name not in TOPIC_CONFIGS:
            raise ApiException(Errors.INVALID_CONFIG, f"Unknown topic config name: {name}")
    valid = {name: TOPIC_CONFIGS[name].parse(value) for name, value in config.items()}
    lags = [int(valid.get(name) or TOPIC_CONFIGS[name].default) for name in _LAGS]
    if lags[0] > lags[1]:
        why = f"conflict topic config setting {_LAGS[0]} ({lags[0]}) > {_LAGS[1]} ({lags[1]})"
        raise ApiException(Errors.INVALID_CONFIG, why)
    return valid


_LAGS = ("min.compaction.lag.ms", "max.compaction.lag.ms")


RATES: Mapping[str, ConfigDefinition] = {
    name: ConfigDefinition(name, _LONG, _NEVER, at_least=0)
    for name in (
        "leader.replication.throttled.rate", "follower.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
    )
}  # fmt: skip
"""Settings of brokers that exist only as dynamic ones (DynamicConfig.Broker)."""


@frozen
class BrokerConfigEntry:
    """One setting of the brokers.

    Attributes:
        value: the value with which the brokers were started, as text in Kafka's unit.
        is_stated: whether it is set in the brokers' configuration (server.properties); else it is Kafka's default.
        is_dynamic: whether it can be changed while the broker runs (KIP-226).
    """

    definition: ConfigDefinition
    value: str
    is_stated: bool = False
    is_dynamic: bool = False


ServerProperties = Mapping[str, BrokerConfigEntry]
"""The settings of the brokers, by Kafka's names."""

_BROKER = (
    ConfigDefinition("background.threads", _INT, "10", at_least=1),
    ConfigDefinition("log.cleaner.backoff.ms", _LONG, "15000", at_least=0),
    ConfigDefinition("log.cleaner.dedupe.buffer.size", _LONG, "134217728"),
    ConfigDefinition("log.cleaner.io.buffer.load.factor", _DOUBLE, "0.9"),
    ConfigDefinition("log.cleaner.io.buffer.size", _INT, "524288", at_least=0),
    ConfigDefinition("log.cleaner.io.max.bytes.per.second", _DOUBLE, "1.7976931348623157E308"),
    ConfigDefinition("log.cleaner.threads", _INT, "1", at_least=0),
    ConfigDefinition("max.connections", _INT, "2147483647", at_least=0),
    ConfigDefinition("max.connections.per.ip", _INT, "2147483647", at_least=0),
    ConfigDefinition("max.connections.per.ip.overrides", _STRING, ""),
    ConfigDefinition("metric.reporters", _LIST, ""),
    ConfigDefinition("num.network.threads", _INT, "3", at_least=1),
    ConfigDefinition("num.recovery.threads.per.data.dir", _INT, "1", at_least=1),
)
"""Settings that brokers can change while they run. Topics do not have them, and the emulator does not follow them."""

OF_BROKERS: Mapping[str, ConfigDefinition] = {
    **{each.broker_name: each for each in _TOPIC if each.broker_name},
    **{each.name: each for each in _BROKER},
}
"""The settings of brokers that are known by name alone, by their names on brokers."""

DYNAMIC = (
    "num.io.threads", "num.replica.fetchers", "listeners", "advertised.listeners", "listener.security.protocol.map",
    *(name for name in OF_BROKERS if name != "log.message.format.version"),
)  # fmt: skip
"""The settings that Kafka can change while brokers run, beside the rates of throttles
(DynamicBrokerConfig.AllDynamicConfigs)."""
