"""Rates of what is written: a CSV, or the answer of Prometheus' query API about BytesInPerSec and MessagesInPerSec."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scenarios.errors import BadInput, did_you_mean
from scenarios.importing.found import Found, FoundRate
from scenarios.importing.tool_texts import entries, read_json, split_lines
from scenarios.reading import read_text
from scenarios.units import counted

COLUMNS = ("topic", "partition", "bytes_per_s", "messages_per_s")
_WANTED = f"rates as CSV with the columns {', '.join(COLUMNS)}, or what Prometheus' /api/v1/query answered"
_BYTES, _MESSAGES = "bytesin", "messagesin"
_COUNTER = re.compile(r"(_total|_count)$")


def read_rates(path: Path, found: Found) -> None:
    """Take in rates, from JSON where the text begins with a brace."""
    text = read_text(path, _WANTED)
    if text.lstrip().startswith("{"):
        count, what = _read_prometheus(path, found), "Prometheus' answer"
    else:
        count, what = _read_csv(path, text, found), "rates as CSV"
    if not count:
        raise BadInput(f"holds no rate; name {_WANTED}", source=str(path))
    found.sources.append(f"{path}: {what}, {counted(count, 'rates')}")


def _read_csv(path: Path, text: str, found: Found) -> int:
    source, count = str(path), 0
    lines = csv.reader(split_lines(text, source))
    try:
        names = [name.strip().lower() for name in next(lines, [])]
        for name in names:
            if name not in COLUMNS:
                raise BadInput(f"unknown column {name!r}; {did_you_mean(name, COLUMNS)}", source=source, line=1)
        if "topic" not in names or "bytes_per_s" not in names or len(set(names)) < len(names):
            raise BadInput(
                "the first line names no columns topic and bytes_per_s; write topic,partition,bytes_per_s",
                source=source,
                line=1,
            )
        for row in lines:
            if not any(row):
                continue
            cells = dict(zip(names, (cell.strip() for cell in row), strict=False))
            if len(row) != len(names):
                raise BadInput(
                    f"{len(row)} columns where there are {len(names)}; write them all",
                    source=source,
                    line=lines.line_num,
                )
            _add_row(cells, found, source, lines.line_num)
            count += 1
    except csv.Error as error:
        raise BadInput(f"broken CSV: {error}; name {_WANTED}", source=source, line=lines.line_num) from None
    return count


def _add_row(cells: Mapping[str, str], found: Found, source: str, line: int) -> None:
    number = cells.get("partition", "")
    if number and (not number.isdecimal() or len(number) > 9):
        raise BadInput(
            f"{number!r} is no partition number; write one, or nothing for the whole topic", source=source, line=line
        )
    messages = cells.get("messages_per_s", "")
    try:
        rate = FoundRate(_amount(cells["bytes_per_s"]), _amount(messages) if messages else None)
        found.add_rate(cells["topic"], int(number) if number else None, rate, source)
    except BadInput as error:
        raise BadInput(error.what, source=source, line=line) from None


def _amount(text: object) -> float:
    try:
        value = float(text)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value < 1e15:
        raise BadInput(f"{str(text)[:50]!r} is no rate; write a number from 0")
    return value


def _read_prometheus(path: Path, found: Found) -> int:
    source = str(path)
    document = read_json(path, _WANTED)
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict) or document.get("status") != "success":
        raise BadInput(f"is no successful answer of Prometheus; name {_WANTED}", source=source)
    sums: dict[str, dict[str, float]] = {}
    totals = 0
    for series in entries(data, "result", source, _WANTED):
        labels = series.get("metric")
        if not isinstance(labels, dict):
            raise BadInput(f"a series without labels; name {_WANTED}", source=source)
        kind = _kind(labels, source)
        topic = labels.get("topic")
        if not isinstance(topic, str) or not topic:
            totals += 1
            continue
        its = sums.setdefault(topic, {})
        its[kind] = its.get(kind, 0.0) + _rate_of(series, labels, source)
    if totals:
        found.notes.append(f"{source}: {counted(totals, 'series')} without a topic, the sums of brokers, are left out")
    count = 0
    for topic, its in sums.items():
        if _BYTES in its:
            found.add_rate(topic, None, FoundRate(its[_BYTES], its.get(_MESSAGES)), source)
            count += 1
    return count


def _kind(labels: Mapping[str, Any], source: str) -> str:
    """Whether a series is of bytes or of messages, by the name of the JMX exporter: kafka_server_brokertopicmetrics_*
    with bytesin or messagesin in the name or in the label ``name``. rate() takes the name off: then it is bytes."""
    words = f"{labels.get('__name__', '')} {labels.get('name', '')}".lower()
    plain = words.replace("_", "")
    for kind in (_MESSAGES, _BYTES):
        if kind in plain:
            return kind
    if words.strip():
        raise BadInput(
            f"{words.strip()[:80]!r} is not BytesInPerSec or MessagesInPerSec; ask for "
            "kafka_server_brokertopicmetrics_bytesin_total",
            source=source,
        )
    return _BYTES


def _rate_of(series: Mapping[str, Any], labels: Mapping[str, Any], source: str) -> float:
    """The rate of a series: a counter's growth between the first and the last sample, else the last sample."""
    is_counter = _COUNTER.search(str(labels.get("__name__", "")).lower())
    samples = list(_samples(series, source))
    if not is_counter:
        return samples[-1][1]
    if len(samples) < 2 or samples[-1][0] <= samples[0][0]:
        raise BadInput(
            f"{labels['__name__']} is a counter and here has one sample; ask for rate({labels['__name__']}[5m])",
            source=source,
        )
    return max(0.0, samples[-1][1] - samples[0][1]) / (samples[-1][0] - samples[0][0])


def _samples(series: Mapping[str, Any], source: str) -> Iterator[tuple[float, float]]:
    values = series["values"] if "values" in series else [series.get("value")]
    if not isinstance(values, list) or not values:
        raise BadInput(f"a series without samples; name {_WANTED}", source=source)
    for pair in values:
        if not isinstance(pair, list) or len(pair) != 2:
            raise BadInput(f"a sample that is no pair of time and value; name {_WANTED}", source=source)
        try:
            yield _amount(pair[0]), _amount(pair[1])
        except BadInput as error:
            raise error.in_file(source) from None
