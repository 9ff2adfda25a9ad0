"""The brokers, topics and partitions that a scenario's table names, in all places; renamed or removed together.

A table is a scenario as plain dicts and lists (``Scenario.to_table``). An entry that is about nothing but what is
removed is removed, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

Table = dict[str, Any]

BROKER_KEYS = (
    "target", "peer", "for_each", "brokers", "broker", "broker_ids", "from", "to", "replicas", "assignment", "leader",
    "isr", "failed_partitions", "controller", "decommission", "groups",
)  # fmt: skip
"""The keys whose integers are broker ids, but for those in ``COUNTS``."""

COUNTS = (("cluster", "brokers"),)
"""The places where such a key holds a number of brokers."""

ENTRIES = ("branches", "method", "rollbacks", "expect", "steady_state", "consumers", "workloads", "cards", "partitions")
"""Lists of tables, each of which can go by itself."""


def ids_of(table: Mapping[str, Any]) -> list[int]:
    cluster = table["cluster"]
    return list(cluster.get("broker_ids") or range(cluster["brokers"]))


class Gone(Exception):
    """The rest of a value names nothing any more."""


Rename = Callable[[int], int | None]
"""A function that returns a broker's new id; None: the broker is removed."""


def with_brokers(table: Mapping[str, Any], rename: Rename) -> Table:
    """``table`` with other broker ids. The replica lists of topics keep one length: where one loses a replica, the
    others lose their last. Raises: Gone where a partition would be left without any."""
    found: Table = _renamed(dict(table), rename, ())
    for topic in _topics(found):
        lists = topic.get("assignment")
        if lists:
            least = min(map(len, lists))
            if not least:
                raise Gone
            topic["assignment"] = [replicas[:least] for replicas in lists]
    return found


def _topics(table: Mapping[str, Any]) -> list[Table]:
    created = [entry["topic"] for entry in table.get("method", ()) if isinstance(entry.get("topic"), dict)]
    return [*table.get("topics", ()), *created]


def _renamed(value: Any, rename: Rename, path: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        found = {}
        for name, item in value.items():
            where = (*path, name)
            if name in ENTRIES and isinstance(item, list) and all(isinstance(part, dict) for part in item):
                found[name] = _surviving(item, partial(_renamed, rename=rename, path=where))
                if item and not found[name] and name == "partitions":
                    raise Gone
            else:
                found[name] = _renamed(item, rename, where)
        return found
    brokers = _holds_brokers(path)
    if isinstance(value, list):
        kept = _surviving(value, lambda part: _renamed(part, rename, path))
        if value and not kept and brokers and path[0] != "topics":
            raise Gone
        return kept
    if brokers and isinstance(value, int) and not isinstance(value, bool):
        new = rename(value)
        if new is None:
            raise Gone
        return new
    return value


def _holds_brokers(path: tuple[str, ...]) -> bool:
    return path not in COUNTS and any(name in BROKER_KEYS for name in path[-2:]) and path[-1] not in ("value", "mode")


def _surviving(items: list[Any], change: Callable[[Any], Any]) -> list[Any]:
    kept = []
    for item in items:
        try:
            kept.append(change(item))
        except Gone:
            continue
    return kept


# -- topics and partitions --------------------------------------------------------------------------------------------


def with_partitions(table: Mapping[str, Any], topic: str, kept: list[int]) -> Table:
    """``table`` where ``topic`` has the partitions ``kept`` only, numbered from 0. Entries that name others are
    removed; without any partition the topic is."""
    names = {f"{topic}-{old}": f"{topic}-{new}" for new, old in enumerate(kept)}
    numbers = {old: new for new, old in enumerate(kept)}
    found = {}
    for block, value in table.items():
        if block == "topics":
            found[block] = [_kept_partitions(one, topic, kept) for one in value if kept or one["name"] != topic]
        elif block == "plan":
            with suppress(Gone):
                found[block] = _without(value, topic, names, numbers)
        elif block in ENTRIES:
            found[block] = _surviving(value, lambda entry: _without(entry, topic, names, numbers))
        else:
            found[block] = value
    return found


def _kept_partitions(one: Table, topic: str, kept: list[int]) -> Table:
    return {**one, "assignment": [one["assignment"][old] for old in kept]} if one["name"] == topic else one


def _without(value: Any, topic: str, names: Mapping[str, str], numbers: Mapping[int, int]) -> Any:
    """An entry without the removed partitions. Raises: Gone where it was about nothing else."""
    if isinstance(value, dict):
        if value.get("topic") == topic:
            value = _of_topic(value, numbers)
        found = {}
        for name, item in value.items():
            new = _text(name, topic, names)
            if new is not None:
                found[new] = _without(item, topic, names, numbers)
        if value and not found:
            raise Gone
        return found
    if isinstance(value, list):
        kept = _surviving(value, lambda item: _without(item, topic, names, numbers))
        if value and not kept:
            raise Gone
        return kept
    if isinstance(value, str):
        text = _text(value, topic, names)
        if text is None:
            raise Gone
        return text
    return value


def _of_topic(value: Table, numbers: Mapping[int, int]) -> Table:
    """A table that is about the topic, with the new numbers of its partitions."""
    if not numbers or value.get("partition", next(iter(numbers))) not in numbers:
        raise Gone
    found = dict(value)
    if "partition" in value:
        found["partition"] = numbers[value["partition"]]
    if isinstance(value.get("partitions"), list):
        found["partitions"] = [numbers[one] for one in value["partitions"] if one in numbers]
        if value["partitions"] and not found["partitions"]:
            raise Gone
    return found


def _text(text: str, topic: str, names: Mapping[str, str]) -> str | None:
    """A text with the new name of the partition that it names; None where that is removed."""
    for form in _FORMS:
        match = re.search(form.format(re.escape(topic)), text)
        if match is not None:
            new = names.get(f"{topic}-{match[1]}")
            return None if new is None else text[: match.start(1)] + new.rpartition("-")[2] + text[match.end(1) :]
    return None if text.endswith(f"/topics/{topic}") and not names else text


_FORMS = (r"(?<![\w.-]){}-(\d+)(?![\w.-])", r"/topics/{}/partitions/(\d+)")
"""The forms of a partition in texts: in names and roles, and in paths of znodes."""
