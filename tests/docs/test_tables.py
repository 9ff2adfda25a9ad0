"""docs/reference/dataset-tables.md has the tables and columns that there are, rendered from the schemas."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from scenarios.pages import into_page
from scenarios.runs.dataset.dataset_reference import main, sections
from scenarios.runs.dataset.meanings import ABOUT
from scenarios.runs.dataset.table_schemas import FREQUENCY, MEANING, SCHEMAS, UNIT
from tests.docs.pages import text_of
from tests.scenarios.runs.dataset.runs import write

PAGE = "dataset-tables.md"


def test_the_page_holds_the_tables_as_they_are_rendered() -> None:
    page = text_of(PAGE)
    assert into_page(page, sections()) == page, (
        f"run: python -m scenarios.runs.dataset.dataset_reference docs/reference/{PAGE}"
    )
    assert "<!-- reference: tables -->" in page
    assert all(f"\n### `{table}`\n" in page for table in SCHEMAS)


def test_an_outdated_page_is_noticed_and_can_be_updated(tmp_path: Path) -> None:
    page, old = text_of(PAGE), tmp_path / PAGE
    old.write_text(page.replace("| `min_isr` | int64 | - |", "| `min_isr` | string | - |"))
    assert old.read_text() != page
    main([str(old)])
    assert old.read_text() == page


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_column_has_a_meaning_and_none_is_described_that_is_not_there(table: str) -> None:
    schema = SCHEMAS[table]
    assert set(ABOUT[table].columns) <= set(schema.names)
    assert all((field.metadata or {})[MEANING] for field in schema), "a column without a meaning"
    assert [field.name for field in schema if (field.metadata or {})[UNIT] == "µs".encode()] == [
        name for name in schema.names if name.endswith("_us")
    ]


def test_the_files_carry_units_meanings_and_how_often_there_is_a_row(tmp_path: Path) -> None:
    write(tmp_path, 0)
    (path,) = tmp_path.glob("isr_events/*/*/*.parquet")
    schema = pq.read_schema(path)
    assert (schema.metadata or {})[FREQUENCY].startswith(b"one row per interval")
    assert (schema.field("w_us").metadata or {})[UNIT].decode() == "µs"
    assert (schema.field("offline").metadata or {})[MEANING] == b"ZooKeeper names no leader"
