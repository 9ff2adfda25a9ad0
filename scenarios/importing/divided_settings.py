"""Settings of a real cluster, divided into those that the emulator knows, with their values, and the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from scenarios.errors import BadInput
from scenarios.language.kafka_settings import BROKER_SETTINGS, TOPIC_SETTINGS, Setting
from scenarios.language.schema.kinds import Boolean, Integer

_LARGER_UNITS = {
    "log.retention.minutes": ("log.retention.ms", 60_000),
    "log.retention.hours": ("log.retention.ms", 3_600_000),
    "log.roll.hours": ("log.roll.ms", 3_600_000),
}
"""Settings that Kafka has in several units, from the one that goes first; -1 stays."""
_SESSION_TIMEOUT = "zookeeper.session.timeout.ms"
_COMPACTION = ("cleanup.policy", "log.cleanup.policy")
"""Settings that are left out where they have a log compacted: a sampled run does not leap where one is, and a forecast
would take hours."""


@frozen
class DividedSettings:
    """The settings of one kind.

    Attributes:
        known: values by name.
        others: the texts of what the emulator does not know, cannot take, or should not (``_COMPACTION``).
        session_timeout_ms: zookeeper.session.timeout.ms, which a scenario has in its table of ZooKeeper.
    """

    known: dict[str, Any] = field(factory=dict)
    others: dict[str, str] = field(factory=dict)
    session_timeout_ms: int | None = None


def topic_settings(config: Mapping[str, str]) -> DividedSettings:
    return _divided(config, TOPIC_SETTINGS)


def broker_settings(config: Mapping[str, str], notes: list[str]) -> DividedSettings:
    """The settings of all brokers, each in the unit that the scenario has."""
    kept = dict(config)
    for name, (finer, factor) in _LARGER_UNITS.items():
        value = kept.pop(name, None)
        if value is None:
            continue
        if finer not in kept and value.lstrip("-").isdecimal() and len(value) < 12:
            kept[finer] = str(int(value) * factor) if int(value) > 0 else value
            notes.append(f"{finer} is {name} = {value}")
    timeout = kept.get(_SESSION_TIMEOUT, "")
    if not timeout.isdecimal() or len(timeout) > 9 or not int(timeout):
        return _divided(kept, BROKER_SETTINGS)
    del kept[_SESSION_TIMEOUT]
    return evolve(_divided(kept, BROKER_SETTINGS), session_timeout_ms=int(timeout))


def _divided(config: Mapping[str, str], settings: Mapping[str, Setting]) -> DividedSettings:
    found = DividedSettings()
    for name, text in sorted(config.items()):
        is_taken = name in settings and not (name in _COMPACTION and "compact" in text)
        value = _value(settings[name], text) if is_taken else None
        if value is None:
            found.others[name] = text
        else:
            found.known[name] = value
    return found


def _value(setting: Setting, text: str) -> Any:
    """The value of a text; None where the setting cannot have it here."""
    value: object = text.strip()
    if isinstance(setting.kind, Boolean):
        value = {"true": True, "false": False}.get(text.strip().lower())
    elif isinstance(setting.kind, Integer):
        value = int(text) if text.strip().lstrip("-").isdecimal() and len(text) < 30 else None
    try:
        return setting.kind.read(value)
    except BadInput:
        return None
