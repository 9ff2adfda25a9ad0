"""The declaration of Kafka's settings: each one once, with its name, default and meaning, at the field that holds it.

    @frozen
    class BrokerConfig:
        replica_lag_time_max_us: int = config("replica.lag.time.max.ms", 10_000, "how long a follower may lag ...")

Kafka's names end with the unit of a duration; fields are in microseconds. ``with_settings`` converts.
"""

import math
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, TypeVar

from attrs import Attribute, AttrsInstance, Factory, evolve, field, fields, frozen

C = TypeVar("C", bound=AttrsInstance)
ConfigValue = int | float | bool | str
LONG_MAX = 2**63 - 1
"""Kafka's value for "no limit" and "never"."""
_KEY = "kafka config key"
_UNITS_US = {".ms": 1_000, ".seconds": 1_000_000, ".minutes": 60_000_000}


class ConfigType(IntEnum):
    """The type of a setting (DescribeConfigsResponse.ConfigType, 2.6)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9

    @property
    def bits(self) -> int:
        """The size of a whole number, in bits; 0 for the other types."""
        return {ConfigType.SHORT: 16, ConfigType.INT: 32, ConfigType.LONG: 64}.get(self, 0)


@frozen
class ConfigKey:
    """One setting of brokers (``ConfigDef.ConfigKey``).

    Attributes:
        name: Kafka's.
        default: that of Kafka 2.3, in Kafka's unit.
        doc: its meaning in a phrase, for the documentation and the schema.
        type: Kafka's, which bounds numbers; by default that of ``default``, of a number INT.
        at_least: the smallest value that is accepted.
        choices: the accepted words, for a setting that is a word.
        topic_name: the name of the setting for topics, if they can set their own.
        dynamic: whether it can be changed while brokers run (KIP-226).
    """

    name: str
    default: ConfigValue
    doc: str
    at_least: int = 1
    choices: tuple[str, ...] = ()
    topic_name: str = ""
    dynamic: bool = False
    type: ConfigType = Factory(lambda key: _type_of(key.default), takes_self=True)

    def to_field(self, value: ConfigValue) -> ConfigValue:
        """``value``, in Kafka's unit, as the field has it: durations in us; -1 and ``LONG_MAX`` stay."""
        if isinstance(value, str):
            return value
        factor = next((unit for end, unit in _UNITS_US.items() if self.name.endswith(end)), 1)
        return value * factor if factor > 1 and 0 <= value < LONG_MAX else value


def _type_of(value: ConfigValue) -> ConfigType:
    if isinstance(value, bool):
        return ConfigType.BOOLEAN
    if isinstance(value, float):
        return ConfigType.DOUBLE
    return ConfigType.STRING if isinstance(value, str) else ConfigType.INT


def as_text(value: object) -> str:
    """A value as the text that Kafka's tools are given: ``true``, ``5000``, ``LogAppendTime``, ``1.0E-4``."""
    if isinstance(value, float):
        return _double(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _double(value: float) -> str:
    """A double as Java shows it (Double.toString): without an exponent from a thousandth to ten million."""
    if value == 0 or 1e-3 <= abs(value) < 1e7 or not math.isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))
    shortest = next(text for places in range(17) if float(text := f"{value:.{places}e}") == value)
    mantissa, _, exponent = shortest.partition("e")
    return f"{mantissa if '.' in mantissa else f'{mantissa}.0'}E{int(exponent)}"


def config(name: str, default: ConfigValue, doc: str, **more: Any) -> Any:
    """A field that holds a setting; ``more``: the other attributes of ``ConfigKey``."""
    return field_of(ConfigKey(name, default, doc, **more))


def field_of(key: ConfigKey) -> Any:
    """A field that holds the setting ``key``, which is also declared elsewhere."""
    return field(default=key.to_field(key.default), metadata={_KEY: key})


def config_keys(cls: type[AttrsInstance]) -> dict[str, ConfigKey]:
    """The settings that a class declares, by the names of their fields."""
    return {one.name: one.metadata[_KEY] for one in fields(cls) if is_setting(one)}


def is_setting(one: "Attribute[Any]") -> bool:
    """Whether a field holds a setting."""
    return _KEY in one.metadata


def with_settings(holder: C, settings: Mapping[str, ConfigValue]) -> C:
    """A copy of ``holder`` with the values of ``settings``, which are by Kafka's names and in Kafka's units. Settings
    that it does not declare are left out."""
    keys = config_keys(type(holder)).items()
    values: dict[str, Any] = {name: key.to_field(settings[key.name]) for name, key in keys if key.name in settings}
    copied: Any = holder
    changed: C = evolve(copied, **values)
    return changed


CONTROLLER_SOCKET_TIMEOUT = ConfigKey(
    "controller.socket.timeout.ms", 30_000, "how long a request between controller and broker may take"
)
"""Read by the controller, and by brokers that send requests to it."""
