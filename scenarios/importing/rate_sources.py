"""Rates of what is written, from a file: a CSV, or an answer of Prometheus."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from pathlib import Path

from scenarios.errors import BadInput, did_you_mean
from scenarios.importing.found import Found, FoundRate
from scenarios.importing.prometheus_rates import WANTED, amount, read_prometheus
from scenarios.importing.tool_texts import split_lines
from scenarios.reading import read_text
from scenarios.units import counted, parse_rate

COLUMNS = ("topic", "partition", "bytes_per_s", "messages_per_s")
_WANTED = f"rates as CSV with the columns {', '.join(COLUMNS)}, or {WANTED}"
_PLAIN = {"topic_name": "topic", "partition_id": "partition"}
_MESSAGES = re.compile(r"(?:messages?|msgs?|records?)(?:_in)?_per_s(?:ec|econd)?")
_BYTES = re.compile(r"(?:bytes|b|(k|m|g|ki|mi|gi)b)(?:_in)?_per_s(?:ec|econd)?")
_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}
_BITS = re.compile(r"[KMG]b(?![a-zA-Z])|bits?(?![a-z])")
"""Mb/s is said of bits as well."""


def read_rates(path: Path, found: Found) -> None:
    """Take in rates, from JSON where the text begins with a brace."""
    text = read_text(path, _WANTED)
    if text.lstrip().startswith("{"):
        count, what = read_prometheus(path, found), "Prometheus' answer"
    else:
        count, what = _read_csv(text, found, str(path)), "rates as CSV"
    if not count:
        raise BadInput(f"holds no rate; name {_WANTED}", source=str(path))
    found.sources.append(f"{path}: {what}, {counted(count, 'rates')}")


def _read_csv(text: str, found: Found, source: str) -> int:
    """The number of rates. The first line tells what is between two values: a comma, else a semicolon or a tab."""
    rows, count = split_lines(text, source), 0
    between = next((letter for letter in ",;\t" if letter in rows[0]), ",")
    lines = csv.reader(rows, delimiter=between)
    try:
        columns = _columns(next(lines, []), source)
        for row in lines:
            if not any(row):
                continue
            if len(row) != len(columns):
                raise BadInput(
                    f"{len(row)} columns where there are {len(columns)}; write them all",
                    source=source,
                    line=lines.line_num,
                )
            try:
                _add_row(row, columns, found, source, comma=between != ",")
            except BadInput as error:
                raise BadInput(error.what, source=source, line=lines.line_num) from None
            count += 1
    except csv.Error as error:
        raise BadInput(f"broken CSV: {error}; name {_WANTED}", source=source, line=lines.line_num) from None
    return count


def _columns(heads: list[str], source: str) -> list[tuple[str, int]]:
    """The columns: which of COLUMNS each is, and the factor of its unit."""
    try:
        columns = [_column(head.strip()) for head in heads]
        names = [name for name, _ in columns]
        if "topic" not in names or not {"bytes_per_s", "messages_per_s"} & {*names} or len(set(names)) < len(names):
            raise BadInput(
                "the first line names no columns topic and bytes_per_s, each once; write topic,partition,bytes_per_s"
            )
    except BadInput as error:
        raise BadInput(error.what, source=source, line=1) from None
    return columns


def _column(head: str) -> tuple[str, int]:
    """The column and its factor, by its head: bytes_per_s, BytesInPerSec, MB/s, Topic Name."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_", head).lower().replace("/", "_per_")
    snake = re.sub(r"[^a-z0-9]+", "_", snake).strip("_")
    if _BITS.search(head):
        raise BadInput(f"column {head[:50]!r} may be of bits; write bytes_per_s, or such as MB/s")
    if (bytes_ := _BYTES.fullmatch(snake)) is not None:
        return "bytes_per_s", _FACTORS[bytes_[1] or ""]
    if _MESSAGES.fullmatch(snake):
        return "messages_per_s", 1
    name = _PLAIN.get(snake, snake)
    if name not in COLUMNS:
        raise BadInput(f"unknown column {head[:50]!r}; {did_you_mean(name, COLUMNS)}")
    return name, 1


def _add_row(row: list[str], columns: list[tuple[str, int]], found: Found, source: str, *, comma: bool) -> None:
    cells = {name: (cell.strip(), factor) for (name, factor), cell in zip(columns, row, strict=True)}
    number = cells.get("partition", ("", 1))[0]
    if number and (not number.isdecimal() or len(number) > 9):
        raise BadInput(f"{number!r} is no partition number; write one, or nothing for the whole topic")
    rate = FoundRate(_rate("bytes_per_s", cells, comma=comma), _rate("messages_per_s", cells, comma=comma))
    if rate.bytes_per_s is None and rate.messages_per_s is None:
        raise BadInput("a line without a rate; write a number from 0")
    found.add_rate(cells["topic"][0], int(number) if number else None, rate, source)


def _rate(column: str, cells: Mapping[str, tuple[str, int]], *, comma: bool) -> float | None:
    """The rate in a cell; None for an empty one. ``comma``: whether one may stand for the decimal point."""
    text, factor = cells.get(column, ("", 1))
    if not text:
        return None
    if comma and "." not in text:
        text = text.replace(",", ".", 1)
    if column == "bytes_per_s" and factor == 1 and text.endswith("/s"):
        return float(parse_rate(text))
    return factor * amount(text)
