"""The tables' columns and types, derived from the rows that the measures write.

Layout: ``TABLE/experiment=E/strategy=S/part-CHUNK.parquet``, one file per table and chunk (some runs of one
strategy), compressed with zstd. ``runs`` has one row per run and is written last: a chunk without its
``runs`` file does not exist. Every row begins with ``run_id``. Integers are 64 bits wide, lists are lists of
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, get_type_hints

import pyarrow as pa

from scenarios.observe.measures.rows import ROWS

VERSION = 1
"""The version of the layout and the columns, kept in the manifest and in every file."""

VERSION_KEY = b"understudy.schema"
RUNS = "runs"


class RunRow(NamedTuple):
    """One run: what was run, and what came of it.

    ``completed``: every move was finished; false is a result too (censored at ``virtual_us``), null when the
    run had no move. ``grid``: the overrides of the sweep, ``metrics``: the figures computed in the run, as
    JSON objects. ``code``: the digest of the program that ran it.
    """

    seed: int
    profile: str
    scenario: str
    version: str
    code: str
    grid: str
    verdict: str
    reason: str
    digest: str
    virtual_us: int
    events: int
    completed: bool | None
    metrics: str


_TYPES: Mapping[Any, pa.DataType] = {
    int: pa.int64(),
    int | None: pa.int64(),
    str: pa.string(),
    str | None: pa.string(),
    bool: pa.bool_(),
    bool | None: pa.bool_(),
    tuple[int, ...]: pa.list_(pa.int64()),
    tuple[int, ...] | None: pa.list_(pa.int64()),
}


def _schema(row: type[Any]) -> pa.Schema:
    columns = [pa.field(name, _TYPES[hint]) for name, hint in get_type_hints(row).items()]
    metadata: dict[bytes | str, bytes | str] = {VERSION_KEY: str(VERSION).encode()}
    return pa.schema([pa.field("run_id", pa.string()), *columns], metadata=metadata)


SCHEMAS: Mapping[str, pa.Schema] = {name: _schema(row) for name, row in {**ROWS, RUNS: RunRow}.items()}
"""Table name to its columns; ``runs`` is the last, as it is when a chunk is written."""
