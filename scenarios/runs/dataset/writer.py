"""Writing chunks of runs so that nothing half-written ever counts (readings §10).

Every file is written under a staging name of its chunk and attempt, then renamed to its final name, which
depends on the runs in it alone; the file of ``runs`` comes last and makes the chunk count. Doing it again,
after a retry or beside a speculative twin, replaces files by equal ones.

Raises BadInput when the folder cannot be written or the disk is full.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from scenarios.errors import BadInput
from scenarios.runs.dataset.record import RunRecord
from scenarios.runs.dataset.schema import RUNS, SCHEMAS

STAGING = "_staging"
"""The folder of files that are being written; Spark and Hive ignore names with an underscore."""


def chunk_name(run_ids: Sequence[str]) -> str:
    """The name of the chunk that holds these runs, in this order."""
    return hashlib.sha256(",".join(run_ids).encode()).hexdigest()[:16]


def part_path(root: Path, table: str, experiment: str, strategy: str, chunk: str) -> Path:
    """Where a table's part lies. Names are percent-encoded, as Hive and Spark do."""
    folders = f"experiment={quote(experiment, safe='')}", f"strategy={quote(strategy, safe='')}"
    return root.joinpath(table, *folders, f"part-{chunk}.parquet")


def write_chunk(
    root: Path,
    experiment: str,
    strategy: str,
    chunk: str,
    records: Iterable[RunRecord],
    *,
    attempt: str = "0",
) -> None:
    """Write runs of one strategy as one chunk and make it count.

    ``records`` are taken one by one, and only their columns are kept. ``attempt`` keeps two writers of the
    same chunk out of each other's staging files.
    """
    columns: dict[str, list[pa.RecordBatch]] = {table: [] for table in SCHEMAS}
    for record in records:
        for table, schema in SCHEMAS.items():
            columns[table] += _batches(table, schema, record)
    try:
        (root / STAGING).mkdir(parents=True, exist_ok=True)
        for table, schema in SCHEMAS.items():
            if columns[table]:
                staged = root / STAGING / f"{table}-{chunk}-{attempt}"
                final = part_path(root, table, experiment, strategy, chunk)
                final.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(pa.Table.from_batches(columns[table], schema=schema), staged, compression="zstd")
                staged.replace(final)
    except OSError as error:
        raise cannot_write(root, error) from error


def cannot_write(root: Path, error: OSError) -> BadInput:
    """The one line for a folder that does not take what is written into it."""
    why = error.strerror or str(error).splitlines()[0]
    return BadInput(f"cannot be written ({why}); name a folder with write permission and room", source=str(root))


def check_writable(root: Path) -> None:
    """Make the folder and write a file in it, so that a sweep fails before it runs. Raises: BadInput."""
    try:
        (root / STAGING).mkdir(parents=True, exist_ok=True)
        probe = root / STAGING / "probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise cannot_write(root, error) from error


def _batches(name: str, schema: pa.Schema, record: RunRecord) -> Iterator[pa.RecordBatch]:
    rows: Sequence[Any] = [record.row()] if name == RUNS else record.tables.get(name, ())
    if not rows:
        return
    names = pa.array([record.spec.run_id]).dictionary_encode()
    run_ids = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), len(rows)), names.dictionary)
    columns = [
        pa.array(values, field.type) for field, values in zip(list(schema)[1:], zip(*rows, strict=True), strict=True)
    ]
    yield pa.RecordBatch.from_arrays([run_ids.cast(pa.string()), *columns], schema=schema)
