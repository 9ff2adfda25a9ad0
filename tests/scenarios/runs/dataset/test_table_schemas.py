"""The columns: a golden file of all of them, and what every table must have."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from scenarios.runs.dataset.table_schemas import CELL_COLUMNS, FIGURES, RUNS, SCHEMAS

GOLDEN = Path(__file__).parent / "schema.txt"


def rendered() -> str:
    """Every table with its columns and their types."""
    tables = {**SCHEMAS, "cells (of an atlas)": CELL_COLUMNS}
    return "".join(
        f"{name}\n" + "".join(f"    {field.name}: {field.type}\n" for field in tables[name]) for name in sorted(tables)
    )


def test_the_columns_are_those_that_readers_know() -> None:
    """Most tables are events: a field that is renamed, moved or added shows here. What changes for readers needs a new
    ``VERSION``; then ``python -m tests.scenarios.runs.dataset.test_table_schemas`` writes the file again."""
    assert rendered() == GOLDEN.read_text()


@pytest.mark.parametrize("table", sorted(SCHEMAS))
def test_every_row_says_whose_and_when(table: str) -> None:
    schema = SCHEMAS[table]
    assert schema.names[0] == "run_id"
    if table not in (RUNS, FIGURES):
        assert schema.names[1] == "t_us"
        assert schema.field("t_us").type == pa.int64()


def test_the_issues_tables_are_there_and_runs_is_written_last() -> None:
    named = {"isr_events", "replica_lag", "requests", "produce", "faults", "steps", "violations", "fetchers"}
    assert named | {"elections", "true_gauges", "events", "runs"} <= set(SCHEMAS)
    assert list(SCHEMAS)[-1] == RUNS


def test_states_carry_how_long_they_held() -> None:
    with_width = {name for name, schema in SCHEMAS.items() if "w_us" in schema.names}
    states = {"isr_events", "replica_lag", "moves", "true_gauges", "broker_metrics", "consumer_lag"}
    assert with_width == states | {"added_replicas", "broker_traffic", "leaps"}


if __name__ == "__main__":
    GOLDEN.write_text(rendered())
