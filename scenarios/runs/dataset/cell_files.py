"""The atlas's results as Parquet: ``DIR/cells/part-CHUNK.parquet``, one row per cell, and the atlas that they belong
to.

Parts of a resumed campaign are added to the older ones.

Raises BadInput when the folder cannot be written or read, or holds another atlas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scenarios.errors import BadInput
from scenarios.reading import check_file
from scenarios.runs.dataset.manifest import claim
from scenarios.runs.dataset.reader import BROKEN
from scenarios.runs.dataset.table_rows import CellRow
from scenarios.runs.dataset.table_schemas import CELL_COLUMNS
from scenarios.runs.dataset.writer import chunk_name, put_table

CELLS = "cells"
ATLAS = "atlas"


def begin(root: Path, identity: Mapping[str, object]) -> None:
    """Make the folder that of the atlas which ``identity`` describes, see ``manifest.claim``."""
    claim(root, ATLAS, identity)


def write_cells(root: Path, rows: Sequence[CellRow]) -> Path:
    """Write some cells as a part. Writing the same cells again replaces the part."""
    columns = zip(CELL_COLUMNS, zip(*rows, strict=True), strict=True)
    arrays = [pa.array(values, field.type) for field, values in columns]
    place = f"part-{chunk_name([row.cell for row in rows])}.parquet"
    return put_table(root, root / CELLS / place, pa.Table.from_arrays(arrays, schema=CELL_COLUMNS))


def read_cells(root: Path) -> list[CellRow]:
    """All cells in a folder, in the order of their parts' names."""
    rows: list[CellRow] = []
    for path in sorted((root / CELLS).glob("part-*.parquet")):
        try:
            check_file(path, "a part of an atlas")
            table = pq.ParquetFile(path).read()
        except BROKEN as error:
            raise BadInput("is corrupt; delete it; the same command makes its cells again", source=str(path)) from error
        if not table.schema.equals(CELL_COLUMNS):
            raise BadInput("has other columns than this program's; make a new atlas", source=str(path))
        for values in table.to_pylist():
            lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
            rows.append(CellRow(**{**values, **lists}))
    return rows
