"""The tables' columns and types, derived from the events and rows that they hold.

Layout: ``TABLE/experiment=E/strategy=S/part-CHUNK.parquet``, one file per table and chunk (some runs of one
strategy), compressed with zstd. ``runs`` has one row per run and is written last: a chunk without its
``runs`` file does not exist. Every row begins with ``run_id``. Integers are 64 bits wide, lists are lists of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from scenarios.observe.exposition.rows import BrokerMetricRow
from scenarios.observe.measures.figures import FOLDS
from scenarios.observe.measures.fold import Fold, Table
from scenarios.observe.measures.true_gauges import TrueGauges
from scenarios.runs.dataset.rows import CellRow, EventRow, RunRow

VERSION = 3
"""The version of the layout and the columns, kept in the manifest and in every file."""

VERSION_KEY = b"understudy.schema"
RUNS = "runs"


_TYPES: Mapping[Any, pa.DataType] = {
    int: pa.int64(),
    int | None: pa.int64(),
    str: pa.string(),
    str | None: pa.string(),
    bool: pa.bool_(),
    bool | None: pa.bool_(),
    tuple[int, ...]: pa.list_(pa.int64()),
    tuple[int, ...] | None: pa.list_(pa.int64()),
    tuple[str, ...]: pa.list_(pa.string()),
}


def other_version(found: object) -> str:
    """What is wrong with a data set of version ``found``, and what to do."""
    age = "an older" if str(found).isdigit() and int(str(found)) < VERSION else "another"
    versions = f"data set version {found}, this one reads {VERSION}"
    return f"was written by {age} version of Understudy ({versions}); run it again"


def _schema(table: Table, *keys: pa.Field[pa.DataType]) -> pa.Schema:
    columns = [pa.field(name, _TYPES[hint]) for name, hint in table.columns().items()]
    metadata: dict[bytes | str, bytes | str] = {VERSION_KEY: str(VERSION).encode()}
    return pa.schema([*keys, *columns], metadata=metadata)


_FOLDS: tuple[type[Fold], ...] = (*FOLDS, TrueGauges)
_TABLES: Mapping[str, Table] = {
    **{name: table for fold in _FOLDS for name, table in fold.TABLES.items()},
    "broker_metrics": Table(BrokerMetricRow),
    "events": Table(EventRow),
    RUNS: Table(RunRow),
}

SCHEMAS: Mapping[str, pa.Schema] = {
    name: _schema(table, pa.field("run_id", pa.string())) for name, table in _TABLES.items()
}
"""Table name to its columns; ``runs`` is the last, as it is when a chunk is written."""

CELL_COLUMNS: pa.Schema = _schema(Table(CellRow))
"""The columns of an atlas's table ``cells``, one row per cell."""
