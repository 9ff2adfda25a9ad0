"""The policies of a bundle by their places, as differences and plug-ins name them: ``brokers.stop_answers_waiting``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import reduce
from typing import Any

from attrs import Attribute, fields, frozen, has

from brokers.broker_config import BrokerConfig
from emulator.protocol.configs import as_text, is_setting
from scenarios.profiles.profile_registry import PROFILES

DEFAULT = "kafka-2.3"
SET_BY_SCENARIOS = ("topic_min_insync_replicas", "topic_logs", "service", "pinned", "collections")
_NAMES = re.compile(r"((?:\w+, )*\w+): (.+)", re.DOTALL)


@frozen
class PolicyPlace:
    """One policy.

    Attributes:
        name: place in the bundle.
        default: value in Kafka 2.3.
        help: meaning, as the attributes of its class state it.
        elsewhere: the profiles that have it otherwise, and what it is there.
    """

    name: str
    default: str
    help: str
    elsewhere: dict[str, str]


def places() -> Iterator[PolicyPlace]:
    """All policies, floor by floor. What scenario files set is none."""
    bundle = PROFILES[DEFAULT].policies
    for name, meaning in _places(bundle, ""):
        default = _shown(_value(bundle, name))
        others = {profile.name: _shown(_value(profile.policies, name)) for profile in PROFILES.values()}
        yield PolicyPlace(
            name, default, meaning, {profile: other for profile, other in others.items() if other != default}
        )


def _places(bundle: Any, prefix: str) -> Iterator[tuple[str, str]]:
    meanings = _meanings(type(bundle))
    for one in fields(type(bundle)):
        value, name = getattr(bundle, one.name), prefix + one.name
        if _is_set_elsewhere(one, value):
            continue
        meaning = meanings.get(one.name) or (_first_line(type(value)) if prefix and has(type(value)) else "")
        if meaning:
            yield name, meaning
        if has(type(value)) and _is_everywhere(name, type(value)):
            yield from _places(value, f"{name}.")


def _is_everywhere(name: str, kind: type) -> bool:
    """Whether no profile has a rule of another class there, which would have other attributes."""
    return all(type(_value(profile.policies, name)) is kind for profile in PROFILES.values())


def _is_set_elsewhere(one: Attribute[Any], value: object) -> bool:
    return is_setting(one) or isinstance(value, BrokerConfig) or one.name in SET_BY_SCENARIOS


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().partition("\n")[0]


def _meanings(kind: type) -> dict[str, str]:
    """The meaning of each attribute of a class, from its docstring."""
    _, _, text = inspect.cleandoc(kind.__doc__ or "").partition("Attributes:\n")
    found = {}
    for entry in re.split(r"\n(?=    \S)", text.split("\n\n")[0]):
        match = _NAMES.match(entry.strip())
        for name in match[1].split(", ") if match else ():
            found[name] = " ".join(match[2].replace("``", "").split()) if match else ""
    return found


def _value(bundle: Any, place: str) -> Any:
    return reduce(getattr, place.split("."), bundle)


def _shown(value: Any) -> str:
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, (bool, int, str)):
        return "none" if value is None else as_text(value)
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, (frozenset, set, dict)) or not hasattr(value, "__name__"):
        return f"{len(value)} of them" if hasattr(value, "__len__") else type(value).__name__
    return str(value.__name__)
