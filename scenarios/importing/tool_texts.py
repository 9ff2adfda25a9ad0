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

_FIELD = re.compile(r"(?:^|\t) {0,4}([A-Z][A-Za-z]{0,40}(?: [A-Z][a-z]{0,40})?):[ ]?([^\t]*)")
_NEXT_SETTING = re.compile(r",(?=[a-z][a-z0-9.]{0,100}=)")
_NAME = re.compile(r"(.{1,249})-([0-9]{1,9})")
_ID = re.compile(r"[0-9]{1,9}")
_ENTITY = re.compile(
    r"(?:Dynamic configs|All configs|Configs|Default configs?|Config|Quota configs) for "
    r"(?:the )?(default )?(topic|broker|user|client-id|client|ip)s?(?: '?([^' ]{0,300})'?)?.{0,40}? are[ :]*(.*)"
)
_SETTING = re.compile(r"[ \t]{1,8}([a-z][a-z0-9.]{0,100})=")
_NEXT_SYNONYM = re.compile(r", (?=[A-Z_]{1,40}:)")
_IN_FORCE = re.compile(r"([A-Z_]{1,40}):([^=]*)=(.*)", re.DOTALL)
"""The first of the synonyms, which is in force. Of log.retention.hours 3.9 prints the default as the value."""
_PROTOCOL = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})")
MOST_LINES = 500_000
HIDDEN = "null"


def lines_of(path: Path, wanted: str) -> Iterator[tuple[int, str]]:
    """The lines of a file with their numbers."""
    yield from enumerate(split_lines(read_text(path, wanted), str(path)), start=1)


def split_lines(text: str, source: str) -> list[str]:
    """The lines of a text. Raises: BadInput, for very many."""
    if text.count("\n") > MOST_LINES:
        raise BadInput(f"has more than {MOST_LINES:,} lines; leave topics out", source=source)
    return [line.rstrip("\r") for line in text.split("\n")]


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
            if head := _ENTITY.match(line):
                entity, count = _entity(head, line, found, source), count + 1
                if head[4]:  # from ZooKeeper: all in this line
                    _add_config(entity, _settings(head[4]), found, source)
            elif setting := _SETTING.match(line):
                _add_setting(entity, setting[1], line[setting.end() :], found, source)
        except BadInput as error:
            raise _at_line(error, source, number) from None
    if not count:
        raise BadInput("describes no settings; name what kafka-configs --describe printed", source=source)
    found.sources.append(f"{source}: kafka-configs --describe, {counted(count, 'parts')}")


def _entity(head: re.Match[str], line: str, found: Found, source: str) -> tuple[str, str]:
    """The kind and the name that a heading is about; no name: all brokers."""
    default, kind, name = head[1], head[2], head[3] or ""
    if default is not None or line.startswith("Default ") or name == "<default>":
        name = ""
    elif kind == "broker" and _ID.fullmatch(name):
        found.describe_broker(int(name), source, whole=line.startswith("All "))
    return kind, name


def _add_setting(entity: tuple[str, str], name: str, rest: str, found: Found, source: str) -> None:
    """Take in a line of a broker's answer: the value that is in force, and where it is set."""
    value, marked, tail = rest.partition(" sensitive=")
    if not marked:
        return
    synonyms = tail.partition(" synonyms={")[2].rstrip().removesuffix("}")
    in_force = _IN_FORCE.fullmatch(_NEXT_SYNONYM.split(synonyms, maxsplit=1)[0])
    if value == HIDDEN:
        if "throttled" in name:
            found.notes.append(f"{entity[0]} {entity[1]}: {name} is set, and this tool hides its value")
        return
    place = in_force[1] if in_force else ""
    if entity[0] == "broker" and (release := _PROTOCOL.match(value)) and name == "inter.broker.protocol.version":
        found.know_release((int(release[1]), int(release[2])), f"{name} in {source} is")
    if in_force and in_force[2] == name:
        value = in_force[3]
    if place == "DEFAULT_CONFIG" or (entity[0] == "topic" and place not in ("", "DYNAMIC_TOPIC_CONFIG")):
        return
    _add_config(
        ("broker", "") if place == "DYNAMIC_DEFAULT_BROKER_CONFIG" else entity,
        {name: value},
        found,
        source,
        static=place == "STATIC_BROKER_CONFIG",
    )


def _add_config(
    entity: tuple[str, str], config: Mapping[str, str], found: Found, source: str, *, static: bool = False
) -> None:
    kind, name = entity
    if kind == "topic":
        found.add_topic_config(name, config, source, wins=True)
    elif kind == "broker" and not name:
        found.defaults |= config
    elif kind == "broker":
        if not _ID.fullmatch(name):
            raise BadInput(f"{name!r} is no broker id; name what kafka-configs --describe printed")
        found.add_broker_config(int(name), config, source, static=static)
    else:
        found.notes.append(f"settings of {kind} {name or '(default)'} in {source} are left out")


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
