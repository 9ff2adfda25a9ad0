"""The scenario file of an imported cluster: comments about what was read and guessed, then compact tables."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from scenarios.importing.assembling import Assembled, Topic
from scenarios.importing.divided_settings import DividedSettings
from scenarios.importing.workload_of_rates import Load
from scenarios.language.schema.toml_text import write_value
from scenarios.units import counted, format_duration, format_rate, format_size, number

WIDTH = 120
MINUTE_US = 60_000_000
IDLE_US = MINUTE_US
"""The horizon where nothing is moved."""
MOST_US = 10_000 * MINUTE_US


def as_text(one: Assembled) -> str:
    return "\n".join([*_head(one), *_cluster(one), *_topics(one), *_workloads(one), *_plan(one)]) + "\n"


def _comment(text: str, first: str = "# ", later: str = "#   ") -> list[str]:
    """A comment of any length; letters that TOML does not take in one are replaced."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text)
    return textwrap.wrap(plain, WIDTH, initial_indent=first, subsequent_indent=later, break_on_hyphens=False) or ["#"]


def _head(one: Assembled) -> Iterator[str]:
    count = sum(len(topic.assignment) for topic in one.topics)
    yield from _comment("Written by `understudy import` from:")
    for source in one.found.sources:
        yield from _comment(f"- {source}")
    yield from _comment("Guesses, and what is left out:")
    for note in (*one.notes, *_unknown(one)):
        yield from _comment(f"- {note}")
    yield ""
    yield 'schema = "scenario/1"'
    title = f"an imported cluster: {counted(len(one.place), 'brokers')}, {counted(count, 'partitions')}"
    if one.moves:
        title += f", {len(one.moves):,} of them to move"
    yield f"title = {write_value(title)}"
    yield f"profile = {write_value(one.profile)}"
    yield f"horizon = {write_value(format_duration(_horizon_us(one)))}"


def _unknown(one: Assembled) -> Iterator[str]:
    yield "not known to any source: speed and latency of network and disks (see cluster.network and cluster.disk)"
    yield (
        "data is of leader epoch 0 and lies in batches of 1 MiB; a topic has one producer, with acks=all and a linger "
        "of 100 ms"
    )


def _horizon_us(one: Assembled) -> int:
    """Twice the time that the throttle allows for the broker that gets most, and ten minutes; all rounded up."""
    if not one.moves:
        return IDLE_US
    sizes = {(topic.name, number): size for topic in one.topics for number, size in enumerate(topic.sizes)}
    now = {(topic.name, number): its for topic in one.topics for number, its in enumerate(topic.assignment)}
    into: dict[int, int] = {}
    for move in one.moves:
        key = (move.topic, move.partition)
        for broker in move.replicas:
            if broker not in now[key]:
                into[broker] = into.get(broker, 0) + sizes[key]
    minutes = 2 * max(into.values(), default=0) / one.throttle / 60 if one.throttle else 0.0
    return min(MOST_US, (10 + math.ceil(minutes)) * MINUTE_US)


def _cluster(one: Assembled) -> Iterator[str]:
    yield ""
    yield "[cluster]"
    ids = list(one.place.values())
    if ids == list(range(len(ids))):
        yield f"brokers = {len(ids)}"
    else:
        yield from _list("broker_ids", list(map(str, ids)))
    if one.is_renumbered:
        yield from _comment("Its own ids, in the order of those here: " + ", ".join(map(str, one.place)))
    if one.found.controller is not None:
        yield f"controller = {one.place[one.found.controller]}"
    if one.racks:
        yield from _list("rack_names", [write_value(rack) for rack in one.racks])
    timeout = one.settings.session_timeout_ms
    if timeout is not None:
        yield f"zk = {{ session_timeout = {write_value(format_duration(1_000 * timeout))} }}"
    yield f"log_dirs = {one.log_dirs}"
    if one.log_dirs > 1:
        for broker in list(one.place)[:3]:
            names = ", ".join(
                f"/data/{place} is {name}" for place, name in enumerate(one.found.log_dirs.get(broker, ()))
            )
            yield from _comment(f"broker {one.place[broker]}: {names}")
    if one.settings.others:
        yield from _comment(f"left out: {_others(one.settings)}")
    if one.settings.known:
        yield ""
        yield "[cluster.config]"
        for name, value in one.settings.known.items():
            yield f"{write_value(name)} = {write_value(value)}"


def _others(settings: DividedSettings) -> str:
    return ", ".join(f"{name}={value[:60]}" for name, value in settings.others.items())


def _topics(one: Assembled) -> Iterator[str]:
    for topic in one.topics:
        yield ""
        yield "[[topics]]"
        yield f"name = {write_value(topic.name)}"
        yield from _list("assignment", [write_value(list(replicas)) for replicas in topic.assignment])
        yield from _sizes(topic)
        if topic.log_dirs:
            yield from _list("log_dirs", [write_value(list(numbers)) for numbers in topic.log_dirs])
        if topic.settings.others:
            yield from _comment(f"left out: {_others(topic.settings)}")
        for note in topic.notes:
            yield from _comment(note)
        yield from _config(topic.settings)


def _config(settings: DividedSettings) -> Iterator[str]:
    line = f"config = {write_value(settings.known)}"
    if settings.known and len(line) <= WIDTH:
        yield line
    elif settings.known:
        yield "[topics.config]"
        for name, value in settings.known.items():
            yield f"{write_value(name)} = {write_value(value)}"


def _sizes(topic: Topic) -> Iterator[str]:
    if len(set(topic.sizes)) == 1:
        if topic.sizes[0]:
            yield f"size = {write_value(format_size(topic.sizes[0]))}"
    else:
        yield from _list("sizes", [write_value(format_size(size)) for size in topic.sizes])


def _list(name: str, items: Sequence[str]) -> Iterator[str]:
    """A list on one line where it fits there, else as many items on a line as fit."""
    line = f"{name} = [{', '.join(items)}]"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{name} = ["
    yield from _wrapped(items)
    yield "]"


def _wrapped(items: Sequence[str]) -> Iterator[str]:
    line = " "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            yield line
            line = " "
        line += f" {item},"
    yield line


def _workloads(one: Assembled) -> Iterator[str]:
    for topic in one.topics:
        load = topic.load
        if load is None:
            continue
        yield ""
        yield "[[workloads]]"
        yield f"topic = {write_value(topic.name)}"
        yield f"producerRate = {load.rate}"
        yield f"messageSize = {load.message_size}"
        yield from _comment(_said_of(load))
        if load.shares:
            yield from _list("shares", list(map(str, load.shares)))


def _said_of(load: Load) -> str:
    what = f"{number(round(load.bytes_per_s, 3))} bytes/s"
    if load.is_guessed:
        return f"{what}; the size of a message is a guess"
    return what + "; both from rates" + (", and the shares are bytes/s of each partition" if load.shares else "")


def _plan(one: Assembled) -> Iterator[str]:
    if not one.moves:
        return
    if one.throttle is not None:
        yield ""
        yield "[strategy]"
        yield f"throttle = {write_value(format_rate(one.throttle))}"
    yield ""
    yield "[plan]"
    yield "version = 1"
    yield "partitions = ["
    for move in one.moves:
        entry: dict[str, object] = {"topic": move.topic, "partition": move.partition, "replicas": list(move.replicas)}
        if move.log_dirs:
            entry["log_dirs"] = list(move.log_dirs)
        yield f"  {write_value(entry)},"
    yield "]"
    yield ""
    yield "[[method]]"
    yield 'at = "10s"'
    yield 'action = "reassign.execute"'
