"""The settings that a broker has to describe (DescribeConfigs): computed from what topics, brokers and all brokers have
set, and what the brokers were started with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from brokers.config_def import RATES, TOPIC_CONFIGS
from emulator.protocol.configs import as_text
from emulator.protocol.describe_configs import ConfigEntry, ConfigSource, ConfigSynonym

Config = Mapping[str, str]
Layers = Sequence[tuple[ConfigSource, Config]]
"""The settings beside those of the start, by their source: the first that has one is in force."""
FIXED = ConfigSource.STATIC_BROKER_CONFIG, ConfigSource.DEFAULT_CONFIG
"""The sources of what the brokers were started with."""
OF_RELEASE = "message.format.version"
"""The end of the names whose default is that of the release."""


def wrong_entries(
    topic: Config | None, brokers: Layers, started: Mapping[str, Any], entries: Sequence[ConfigEntry], *, synonyms: bool
) -> Iterator[tuple[str, str, str]]:
    """The wrong entries of a topic, or of a broker (``topic``: None): the setting, what is said of it, and what is so.

    Args:
        brokers: the dynamic settings of the broker.
        started: the settings of the start, by their names on brokers.
        synonyms: whether the values that are not in force are asked for.
    """
    seen: dict[str, None] = {}
    for entry in entries:
        name = entry.name
        if name in seen:
            yield name, "twice", "once"
        seen[name] = None
        of_broker = name if topic is None else TOPIC_CONFIGS[name].broker_name if name in TOPIC_CONFIGS else ""
        if topic is not None and name not in TOPIC_CONFIGS:
            yield name, "a setting", "topics have none of that name"
            continue
        layers = brokers if topic is None else [(ConfigSource.TOPIC_CONFIG, topic), *brokers]
        found = [
            ConfigSynonym(called, config[called], source)
            for source, config in layers
            for called in (name if source == ConfigSource.TOPIC_CONFIG else of_broker,)
            if called in config
        ]
        hidden = entry.is_sensitive and topic is None  # what Kafka does not know may be a password
        if hidden:
            found = [one._replace(value=None) for one in found]
        yield from _wrong(entry, found, _of_start(name, of_broker, started), synonyms)
        if topic is not None and entry.type != TOPIC_CONFIGS[name].type:
            yield name, f"the type {entry.type.name}", TOPIC_CONFIGS[name].type.name
        if topic is not None and (entry.read_only or entry.is_sensitive):
            yield name, "read-only, or secret", "neither"
        if hidden and name in started and name not in RATES:
            yield name, "secret", "a known setting"


def _of_start(name: str, of_broker: str, started: Mapping[str, Any]) -> str | None:
    """The value of a setting that nothing has set since the start; None: not known."""
    if name.endswith(OF_RELEASE):
        return None
    if of_broker in started:
        return as_text(started[of_broker])
    return TOPIC_CONFIGS[name].default if name in TOPIC_CONFIGS else None


def _wrong(
    entry: ConfigEntry, found: list[ConfigSynonym], start: str | None, synonyms: bool
) -> Iterator[tuple[str, str, str]]:
    name, said = entry.name, f"{entry.value} of {entry.source.name}"
    if found and (entry.value, entry.source) != (found[0].value, found[0].source):
        yield name, said, f"{found[0].value} of {found[0].source.name}"
    elif not found and (entry.source not in FIXED or (start is not None and entry.value not in (start, None))):
        yield name, said, f"{start} of the start"
    listed = list(entry.synonyms)
    if not synonyms:
        if listed:
            yield name, f"{len(listed)} synonyms", "none were asked for"
        return
    later = listed[len(found) :]
    if listed[: len(found)] != found or any(one.source not in FIXED for one in later):
        yield name, f"the synonyms {_listed(listed)}", f"these first: {_listed(found)}"
    elif later and not found and (later[0].value, later[0].source) != (entry.value, entry.source):
        yield name, said, f"{later[0].value} of {later[0].source.name}, its first synonym"


def _listed(synonyms: Sequence[ConfigSynonym]) -> str:
    return ", ".join(f"{one.name}={one.value} of {one.source.name}" for one in synonyms) or "none"
