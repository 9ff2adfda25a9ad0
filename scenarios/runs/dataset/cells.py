"""The atlas's results as Parquet: ``DIR/cells/part-CHUNK.parquet``, one row per cell, and what they belong to.

A part is written beside its place, brought to the disk, and only then given its name: what is in ``cells`` is whole and
stays there through Ctrl-C, a full disk or the loss of power. Parts of a resumed campaign stand beside the older ones.

Raises BadInput when the folder cannot be written or read, or holds another atlas.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from scenarios.errors import BadInput
from scenarios.runs.dataset.schema import VERSION, VERSION_KEY
from scenarios.runs.dataset.writer import STAGING, cannot_write, chunk_name
from scenarios.studies.atlas.rows import CellRow

CELLS = "cells"
NAME = "atlas.json"

_TYPES: Mapping[Any, pa.DataType] = {
    int: pa.int64(),
    str: pa.string(),
    tuple[str, ...]: pa.list_(pa.string()),
}

SCHEMA: pa.Schema = pa.schema(
    [pa.field(name, _TYPES[hint]) for name, hint in get_type_hints(CellRow).items()],
    metadata={VERSION_KEY: str(VERSION).encode()},
)


def begin(root: Path, identity: Mapping[str, object], *, resume: bool) -> None:
    """Make the folder that of the atlas which ``identity`` describes, or check that it is.

    ``resume``: go on with what is there; else there must be nothing.
    """
    path = root / NAME
    if path.exists():
        if not resume:
            raise BadInput("holds an atlas already; add --resume, or name another folder", source=str(root))
        _check_same(root, identity)
        return
    try:
        (root / STAGING).mkdir(parents=True, exist_ok=True)
        (root / CELLS).mkdir(exist_ok=True)
        _put(root, NAME, (json.dumps(dict(identity), indent=1) + "\n").encode())
    except OSError as error:
        raise cannot_write(root, error) from error


def write_cells(root: Path, rows: Sequence[CellRow]) -> Path:
    """Write some cells so that they stay, whatever happens next. The same cells again replace themselves."""
    columns = [pa.array(values, field.type) for field, values in zip(SCHEMA, zip(*rows, strict=True), strict=True)]
    table = pa.Table.from_arrays(columns, schema=SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    place = f"{CELLS}/part-{chunk_name([row.cell for row in rows])}.parquet"
    try:
        return _put(root, place, sink.getvalue().to_pybytes())
    except OSError as error:
        raise cannot_write(root, error) from error


def read_cells(root: Path) -> list[CellRow]:
    """All cells in a folder, in the order of their parts' names."""
    rows: list[CellRow] = []
    for path in sorted((root / CELLS).glob("part-*.parquet")):
        try:
            table = pq.ParquetFile(path).read()
        except (OSError, pa.ArrowInvalid) as error:
            raise BadInput("is corrupt; delete it and resume the atlas", source=str(path)) from error
        if not table.schema.equals(SCHEMA):
            raise BadInput("has other columns than this program's; make a new atlas", source=str(path))
        for values in table.to_pylist():
            lists = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
            rows.append(CellRow(**{**values, **lists}))
    return rows


def write_text(root: Path, name: str, text: str) -> Path:
    """Write a text file of the atlas, such as its page, whole or not at all."""
    try:
        return _put(root, name, text.encode())
    except OSError as error:
        raise cannot_write(root, error) from error


def _check_same(root: Path, identity: Mapping[str, object]) -> None:
    try:
        found = json.loads((root / NAME).read_text())
        differing = [key for key, value in identity.items() if found.get(key) != value]
    except (OSError, ValueError, AttributeError) as error:
        raise BadInput("is corrupt; make a new atlas in another folder", source=str(root / NAME)) from error
    if differing:
        key = differing[0]
        raise BadInput(
            f"holds an atlas with {key} {found.get(key)!r}, not {identity[key]!r}; name another folder",
            source=str(root),
        )


def _put(root: Path, place: str, content: bytes) -> Path:
    """The file at ``place`` has ``content`` when this returns, and will have it after a loss of power."""
    staged, final = root / STAGING / place.replace("/", "-"), root / place
    with staged.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    staged.replace(final)
    folder = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    return final
