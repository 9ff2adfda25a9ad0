"""Texts of Kafka's tools: ``kafka-topics``, ``kafka-log-dirs`` and ``kafka-configs`` with ``--describe``, and the JSON
of ``kafka-reassign-partitions``, of the releases 0.10 to 3.9 (TopicCommand, LogDirsCommand, ConfigCommand)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from scenarios.errors import BadInput
from scenarios.importing.found import Found, FoundMove, FoundPartition, FoundReplica
from scenarios.importing.json_texts import JsonObject, entries, read_objects, whole
from scenarios.language.schema.kinds import at
from scenarios.reading import read_text
from scenarios.units import counted

_FIELD = re.compile(r"(?:^|\t) {0,4}([A-Z][A-Za-z]{0,40}(?: [A-Z][a-z]{0,40})?):[ ]?([^\t]*)")
_BLANKS = re.compile(
    r" {1,40}(?=(?:TopicId|PartitionCount|ReplicationFactor|Configs|MarkedForDeletion|Partition|Leader|Isr|"
    r"Elr|LastKnownElr|(?<!Adding )(?<!Removing )Replicas|(?:Adding|Removing) Replicas):)"
)
"""The blanks between two fields, as a terminal copies tabs."""
_NEXT_SETTING = re.compile(r",(?=[a-z][a-z0-9.]{0,100}=)")
_NAME = re.compile(r"(.{1,249})-([0-9]{1,9})")
_ID = re.compile(r"[0-9]{1,9}")
_HEADING = re.compile(r"(?:[A-Z][A-Za-z -]{0,40} )?[Cc]onfigs? for (?:the )?(.{1,600}?) are(?:[ :]+(.*)|$)")
_ENTITY = re.compile(r"(default )?(topic|broker)s?(?: '?([^' ]{1,300})'?)?(?: in the cluster)?")
_SETTING = re.compile(r"[ \t]{1,8}([a-z][a-z0-9.]{0,100})=")
_NEXT_SYNONYM = re.compile(r", (?=[A-Z_]{1,40}:)")
_IN_FORCE = re.compile(r"([A-Z_]{1,40}):([^=]*)=(.*)", re.DOTALL)
"""The first of the synonyms, which is in force. Of log.retention.hours 3.9 prints the default as the value."""
_PROTOCOL = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})")
_PLAN = "the JSON of kafka-reassign-partitions"
_CURRENT, _PROPOSED = "Current partition replica assignment", "Proposed partition reassignment configuration"
_LOG_DIRS = "what kafka-log-dirs --describe printed"
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


# -- kafka-topics -----------------------------------------------------------------------------------------------------


def read_topics(path: Path, found: Found) -> None:
    """Take in what ``kafka-topics --describe`` printed."""
    source, seen = str(path), dict[tuple[str, str], None]()
    stated: dict[str, tuple[int, str]] = {}
    for number, line in lines_of(path, "what kafka-topics --describe printed"):
        tabbed = line if "\t" in line.strip() else _BLANKS.sub("\t", line.strip())
        fields = {name: value.strip() for name, value in _FIELD.findall(tabbed)}
        if "Topic" not in fields:
            continue
        try:
            if "Partition" in fields:
                _add_partition(fields, found, source)
                seen[fields["Topic"], fields["Partition"]] = None
                found.has_elr = found.has_elr or "LastKnownElr" in fields
            elif "PartitionCount" in fields:
                stated[fields["Topic"]] = number, fields["PartitionCount"]
                config = _settings(fields.get("Configs", ""))
                found.add_topic_config(fields["Topic"], config, source, wins=False)
                found.has_topic_ids = found.has_topic_ids or bool(fields.get("TopicId"))
            if fields.get("MarkedForDeletion") == "true":
                found.deleting.setdefault(fields["Topic"], source)
        except BadInput as error:
            raise _at_line(error, source, number) from None
    lines = Counter(topic for topic, _ in seen)
    if not lines:
        raise BadInput("describes no partition; name what kafka-topics --describe printed", source=source)
    for topic, (number, count) in stated.items():
        if _ID.fullmatch(count) and lines[topic] < int(count):
            missing = f"{topic} has {counted(int(count), 'partitions')}, and {lines[topic]} in the text"
            raise BadInput(f"{missing}; name all that was printed", source=source, line=number)
    described = f"{counted(len(lines), 'topics')}, {counted(lines.total(), 'partitions')}"
    found.sources.append(f"{source}: kafka-topics --describe, {described}")


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
    """Take in what ``kafka-log-dirs --describe`` printed, once or for one broker after the other."""
    source, seen = str(path), dict[tuple[int, str, str], None]()
    for document in read_objects(path, _LOG_DIRS):
        for broker in entries(document.value, "brokers", source, _LOG_DIRS):
            id = whole(broker, "broker", source, _LOG_DIRS)
            found.add_broker(id, source)
            for directory in entries(broker, "logDirs", source, _LOG_DIRS):
                _add_directory(id, directory, found, source)
                seen |= {
                    (id, str(directory["logDir"]), str(each["partition"])): None for each in directory["partitions"]
                }
    found.sources.append(f"{source}: kafka-log-dirs --describe, {counted(len(seen), 'replicas')}")


def _add_directory(broker: int, directory: Mapping[str, object], found: Found, source: str) -> None:
    name, error = directory.get("logDir"), directory.get("error")
    if not isinstance(name, str) or not name:
        raise BadInput(f"a log directory without a name; name {_LOG_DIRS}", source=source)
    if error:
        found.notes.append(f"broker {broker}: the log directory {name} answered {error}; what is in it is not known")
    found.add_log_dir(broker, name, source)
    for each in entries(directory, "partitions", source, _LOG_DIRS):
        match = _NAME.fullmatch(str(each.get("partition")))
        if match is None:
            raise BadInput(f"{str(each.get('partition'))!r} is no partition; name {_LOG_DIRS}", source=source)
        replica = FoundReplica(whole(each, "size", source, _LOG_DIRS), name, each.get("isFuture") is True)
        found.add_replica(match[1], int(match[2]), broker, replica, source)


# -- kafka-configs ----------------------------------------------------------------------------------------------------


def read_configs(path: Path, found: Found) -> None:
    """Take in what ``kafka-configs --describe`` printed of topics or of brokers."""
    source, count = str(path), 0
    entity: tuple[str, str] | None = None
    for number, line in lines_of(path, "what kafka-configs --describe printed"):
        try:
            if head := _HEADING.match(line):
                entity, count = _entity(head[1], line, found, source), count + 1
                if entity is not None and head[2]:  # from ZooKeeper: all in this line
                    _add_config(entity, _settings(head[2]), found, source)
            elif entity is not None and (setting := _SETTING.match(line)):
                _add_setting(entity, setting[1], line[setting.end() :], found, source)
        except BadInput as error:
            raise _at_line(error, source, number) from None
    if not count:
        raise BadInput("describes no settings; name what kafka-configs --describe printed", source=source)
    found.sources.append(f"{source}: kafka-configs --describe, {counted(count, 'parts')}")


def _entity(words: str, line: str, found: Found, source: str) -> tuple[str, str] | None:
    """The kind and the name that a heading is about; no name: all brokers. None: no topic and no broker."""
    named = _ENTITY.fullmatch(words)
    if named is None:
        found.notes.append(f"settings of {words[:100]} in {source} are left out")
        return None
    kind, name = named[2], named[3] or ""
    if named[1] or line.startswith("Default ") or name == "<default>":
        name = ""
    elif kind == "broker" and _ID.fullmatch(name):
        found.describe_broker(int(name), source, whole=line.startswith("All "))
    return kind, name


def _add_setting(entity: tuple[str, str], name: str, rest: str, found: Found, source: str) -> None:
    """Take in a line of a broker's answer: the value that is in force, and where it is set."""
    value, _, tail = rest.partition(" sensitive=")
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
    else:
        if not _ID.fullmatch(name):
            raise BadInput(f"{name!r} is no broker id; name what kafka-configs --describe printed")
        found.add_broker_config(int(name), config, source, static=static)


# -- kafka-reassign-partitions ----------------------------------------------------------------------------------------


def read_reassignment(path: Path, found: Found) -> None:
    """Take in the JSON that ``kafka-reassign-partitions`` reads, or what its ``--generate`` printed."""
    source = str(path)
    chosen = _plan_of(read_objects(path, _PLAN), source)
    if "partitions" not in chosen.value and "topics" in chosen.value:
        raise BadInput("lists topics for --generate; name what that proposed", source=source, line=chosen.line)
    seen: set[tuple[str, int]] = set()
    for index, each in enumerate(entries(chosen.value, "partitions", source, _PLAN)):
        move = at(f"partitions[{index}]", partial(_move, source, seen), each)
        found.moves.append(move)
        for broker in move.replicas:
            found.add_broker(broker, source)
    if not found.moves:
        raise BadInput(f"moves no partition; name {_PLAN}", source=source)
    what = "the reassignment that --generate proposed" if chosen.heading.startswith(_PROPOSED) else "reassignment JSON"
    found.sources.append(f"{source}: {what}, {counted(len(seen), 'partitions')}")


def _move(source: str, seen: set[tuple[str, int]], entry: Mapping[str, Any]) -> FoundMove:
    """The move that an entry of the JSON asks for, which joins those that were ``seen``. Raises: BadInput."""
    topic, number = entry.get("topic"), whole(entry, "partition", source, _PLAN)
    replicas, dirs = entry.get("replicas", []), entry.get("log_dirs", [])
    ids = isinstance(replicas, list) and replicas and all(type(one) is int and one >= 0 for one in replicas)
    if not isinstance(topic, str) or not ids or not isinstance(dirs, list):
        raise BadInput(f"an entry without a topic or its replicas; name {_PLAN}", source=source)
    if (topic, number) in seen or len(set(replicas)) != len(replicas):
        raise BadInput(f"{topic}-{number} is named twice, or one of its replicas; keep one", source=source)
    if dirs and len(dirs) != len(replicas):
        raise BadInput(
            f"{topic}-{number} has {len(dirs)} log_dirs for {counted(len(replicas), 'replicas')}; "
            'write one for each ("any" where it is free), or none',
            source=source,
        )
    seen.add((topic, number))
    return FoundMove(topic, number, tuple(replicas), tuple(map(str, dirs)))


def _plan_of(objects: list[JsonObject], source: str) -> JsonObject:
    """The object that says where partitions go: the tool prints the one from before the move too."""
    targets = [each for each in objects if not each.heading.startswith(_CURRENT)]
    if not targets:
        raise BadInput(
            "holds the assignment from before the move, which --execute prints for a rollback; name the JSON that "
            "--execute was given",
            source=source,
            line=objects[0].line,
        )
    if len(targets) > 1:
        raise BadInput("a second plan; name one", source=source, line=targets[1].line)
    return targets[0]
