"""Rates in the answer of Prometheus' query API, to an instant or a range: of the brokers' BytesInPerSec and
MessagesInPerSec by the JMX exporter's names (Strimzi's and MSK's are of them), and of end offsets, which kafka_exporter
and KMinion have."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from scenarios.errors import BadInput
from scenarios.importing.found import Found, FoundRate
from scenarios.importing.json_texts import entries, read_object
from scenarios.units import counted

WANTED = "what Prometheus' /api/v1/query answered"
_END_OFFSETS = re.compile(r"topicpartition(?:current)?offset|logendoffset|highwatermark")
_OF_REPLICATION = ("replicationbytesin", "reassignmentbytesin")
_COUNTER = re.compile(r"(_total|_count)$")
_TOPIC, _PARTITION = ("topic", "topic_name"), ("partition", "partition_id")


@frozen
class Counted:
    """The thing that a series counts.

    Attributes:
        of: bytes or messages.
        grows: whether it is a counter, and its growth the rate.
        is_shared: whether several instances have the same series, as exporters and replicas have; else each has a part.
    """

    of: str
    grows: bool = False
    is_shared: bool = False


@define(eq=False)
class _Sums:
    """The samples of one figure of one topic, or partition. ``by_time``: by the time of each sample."""

    by_time: dict[float, float] = field(factory=dict)


def read_prometheus(path: Path, found: Found) -> int:
    """Take in an answer; returns the number of rates."""
    source, document = str(path), read_object(path, f"rates as CSV, or {WANTED}")
    data = document.get("data")
    if not isinstance(data, dict) or document.get("status") != "success":
        raise BadInput(f"is no successful answer of Prometheus; name {WANTED}", source=source)
    return _Answer(found, source).take(entries(data, "result", source, WANTED))


@define(eq=False)
class _Answer:
    found: Found
    source: str
    names: dict[str, str] = field(factory=dict)
    """The name of the series of each kind: two would be the same rate twice."""
    sums: dict[tuple[str, int | None, Counted], _Sums] = field(factory=dict)
    others: dict[str, None] = field(factory=dict)
    totals: int = 0
    nameless: int = 0
    empty: int = 0

    def take(self, series: list[dict[str, Any]]) -> int:
        for each in series:
            labels = each.get("metric")
            if not isinstance(labels, dict):
                raise BadInput(f"a series without labels; name {WANTED}", source=self.source)
            self._add(labels, list(_samples(each, self.source)))
        if not self.sums and self.others:
            raise BadInput(
                f"{next(iter(self.others))!r} is not BytesInPerSec or MessagesInPerSec, and no end offset; ask for "
                "kafka_server_brokertopicmetrics_bytesin_total",
                source=self.source,
            )
        self._say()
        return self._rates()

    def _add(self, labels: Mapping[str, Any], samples: list[tuple[float, float]]) -> None:
        figure = self._figure(labels)
        topic = next((labels[name] for name in _TOPIC if labels.get(name)), None)
        if figure is None:
            return
        if not isinstance(topic, str):
            self.totals += 1
            return
        if not samples:
            self.empty += 1
            return
        if figure.grows:
            name = str(labels.get("__name__", ""))
            samples = list(_growth(samples, name, self.source))
        by_time = self.sums.setdefault((topic, self._partition(labels), figure), _Sums()).by_time
        for at, value in samples:
            by_time[at] = max(value, by_time.get(at, 0.0)) if figure.is_shared else value + by_time.get(at, 0.0)

    def _figure(self, labels: Mapping[str, Any]) -> Counted | None:
        """The figure of a series by its name, and the label ``name`` that some rules of the JMX exporter write; None,
        where it is another one. rate() takes the name off: then it is bytes, as rates of brokers have no partition."""
        name, words = str(labels.get("__name__", "")), f"{labels.get('__name__', '')} {labels.get('name', '')}".strip()
        plain = words.lower().replace("_", "")
        if not words:
            if any(label in labels for label in (*_PARTITION, *_TOPIC[1:])):
                raise BadInput(
                    "series of partitions without a name, as rate() makes them, may be bytes or messages; ask for "
                    'label_replace(..., "name", "MessagesInPerSec", "", ""), or "BytesInPerSec"',
                    source=self.source,
                )
            self.nameless += 1
            return Counted("bytes")
        grows = _COUNTER.search(name.lower()) is not None
        if "messagesin" in plain:
            figure = Counted("messages", grows)
        elif "bytesin" in plain and not any(other in plain for other in _OF_REPLICATION):
            figure = Counted("bytes", grows)
        elif _END_OFFSETS.search(plain):
            figure = Counted("messages", grows=True, is_shared=True)
        else:
            self.others.setdefault(words[:80])
            return None
        before = self.names.setdefault(figure.of, name)
        if before != name:
            raise BadInput(
                f"{before} and {name} are the same rate of {figure.of}; ask for one of them", source=self.source
            )
        return figure

    def _partition(self, labels: Mapping[str, Any]) -> int | None:
        text = next((str(labels[name]) for name in _PARTITION if labels.get(name) not in (None, "")), "")
        if text and (not text.isdecimal() or len(text) > 9):
            raise BadInput(f"{text[:50]!r} is no partition number; name {WANTED}", source=self.source)
        return int(text) if text else None

    def _say(self) -> None:
        def note(count: int, words: str) -> None:
            if count:
                self.found.notes.append(f"{self.source}: {count:,} series {words}")

        note(self.totals, "without a topic, the sums of brokers, are left out")
        note(self.nameless, "without a name are taken for bytes per second")
        note(self.empty, "without a number (NaN) are left out")
        if self.others:
            some = ", ".join(list(self.others)[:5])
            self.found.notes.append(f"{self.source}: {counted(len(self.others), 'other figures')}, left out: {some}")

    def _rates(self) -> int:
        """The mean of each over all times of the answer: a leader's series ends where another broker goes on."""
        times = dict[bool, dict[float, None]]()
        for (_, _, figure), its in self.sums.items():
            times.setdefault(figure.grows, {}).update(dict.fromkeys(its.by_time))
        means = dict[tuple[str, int | None], dict[str, float]]()
        for (topic, partition, figure), its in self.sums.items():
            mean = math.fsum(its.by_time.values()) / len(times[figure.grows])
            means.setdefault((topic, partition), {})[figure.of] = mean
        for (topic, partition), both in means.items():
            rate = FoundRate(both.get("bytes"), both.get("messages"))
            self.found.add_rate(topic, partition, rate, self.source)
        return len(means)


def _growth(samples: list[tuple[float, float]], name: str, source: str) -> Iterator[tuple[float, float]]:
    """The rate of a counter at each sample but the first. One that is lower than before has begun again at 0."""
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        raise BadInput(f"{name} is a counter and here has one sample; ask for {_asked(name)}", source=source)
    for (before, low), (at, high) in pairwise(samples):
        if at > before:
            yield at, (high - low if high >= low else high) / (at - before)


def _asked(name: str) -> str:
    """The query whose answer has the rate of a counter, and says of what it is one."""
    rate = f"rate({name}[5m])"
    if _END_OFFSETS.search(name.lower().replace("_", "")):
        return f'label_replace({rate}, "name", "MessagesInPerSec", "", "")'
    return rate


def _samples(series: Mapping[str, Any], source: str) -> Iterator[tuple[float, float]]:
    """The samples that are numbers."""
    values = series["values"] if "values" in series else [series.get("value")]
    if not isinstance(values, list) or not values:
        raise BadInput(f"a series without samples; name {WANTED}", source=source)
    for pair in values:
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadInput(f"a sample that is no pair of time and value; name {WANTED}", source=source)
        if pair[1] == "NaN":
            continue
        try:
            yield amount(pair[0]), amount(pair[1])
        except BadInput as error:
            raise error.in_file(source) from None


def amount(text: object) -> float:
    """A number from 0. Raises: BadInput."""
    try:
        value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value < 1e15:
        raise BadInput(f"{str(text)[:50]!r} is no rate; write a number from 0")
    return value
