"""The ways to make a scenario smaller or simpler: each pass proposes tables, the boldest first.

A pass knows nothing of a run's findings. A proposal need not be a scenario at all: the shrinker drops proposals that
are refused, not smaller, or tried before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from scenarios.errors import BadInput
from scenarios.language.scenario import Scenario
from scenarios.studies.shrink.prepare import relative
from scenarios.studies.shrink.references import Gone, Table, ids_of, with_brokers, with_partitions
from scenarios.units import format_duration, parse_duration

Pass = Callable[[Table], Iterator[Table]]

KEPT_KEYS = (
    "schema",
    "title",
    "cluster",
    "topics",
    "method",
    "workloads",
    "consumers",
    "expect",
    "profile",
    "bugs",
    "branches",
)
"""Blocks that are removed in parts, or stay: a finding is one of a profile."""


def _with(table: Mapping[str, Any], block: str, value: Any) -> Table:
    """``table`` with another value of a block; without the block if the value is empty."""
    found = {**table, block: value}
    if not value:
        del found[block]
    return found


def blocks(table: Table) -> Iterator[Table]:
    """The table without whole blocks: the schedule, the plan, rollbacks, parts of the cluster; without a bug."""
    for block in table:
        if block not in KEPT_KEYS:
            yield _with(table, block, None)
    for block in ("expect", "bugs"):
        yield from _without_each(table, block)
    cluster = table["cluster"]
    for name in cluster:
        if name not in ("brokers", "broker_ids", "controller"):
            yield _with(table, "cluster", {key: value for key, value in cluster.items() if key != name})


def settings(table: Table) -> Iterator[Table]:
    """The table without all settings that have a default, then without half of them, and so on: those of brokers,
    topics and clients, such as threads, racks and sizes. Most change nothing, and go together in one run."""
    found = [path for path in _settings(table) if _is_scenario(_changed(table, path, None))]
    for left in _without_some(found):
        kept = dict.fromkeys(left)
        fewer = table
        for path in found:
            fewer = fewer if path in kept else _changed(fewer, path, None)
        yield fewer


def _settings(table: Table) -> Iterator[tuple[str | int, ...]]:
    for name in table["cluster"]:
        if name not in ("brokers", "broker_ids", "controller"):
            yield "cluster", name
    for block in ("topics", "workloads", "consumers"):
        for index, item in enumerate(table.get(block, ())):
            yield from ((block, index, name) for name in item if name not in ("name", "assignment", "start", "stop"))


def _is_scenario(table: Table) -> bool:
    try:
        Scenario.from_table(table)
    except (BadInput, KeyError, IndexError, TypeError, ValueError):
        return False
    return True


def _without_each(table: Table, block: str) -> Iterator[Table]:
    items = table.get(block, [])
    for index in range(len(items)):
        yield _with(table, block, items[:index] + items[index + 1 :])


def entries(table: Table) -> Iterator[Table]:
    """The table without many entries of the method, then few (delta debugging, Zeller and Hildebrandt 2002). Entries
    whose times count from a removed one are removed with it."""
    groups: list[list[Table]] = []
    for entry in table.get("method", ()):
        if relative(entry) and groups:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    yield from (_with(table, "method", _flat(left)) for left in _without_some(groups))
    for index, group in enumerate(groups):
        if len(group) > 1:
            yield _with(table, "method", _flat([*groups[:index], group[:-1], *groups[index + 1 :]]))


def branches(table: Table) -> Iterator[Table]:
    """The table without branches, the last ones first; without the entries of each; and with the entries of the last
    one in the method, in place of the branch."""
    found = table.get("branches", [])
    yield from (_with(table, "branches", left) for left in _without_some(found))
    for number, branch in enumerate(found):
        for less in entries(branch):
            yield _with(table, "branches", [*found[:number], less, *found[number + 1 :]])
    if found:
        joined = [*table.get("method", ()), *found[-1].get("method", ())]
        yield _with(_with(table, "branches", found[:-1]), "method", joined)


def loads(table: Table) -> Iterator[Table]:
    """The table without clients."""
    for block in ("consumers", "workloads"):
        yield from (_with(table, block, left) for left in _without_some(table.get(block, [])))


def _flat(groups: Sequence[Sequence[Table]]) -> list[Table]:
    return [entry for group in groups for entry in group]


def _without_some(items: Sequence[Any]) -> Iterator[list[Any]]:
    """The items without all, without each half, each quarter, and so on to single ones; the last ones first."""
    size = len(items)
    while size:
        for end in range(len(items), 0, -size):
            yield [*items[: max(0, end - size)], *items[end:]]
        size //= 2


def topics(table: Table) -> Iterator[Table]:
    """The table without a topic, with fewer partitions, or with one partition only."""
    found = table.get("topics", [])
    for topic in found:
        if len(found) > 1:
            yield from _attempt(with_partitions, table, topic["name"], [])
    for topic in found:
        count = len(topic.get("assignment", ()))
        if count > 1:
            keep = [[index] for index in range(count)]
            keep += [[one for one in range(count) if one != index] for index in range(count)] if count > 2 else []
            for kept in keep:
                yield from _attempt(with_partitions, table, topic["name"], kept)


def brokers(table: Table) -> Iterator[Table]:
    """The table with ids from 0 on; without a broker; first with the controller where it is, then on each of the
    others."""
    ids = ids_of(table)
    if "broker_ids" in table["cluster"]:
        yield from _attempt(_numbered, table, ids)
    for gone in reversed(ids) if len(ids) > 1 else ():
        for found in _attempt(_without_broker, table, gone):
            yield found
            for controller in ids_of(found):
                yield _with(found, "cluster", {**found["cluster"], "controller": controller})


def _numbered(table: Table, ids: list[int]) -> Table:
    cluster = {name: value for name, value in table["cluster"].items() if name != "broker_ids"}
    return with_brokers({**table, "cluster": cluster}, ids.index)


def _without_broker(table: Table, gone: int) -> Table:
    cluster = dict(table["cluster"])
    if cluster.get("controller") == gone:
        del cluster["controller"]
    cluster["brokers"] -= 1
    if "broker_ids" in cluster:
        return with_brokers({**table, "cluster": cluster}, lambda b: None if b == gone else b)
    return with_brokers({**table, "cluster": cluster}, lambda b: None if b == gone else b - (b > gone))


def replicas(table: Table) -> Iterator[Table]:
    """The table with one replica less of each partition of a topic, and with replicas on fewer brokers: one broker
    takes the place of another everywhere."""
    for number, topic in enumerate(table.get("topics", ())):
        lists = topic.get("assignment", [])
        for place in range(len(lists[0]) - 1, -1, -1) if lists and len(lists[0]) > 1 else ():
            fewer = [found[:place] + found[place + 1 :] for found in lists]
            some = [*table["topics"][:number], {**topic, "assignment": fewer}, *table["topics"][number + 1 :]]
            yield _with(table, "topics", some)
    ids = ids_of(table)
    for place, one in enumerate(ids):
        for other in ids[:place]:
            yield from _attempt(_replaced, table, one, other)


def _replaced(table: Table, one: int, other: int) -> Table:
    """The table where ``other`` takes the place of ``one``, which stays in the cluster."""
    found = with_brokers(table, lambda b: other if b == one else b)
    kept = {name: value for name, value in table["cluster"].items() if name == "broker_ids"}
    return {**found, "cluster": {**found["cluster"], **kept}}


def targets(table: Table) -> Iterator[Table]:
    """The table with brokers by their ids, where they were found by a role or drawn."""
    for index, entry in enumerate(table.get("method", ())):
        if isinstance(entry.get("target"), (str, dict)):
            for broker in ids_of(table):
                yield _with_entry(table, index, {**entry, "target": broker})
        if isinstance(entry.get("target"), list) and len(entry["target"]) > 1:
            for left in _without_some(entry["target"]):
                if left:
                    yield _with_entry(table, index, {**entry, "target": left})


def _with_entry(table: Table, index: int, entry: Table) -> Table:
    method = table["method"]
    return _with(table, "method", [*method[:index], entry, *method[index + 1 :]])


def keys(table: Table) -> Iterator[Table]:
    """The table without each key that has a default, and without each item of lists, the outermost first."""
    for path, _value in _paths(table, ()):
        part = len(path) > 1 and path[0] not in ("expect", "plan") and path[-1] != "assignment"
        if part and (isinstance(path[-1], str) or path[0] == "method"):
            yield _changed(table, path, None)
    if "plan" in table and len(table["plan"].get("partitions", ())) > 1:
        moves = table["plan"]["partitions"]
        for index in range(len(moves)):
            yield _with(table, "plan", {**table["plan"], "partitions": moves[:index] + moves[index + 1 :]})


def _paths(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every place in a table, the outer ones first."""
    items: Sequence[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for name, item in items:
        yield (*path, name), item
    for name, item in items:
        yield from _paths(item, (*path, name))


def _changed(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    """The table with another value at one place; None removes it."""
    name, rest = path[0], path[1:]
    found: Any = dict(value) if isinstance(value, dict) else list(value)
    if rest:
        found[name] = _changed(value[name], rest, new)
    elif new is None:
        del found[name]
    else:
        found[name] = new
    return found


# -- times and numbers ------------------------------------------------------------------------------------------------

SECOND_US = 1_000_000
SHORT = ("1s", "2s", "5s", "10s", "20s", "30s", "1m", "2m")


def moments(table: Table) -> Iterator[Table]:
    """The table with earlier times: each pause between two moments becomes shorter, or all moments whole seconds."""
    found = _moments(table)
    yield _retimed(table, {us: -(-us // SECOND_US) * SECOND_US for us in found})
    for before, after in zip([0, *found], found, strict=False):
        for gap_us in (SECOND_US, 5 * SECOND_US, 10 * SECOND_US, 20 * SECOND_US):
            less_us = after - before - gap_us
            if less_us > 0:
                yield _retimed(table, {us: us - less_us for us in found if us >= after})


def _moments(table: Table) -> list[int]:
    """The times at which something begins or ends, in order."""
    found = {us for _path, us in _times(table)}
    return sorted(found)


def _times(table: Table) -> Iterator[tuple[tuple[str | int, ...], int]]:
    for block, names in (("method", ("at",)), ("workloads", ("start", "stop")), ("consumers", ("start", "stop"))):
        for index, item in enumerate(table.get(block, ())):
            for name in names:
                if isinstance(item.get(name), str):
                    yield (block, index, name), parse_duration(item[name])


def _retimed(table: Table, times: Mapping[int, int]) -> Table:
    for path, us in _times(table):
        if us in times:
            table = _changed(table, path, format_duration(max(0, times[us])))
    return table


def durations(table: Table) -> Iterator[Table]:
    """The table with durations, sizes and waits that are shorter or rounder, the horizon too. The times of expectations
    stay: no cluster recovers at once."""
    for path, value in _paths(table, ()):
        if (
            not isinstance(value, str)
            or path[0] in ("title", "description", "expect")
            or path[-1] in ("at", "start", "stop")
        ):
            continue
        with suppress(BadInput):
            now_us = parse_duration(value)
            rounder = (SECOND_US * (now_us // SECOND_US), 1000 * (now_us // 1000))
            for us in dict.fromkeys((*map(parse_duration, SHORT), *rounder)):
                if 0 < us < now_us:
                    yield _changed(table, path, format_duration(us))


def numbers(table: Table) -> Iterator[Table]:
    """The table with rates, counts, settings and the seed as small and round as they can be."""
    for path, value in _paths(table, ()):
        if isinstance(value, bool) or not isinstance(value, int) or value < 2 or not _is_amount(path):
            continue
        rounder = [10 ** (len(str(value)) - 1), value // 2]
        for number in dict.fromkeys(sorted([1, 2, 5, 10, 20, 50, 100, *rounder])):
            if number < value:
                yield _changed(table, path, number)


def _is_amount(path: tuple[str | int, ...]) -> bool:
    last = next(name for name in reversed(path) if isinstance(name, str))
    return (
        path == ("seed",)
        or (path[0] in ("workloads", "consumers", "topics") and last != "assignment")
        or (last in ("occurrence", "times", "value", "repeat"))
    )


def seeds(table: Table) -> Iterator[Table]:
    """The table without a broker, a topic or an entry, under another seed: for what is possible only with other
    draws."""
    for structural in (entries, topics, brokers, replicas):
        for found in structural(table):
            for seed in range(4):
                if seed != table.get("seed", 0):
                    yield {**found, "seed": seed}


def _attempt(change: Callable[..., Table], *arguments: Any) -> Iterator[Table]:
    try:
        yield change(*arguments)
    except Gone:
        return


PASSES: tuple[Pass, ...] = (
    branches, entries, settings, blocks, loads, topics, brokers, replicas, targets, keys, moments, durations, numbers,
)  # fmt: skip
"""The passes in the order in which they are tried; ``seeds`` comes when these find nothing more."""
