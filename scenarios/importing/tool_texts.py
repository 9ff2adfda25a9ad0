"""Texts of Kafka's tools: ``kafka-topics``, ``kafka-log-dirs`` and ``kafka-configs`` with ``--describe``, and the JSON
of ``kafka-reassign-partitions``, of the releases 0.10 to 3.9 (TopicCommand, LogDirsCommand, ConfigCommand)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.errors import BadInput
from scenarios.importing.found import Found, FoundMove, FoundPartition, FoundReplica
from scenarios.reading import parse_json, read_text
from scenarios.units import counted

_FIELD = re.compile(r"(?:^|\t)\s*([A-Z][A-Za-z]*(?: [A-Z][a-z]+)?):[ ]?([^\t]*)")
_NEXT_SETTING = re.compile(r",(?=[a-z][a-z0-9.]*=)")
_NAME = re.compile(r"(.+)-([0-9]{1,9})")
_ID = re.compile(r"[0-9]{1,9}")
_ENTITY = re.compile(
    r"(?:Dynamic configs|All configs|Configs|Default configs?|Config|Quota configs) for "
    r"(?:the )?(default )?(topic|broker|user|client-id|client|ip)(s)?(?: (?:with )?'?([^' ]*)'?)?.*? are[ :]*(.*)"
)
_SETTING = re.compile(r"\s+([a-z][a-z0-9.]*)=(.*?) sensitive=(true|false)(?: synonyms=\{(.*)\})?\s*")
_EFFECTIVE = re.compile(r"([A-Z_]+):")
NO_CONFIG = ("DEFAULT_CONFIG", "STATIC_BROKER_CONFIG")
HIDDEN = "null"


def lines_of(path: Path, wanted: str) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers, without control sequences that a terminal has left."""
    for number, line in enumerate(read_text(path, wanted).splitlines(), start=1):
        yield number, line.rstrip("\r\n")


def read_json(path: Path, wanted: str) -> Any:
    """The JSON in a file; lines above it that a tool prints are left out."""
    text = read_text(path, wanted)
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=-1)
    if start < 0:
        raise BadInput(f"holds no JSON; name {wanted}", source=str(path))
    if text[:start].strip() and (line := re.search(r"^[ \t]*[{[]", text, re.MULTILINE)):
        start = line.end() - 1
    try:
        return parse_json(_first_value(text, start))
    except json.JSONDecodeError as error:
        line_number = text.count("\n", 0, start) + error.lineno
        raise BadInput(f"broken JSON: {error.msg}; name {wanted}", source=str(path), line=line_number) from None
    except BadInput as error:
        raise error.in_file(str(path)) from None


def _first_value(text: str, start: int) -> str:
    """The text from ``start`` on; only its first line where that is a whole value and other lines follow."""
    first, _, rest = text[start:].partition("\n")
    closes = first.rstrip().endswith(("}", "]")) and len(first.strip()) > 1
    return first if closes and rest.strip() and not rest.lstrip().startswith((",", "}", "]")) else text[start:]


# -- kafka-topics -----------------------------------------------------------------------------------------------------


def read_topics(path: Path, found: Found) -> None:
    """Take in what ``kafka-topics --describe`` printed."""
    source, partitions, topics = str(path), 0, 0
    for number, line in lines_of(path, "what kafka-topics --describe printed"):
        fields = {name: value.strip() for name, value in _FIELD.findall(line)}
        if "Topic" not in fields:
            continue
        try:
            if "Partition" in fields:
                _add_partition(fields, found, source)
                partitions += 1
            elif "PartitionCount" in fields:
                topics += 1
                config = _settings(fields.get("Configs", ""))
                found.add_topic_config(fields["Topic"], config, source, wins=False)
        except BadInput as error:
            raise _at_line(error, source, number) from None
    if not partitions:
        raise BadInput("describes no partition; name what kafka-topics --describe printed", source=source)
    found.sources.append(
        f"{source}: kafka-topics --describe, {counted(topics, 'topics')}, {counted(partitions, 'partitions')}"
    )


def _add_partition(fields: Mapping[str, str], found: Found, source: str) -> None:
    number, leader = fields["Partition"], fields.get("Leader", "")
    if not _ID.fullmatch(number):
        raise BadInput(f"{number!r} is no partition number; name what kafka-topics --describe printed")
    found.add_partition(
        fields["Topic"],
        int(number),
        FoundPartition(
            _brokers(fields.get("Replicas", "")),
            source,
            int(leader) if _ID.fullmatch(leader) else None,
            _brokers(fields.get("Isr", "")),
            _brokers(fields.get("Adding Replicas", "")),
            _brokers(fields.get("Removing Replicas", "")),
        ),
    )


def _brokers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(map(_ID.fullmatch, parts)):
        raise BadInput(f"{text!r} lists no broker ids; write such as 1,2,3")
    return tuple(map(int, parts))


def _settings(text: str) -> dict[str, str]:
    """``a=1,b=c,d``: a value may hold commas."""
    parts = (part.partition("=") for part in _NEXT_SETTING.split(text.strip()) if part)
    return {name: value for name, equals, value in parts if equals}


def _at_line(error: BadInput, source: str, line: int) -> BadInput:
    return BadInput(error.what, where=error.where, source=source, line=line)


# -- kafka-log-dirs ---------------------------------------------------------------------------------------------------


def read_log_dirs(path: Path, found: Found) -> None:
    """Take in what ``kafka-log-dirs --describe`` printed."""
    source, wanted = str(path), "what kafka-log-dirs --describe printed"
    count = 0
    document = read_json(path, wanted)
    for broker in entries(document, "brokers", source, wanted):
        id = whole(broker, "broker", source, wanted)
        found.add_broker(id, source)
        for directory in entries(broker, "logDirs", source, wanted):
            name, error = directory.get("logDir"), directory.get("error")
            if not isinstance(name, str) or not name:
                raise BadInput(f"a log directory without a name; name {wanted}", source=source)
            if error:
                found.notes.append(
                    f"broker {id}: the log directory {name} answered {error}; what is in it is not known"
                )
            found.add_log_dir(id, name, source)
            for each in entries(directory, "partitions", source, wanted):
                match = _NAME.fullmatch(str(each.get("partition")))
                if match is None:
                    raise BadInput(f"{str(each.get('partition'))!r} is no partition; name {wanted}", source=source)
                replica = FoundReplica(whole(each, "size", source, wanted), name, each.get("isFuture") is True)
                found.add_replica(match[1], int(match[2]), id, replica, source)
                count += 1
    found.sources.append(f"{source}: kafka-log-dirs --describe, {counted(count, 'replicas')}")


def entries(table: object, name: str, source: str, wanted: str) -> list[dict[str, Any]]:
    """The list of tables under a key of JSON."""
    value = table.get(name) if isinstance(table, dict) else None
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BadInput(f"has no list {name!r} of objects; name {wanted}", source=source)
    return value


def whole(table: Mapping[str, Any], name: str, source: str, wanted: str) -> int:
    """A whole number under a key of JSON."""
    value = table.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadInput(f"{name!r} is {str(value)[:50]} and no whole number; name {wanted}", source=source)
    return value


# -- kafka-configs ----------------------------------------------------------------------------------------------------


def read_configs(path: Path, found: Found) -> None:
    """Take in what ``kafka-configs --describe`` printed of topics or of brokers."""
    source, entity, count = str(path), ("", ""), 0
    for number, line in lines_of(path, "what kafka-configs --describe printed"):
        try:
            head = _ENTITY.match(line)
            if head is not None:
                default, kind, _plural, name, rest = head.groups()
                is_default = default is not None or line.startswith("Default ") or name in ("<default>", "")
                entity = (kind, "" if is_default and kind == "broker" else name or "")
                if rest:  # from ZooKeeper: all in this line
                    _add_config(entity, _settings(rest), found, source)
                count += 1
            elif setting := _SETTING.fullmatch(line):
                name, value, _, synonyms = setting.groups()
                effective = _EFFECTIVE.match(synonyms or "")
                if value == HIDDEN or (entity[0] == "topic" and effective and effective[1] in NO_CONFIG):
                    if value == HIDDEN and "throttled" in name:
                        found.notes.append(f"{entity[0]} {entity[1]}: {name} is set, and this tool hides its value")
                    continue
                if effective and effective[1] == "DEFAULT_CONFIG":
                    continue
                _add_config(entity, {name: value}, found, source)
        except BadInput as error:
            raise _at_line(error, source, number) from None
    if not count:
        raise BadInput("describes no settings; name what kafka-configs --describe printed", source=source)
    found.sources.append(f"{source}: kafka-configs --describe, {counted(count, 'entities')}")


def _add_config(entity: tuple[str, str], config: Mapping[str, str], found: Found, source: str) -> None:
    kind, name = entity
    if kind == "topic":
        found.add_topic_config(name, config, source, wins=True)
    elif kind == "broker" and not name:
        found.defaults |= config
    elif kind == "broker":
        if not _ID.fullmatch(name):
            raise BadInput(f"{name!r} is no broker id; name what kafka-configs --describe printed")
        add_broker_config(int(name), config, found, source)
    else:
        found.notes.append(f"settings of {kind} {name or '(default)'} in {source} are left out")


def add_broker_config(broker: int, config: Mapping[str, str], found: Found, source: str) -> None:
    """Take in settings of a broker; two of them are places in the scenario: its rack and its log directories."""
    found.add_broker(broker, source)
    kept = dict(config)
    if rack := kept.pop("broker.rack", ""):
        found.add_rack(broker, rack, source)
    for name in filter(None, (each.strip() for each in kept.pop("log.dirs", "").split(","))):
        found.add_log_dir(broker, name, source)
    found.broker_config.setdefault(broker, {}).update(kept)


# -- kafka-reassign-partitions ----------------------------------------------------------------------------------------


def read_reassignment(path: Path, found: Found) -> None:
    """Take in the JSON that ``kafka-reassign-partitions`` reads."""
    source, wanted = str(path), "the JSON of kafka-reassign-partitions"
    document = read_json(path, wanted)
    seen: set[tuple[str, int]] = set()
    for each in entries(document, "partitions", source, wanted):
        topic, number = each.get("topic"), whole(each, "partition", source, wanted)
        replicas, dirs = each.get("replicas"), each.get("log_dirs", [])
        ids = isinstance(replicas, list) and replicas and all(type(one) is int and one >= 0 for one in replicas)
        if not isinstance(topic, str) or not ids or not isinstance(dirs, list):
            raise BadInput(f"an entry without a topic or its replicas; name {wanted}", source=source)
        if (topic, number) in seen or len(set(replicas)) != len(replicas):  # type: ignore[arg-type]
            raise BadInput(f"{topic}-{number} is named twice, or one of its replicas; keep one", source=source)
        seen.add((topic, number))
        found.moves.append(FoundMove(topic, number, tuple(replicas), tuple(map(str, dirs))))  # type: ignore[arg-type]
        for broker in replicas:  # type: ignore[union-attr]
            found.add_broker(broker, source)
    if not found.moves:
        raise BadInput(f"moves no partition; name {wanted}", source=source)
    found.sources.append(f"{source}: reassignment JSON, {counted(len(found.moves), 'partitions')}")
