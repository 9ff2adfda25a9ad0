"""Reading a data set: which parts count, and whether they can be read at all.

A part counts when its chunk has a file in ``runs``. Raises BadInput, one line, for a data set that is missing, empty,
corrupt, of another version, or that holds one run twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from scenarios.errors import BadInput
from scenarios.runs.dataset.manifest import Manifest, read_manifest
from scenarios.runs.dataset.schema import RUNS, SCHEMAS, VERSION, VERSION_KEY, other_version

_PARTS = "experiment=*/strategy=*/part-*.parquet"


@frozen
class DataSet:
    """A data set that was checked.

    Attributes:
        parts: table name to its files that count, in the order of their names.
        run_ids: the runs in it, in the order of the parts.
    """

    root: Path
    manifest: Manifest
    parts: Mapping[str, tuple[Path, ...]]
    run_ids: tuple[str, ...]


def open_data_set(root: Path) -> DataSet:
    """Check the folder and find what counts in it; only the files' own descriptions and ``runs`` are read."""
    manifest = read_manifest(root)
    committed = _committed(root)
    if not committed:
        raise BadInput("holds no finished run; run the sweep to its end", source=str(root))
    parts = {table: tuple(path for place in committed if (path := root / table / place).exists()) for table in SCHEMAS}
    for table, paths in parts.items():
        for path in paths:
            _check(path, SCHEMAS[table])
    return DataSet(root, manifest, parts, _run_ids(parts[RUNS]))


def finished_runs(root: Path) -> set[str]:
    """The ids of the runs that a sweep into this folder need not repeat."""
    paths = [root / RUNS / place for place in _committed(root)]
    for path in paths:
        _check(path, SCHEMAS[RUNS])
    return set(_run_ids(paths))


def read_table(data_set: DataSet, table: str) -> pa.Table:
    """A whole table, without Spark and without ``experiment`` and ``strategy``, which are only in the files' paths."""
    schema = SCHEMAS[table]
    tables = [_read(path, schema) for path in data_set.parts[table]]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def read_runs(data_set: DataSet) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each run's strategy, which is in the name of the part's folder, and its row of the table ``runs``."""
    for path in data_set.parts[RUNS]:
        strategy = unquote(path.parent.name.partition("=")[2])
        for row in _read(path, SCHEMAS[RUNS]).to_pylist():
            yield strategy, row


def _committed(root: Path) -> list[Path]:
    runs = root / RUNS
    return [path.relative_to(runs) for path in sorted(runs.glob(_PARTS))]


def _check(path: Path, schema: pa.Schema) -> None:
    try:
        found = pq.read_schema(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise _corrupt(path) from error
    version = (found.metadata or {}).get(VERSION_KEY, b"?").decode()
    if version != str(VERSION) or not found.equals(schema):
        raise BadInput(other_version(version), source=str(path))


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        return pq.ParquetFile(path).read().cast(schema)
    except (OSError, pa.ArrowInvalid) as error:
        raise _corrupt(path) from error


def _corrupt(path: Path) -> BadInput:
    return BadInput("is corrupt or cut short; delete it and run the sweep again", source=str(path))


def _run_ids(paths: list[Path] | tuple[Path, ...]) -> tuple[str, ...]:
    found: dict[str, Path] = {}
    for path in paths:
        run_ids: list[Any] = _read(path, SCHEMAS[RUNS]).column("run_id").to_pylist()
        for run_id in run_ids:
            if run_id in found:
                raise BadInput(f"holds run {run_id} twice, in {found[run_id]} too; delete one", source=str(path))
            found[run_id] = path
    return tuple(found)
