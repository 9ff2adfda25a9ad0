"""docs/dataset.md lists the tables and columns that there are, with their types, and no others."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from scenarios.runs.dataset.schema import SCHEMAS
from tests.docs.pages import text_of

_TYPES = {"int64": pa.int64(), "string": pa.string(), "bool": pa.bool_(), "list of int64": pa.list_(pa.int64())}


def sections(page: str) -> dict[str, str]:
    """Table name to its part of the page."""
    tables = page.partition("\n## Tables\n")[2].partition("\n## ")[0]
    parts = re.split(r"^### `(\w+)`$", tables, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def columns(section: str) -> list[tuple[str, str, str]]:
    """Name, type and unit of every column listed."""
    return re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", section, re.MULTILINE)


def test_every_table_is_listed_and_no_other() -> None:
    assert set(sections(text_of("dataset.md"))) == set(SCHEMAS)


@pytest.mark.parametrize("table", SCHEMAS)
def test_the_columns_are_those_of_the_files(table: str) -> None:
    listed = columns(sections(text_of("dataset.md"))[table])
    assert [(name, _TYPES[kind]) for name, kind, _ in listed] == [(f.name, f.type) for f in SCHEMAS[table]]
    assert [unit for name, _, unit in listed if name.endswith("_us")] == ["µs"] * sum(
        name.endswith("_us") for name in SCHEMAS[table].names
    )


def test_an_outdated_page_is_noticed() -> None:
    page = text_of("dataset.md").replace("| `min_isr` | int64 | - |", "| `min_isr` | string | - |")
    listed = columns(sections(page)["isr_events"])
    assert [(name, _TYPES[kind]) for name, kind, _ in listed] != [(f.name, f.type) for f in SCHEMAS["isr_events"]]
