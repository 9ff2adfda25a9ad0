"""Two other codecs behind one face: kio's entities, and kafka-python's messages, made of Kafka's own definitions."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any
from uuid import UUID

from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer

from scenarios.wire.codec.schema import Api, Field
from tests.scenarios.wire.codec.bodies import fields_of

OTHER_NAMES: dict[str, Callable[[str], str]] = {
    "as in Kafka 3.0": lambda name: name,
    "a duration in kio": lambda name: name.removesuffix("_ms"),
    "since KIP-848": lambda name: f"{name}_or_member_epoch",
    "in kafka-python, of a topic": lambda name: name.removeprefix("topic_"),
    "in kafka-python, of the cluster": lambda name: name.removeprefix("cluster_"),
    "a field that ends with AddPartitionsToTxn 3": lambda name: f"v3_and_below_{name}",
    "in its response": lambda name: f"{name}_by_topic_v3_and_below",
    "in a topic of its response": lambda name: f"{name}_by_partition",
    "in a partition of its response": lambda name: f"partition_{name}",
}
"""How the peers, whose definitions are those of Kafka 4, call a field."""


def their_name(name: str, names: Collection[str]) -> str:
    """A peer's name of a field of ours, of the names that it has in the same place."""
    return next(other for each in OTHER_NAMES.values() if (other := each(name)) in names)


def ours(fields: Sequence[Field], version: int, theirs: Mapping[str, Any]) -> dict[str, Any]:
    """A peer's values with our names, and with our defaults for what the version lacks.

    A tagged field that was not sent is None in kafka-python.
    """
    values = {}
    for each in fields:
        there = version in each.versions
        value = theirs[their_name(each.name, theirs)] if there else each.default
        if there and each.fields and value is not None:
            nested = [ours(each.fields, version, row) for row in (value if each.is_array else [value])]
            value = nested if each.is_array else nested[0]
        values[each.name] = each.default if value is None and version not in each.nullable else value
    return values


class Kio:
    """kio 0.6.5: a frozen class for each message and version, with a reader in Rust."""

    def has(self, api: Api, version: int) -> bool:
        return version in schema_name_map[api_key_map[api.key]]

    def read(self, api: Api, version: int, kind: str, body: bytes) -> tuple[dict[str, Any], bytes]:
        """The values of a body, and the bytes that kio writes for them."""
        load: Any = load_request_schema if kind == "request" else load_response_schema
        entity = load(api.key, version)
        made, size = entity_reader(entity)(body, 0)
        assert size == len(body)
        out = io.BytesIO()
        entity_writer(entity)(out, made)
        return ours(fields_of(api, kind), version, plain(made)), out.getvalue()


def plain(value: Any) -> Any:
    """kio's value as ours: milliseconds, numbers, lists and dicts."""
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, UUID):
        return value.bytes
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


@cache
def base() -> Any:
    """The class of kafka-python's messages; all of them are imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of how it reads its own resources
        package = import_module("kafka.protocol")
        for module in walk_packages(package.__path__, "kafka.protocol."):
            if not module.name.startswith("kafka.protocol.old"):
                import_module(module.name)
    return import_module("kafka.protocol.api_message").ApiMessage


@cache
def messages() -> dict[str, Any]:
    """kafka-python's classes by their names, as in ``FetchRequest``."""
    return {each.__name__: each for each in _below(base())}


def _below(cls: Any) -> list[Any]:
    return [found for each in type.__subclasses__(cls) for found in (each, *_below(each))]


class KafkaPython:
    """kafka-python 3.0.12: ships the message definitions of Kafka 4, and compiles them when it runs."""

    def has(self, api: Api, version: int) -> bool:
        return version in api.versions and f"{api.name}Request" in messages()

    def read(self, api: Api, version: int, kind: str, body: bytes) -> tuple[dict[str, Any], bytes]:
        """The values of a body, and the bytes that kafka-python writes for them."""
        message = messages()[api.name + kind.capitalize()]
        fields = fields_of(api, kind)
        # Not as ApiVersionsResponse does it, which reads version 0 where there is an error.
        decoded = base().decode.__func__(message, body, version=version)
        values = ours(fields, version, decoded.to_dict(json=False))
        made = message(version=version, **self._values(fields, version, values, message._struct.fields))
        return _numbers(values), made.encode()

    def _values(
        self, fields: Sequence[Field], version: int, body: Mapping[str, Any], theirs: Mapping[str, Any]
    ) -> dict[str, Any]:
        values = {}
        for each in fields:
            value = body[each.name]
            if version not in each.versions or (each.tag is not None and value == each.default):
                continue
            name = their_name(each.name, theirs)
            if each.fields and value is not None:
                of = theirs[name]
                made = [
                    of.data_class(version=version, **self._values(each.fields, version, row, of.fields))
                    for row in (value if each.is_array else [value])
                ]
                value = made if each.is_array else made[0]
            elif name == "authorized_operations" and value == each.default:
                value = {31}
            values[name] = value
        return values


def _numbers(value: Any) -> Any:
    """kafka-python's value as ours: the bits of a set as a number, bytes of a UUID."""
    if isinstance(value, dict):
        return {name: _numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    if isinstance(value, set):
        return sum(1 << bit if bit < 31 else -(1 << 31) for bit in value)
    return value.bytes if isinstance(value, UUID) else value


PEERS: dict[str, Kio | KafkaPython] = {"kio": Kio(), "kafka-python": KafkaPython()}
