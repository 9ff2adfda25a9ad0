"""The tables' columns and types, derived from the events and rows that they hold; what they mean is in the metadata of
the schemas and of their fields (``frequency``, ``meaning``; ``unit``, ``meaning``).

Layout: ``TABLE/experiment=E/strategy=S/part-CHUNK.parquet``, one file per table and chunk (some runs of one
strategy), compressed with zstd. ``runs`` has one row per run and is written last: a chunk without its
``runs`` file does not exist. Every row begins with ``run_id``. Integers are 64 bits wide, lists are lists of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from scenarios.observe.exposition.metric_rows import BrokerMetricRow
from scenarios.observe.measures.figures import FOLDS
from scenarios.observe.measures.fold import Fold, Table
from scenarios.observe.measures.true_gauges import TrueGauges
from scenarios.runs.dataset.meanings import ABOUT, ColumnMeaning
from scenarios.runs.dataset.table_rows import AccountRow, CellRow, EventRow, FigureRow, RunRow

VERSION = 7
"""The version of the layout and the columns, kept in the manifest and in every file."""

VERSION_KEY = b"understudy.schema"
TABLES_KEY = b"understudy.tables"
"""The key, in a file of ``runs``, for the tables in which its chunk has a file, with commas between them."""
REPLACES_KEY = b"understudy.replaces"
"""The key, in a file of ``runs``, for the names of the chunks whose rows are in its chunk, with commas between them.
These do not count any more."""
RUNS = "runs"
FIGURES = "figures"
UNIT, MEANING, FREQUENCY = b"unit", b"meaning", b"frequency"
"""The keys of the metadata."""

_TYPES: Mapping[Any, pa.DataType] = {
    int: pa.int64(),
    int | None: pa.int64(),
    float | None: pa.float64(),
    str: pa.string(),
    str | None: pa.string(),
    bool: pa.bool_(),
    bool | None: pa.bool_(),
    tuple[int, ...]: pa.list_(pa.int64()),
    tuple[int, ...] | None: pa.list_(pa.int64()),
    tuple[str, ...]: pa.list_(pa.string()),
}


def other_version(found: object) -> str:
    """The error of a data set of version ``found``, and what to do."""
    age = "an older" if str(found).isdigit() and int(str(found)) < VERSION else "another"
    versions = f"data set version {found}, this one reads {VERSION}"
    return f"was written by {age} version of Understudy ({versions}); run it again"


def other_columns(found: pa.Schema, schema: pa.Schema) -> str:
    """The error of a table of this version whose columns are not those of ``schema``."""
    there, wanted = ({column.name: column.type for column in one} for one in (found, schema))
    lacks = [f"lacks {name}" for name in wanted if name not in there]
    more = [f"has {name} besides" for name in there if name not in wanted]
    other = [f"{name} is {there[name]}, not {kind}" for name, kind in wanted.items() if there.get(name, kind) != kind]
    said = [*lacks, *more, *other] or ["their order differs"]
    return f"has other columns than this version of Understudy writes ({'; '.join(said)})"


def _schema(table: Table, about: ColumnMeaning, **keys: pa.DataType) -> pa.Schema:
    types = {**keys, **{name: _TYPES[hint] for name, hint in table.columns().items()}}
    metadata: dict[bytes | str, bytes | str] = {
        VERSION_KEY: str(VERSION).encode(),
        FREQUENCY: about.frequency.encode(),
        MEANING: about.text.encode(),
    }
    return pa.schema([_field(name, kind, about) for name, kind in types.items()], metadata=metadata)


def _field(name: str, kind: pa.DataType, about: ColumnMeaning) -> pa.Field[pa.DataType]:
    meaning = about.meaning(name)
    metadata: dict[bytes | str, bytes | str] = {UNIT: meaning.unit.encode(), MEANING: meaning.text.encode()}
    return pa.field(name, kind, metadata=metadata)


_FOLDS: tuple[type[Fold], ...] = (*FOLDS, TrueGauges)
_TABLES: Mapping[str, Table] = {
    **{name: table for fold in _FOLDS for name, table in fold.TABLES.items()},
    "broker_metrics": Table(BrokerMetricRow),
    "events": Table(EventRow),
    "account": Table(AccountRow),
    FIGURES: Table(FigureRow),
    RUNS: Table(RunRow),
}

SCHEMAS: Mapping[str, pa.Schema] = {
    name: _schema(table, ABOUT.get(name, ColumnMeaning("", "")), run_id=pa.string()) for name, table in _TABLES.items()
}
"""The columns of each table; ``runs`` is the last, as it is when a chunk is written."""

CELL_COLUMNS: pa.Schema = _schema(
    Table(CellRow), ColumnMeaning("The cells of an atlas and their results.", "one row per cell")
)
"""The columns of an atlas's table ``cells``, one row per cell."""
