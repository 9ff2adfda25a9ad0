"""Cruise Control's JSON: ``kafka_cluster_state?verbose=true&json=true`` and ``load?json=true``
(KafkaClusterState, BrokerStats in Cruise Control 2.5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenarios.errors import BadInput
from scenarios.importing.found import Found, FoundPartition
from scenarios.importing.json_texts import entries, read_object, whole
from scenarios.units import counted

_STATE, _LOAD = "Cruise Control's kafka_cluster_state as JSON", "Cruise Control's load as JSON"


def read_cluster_state(path: Path, found: Found) -> None:
    """Take in partitions, brokers, log directories and the controller."""
    source, document = str(path), _answer(path, _STATE)
    brokers, partitions = _table(document, "KafkaBrokerState", source), _table(document, "KafkaPartitionState", source)
    if "other" not in partitions:
        raise BadInput("names only partitions in trouble; ask for kafka_cluster_state with verbose=true", source=source)
    for name in ("ReplicaCountByBrokerId", "LeaderCountByBrokerId"):
        for broker in brokers.get(name) or {}:
            found.add_broker(_id(broker, source), source)
    for broker, leads in (brokers.get("IsController") or {}).items():
        found.controller = _id(broker, source) if leads is True else found.controller
    for name in ("OnlineLogDirsByBrokerId", "OfflineLogDirsByBrokerId"):
        for broker, dirs in (brokers.get(name) or {}).items():
            for each in dirs if isinstance(dirs, list) else ():
                found.add_log_dir(_id(broker, source), str(each), source)
    seen: dict[tuple[str, int], None] = {}
    for group, its in partitions.items():
        if not isinstance(its, list):
            continue
        for each in entries(partitions, group, source, _STATE):
            if "topic" in each:  # also where it is in several groups: they agree
                _add(each, found, source)
                seen.setdefault((str(each["topic"]), each["partition"]))
    if not seen:
        raise BadInput("names no partition; ask for kafka_cluster_state with verbose=true&json=true", source=source)
    found.sources.append(f"{source}: Cruise Control's kafka_cluster_state, {counted(len(seen), 'partitions')}")


def _add(each: dict[str, Any], found: Found, source: str) -> None:
    leader = each.get("leader")
    least = each.get("min-isr")
    if type(least) is int and least > 1:  # 1 is also what it says where it knows none
        found.add_topic_config(str(each["topic"]), {"min.insync.replicas": str(least)}, source, wins=False, whole=False)
    found.add_partition(
        str(each["topic"]),
        whole(each, "partition", source, _STATE),
        FoundPartition(
            _ids(each.get("replicas"), source), source, leader if type(leader) is int and leader >= 0 else None,
            _ids(each.get("in-sync"), source),
        ),
    )  # fmt: skip


def read_load(path: Path, found: Found) -> None:
    """Take in the brokers and their racks; the loads of brokers are checks, and not rates of topics."""
    source, document = str(path), _answer(path, _LOAD)
    total = 0.0
    brokers = entries(document, "brokers", source, _LOAD)
    for each in brokers:
        broker, rack = whole(each, "Broker", source, _LOAD), each.get("Rack")
        found.add_broker(broker, source)
        if isinstance(rack, str) and rack and rack != each.get("Host"):
            found.add_rack(broker, rack, source)
        rate = each.get("LeaderNwInRate")
        total += rate if isinstance(rate, (int, float)) and not isinstance(rate, bool) else 0.0
        if isinstance(each.get("DiskState"), dict):
            for name in each["DiskState"]:
                found.add_log_dir(broker, str(name), source)
        state = each.get("BrokerState", "ALIVE")
        if state != "ALIVE":
            found.notes.append(f"broker {broker} is {str(state)[:30]} in {source}; here it begins alive")
    found.notes.append(
        f"{source}: leaders receive {total:.0f} KB/s in all, by Cruise Control's model; topics' rates are not in it"
    )
    found.sources.append(f"{source}: Cruise Control's load, {counted(len(brokers), 'brokers')}")


def _answer(path: Path, wanted: str) -> dict[str, Any]:
    """The answer of an endpoint. Raises: BadInput, also for its two others: that it is at work, and that it failed."""
    document = read_object(path, wanted)
    if "progress" in document:
        raise BadInput(
            "Cruise Control was still at work; ask again with the User-Task-ID of its answer, and save that",
            source=str(path),
        )
    if "errorMessage" in document:
        raise BadInput(f"Cruise Control failed: {str(document['errorMessage'])[:200]}; ask again", source=str(path))
    return document


def _table(document: object, name: str, source: str) -> dict[str, Any]:
    value = document.get(name) if isinstance(document, dict) else None
    if not isinstance(value, dict):
        raise BadInput(f"has no object {name!r}; name {_STATE}", source=source)
    return value


def _id(text: object, source: str) -> int:
    if not isinstance(text, str) or not text.isdecimal() or len(text) > 9:
        raise BadInput(f"{str(text)[:50]!r} is no broker id; name {_STATE}", source=source)
    return int(text)


def _ids(value: object, source: str) -> tuple[int, ...]:
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise BadInput(f"replicas that are no list of broker ids; name {_STATE}", source=source)
    return tuple(value)
