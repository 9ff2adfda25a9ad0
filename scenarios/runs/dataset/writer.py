"""Writing files of a data set so that nothing half-written ever counts (readings §10).

``put`` writes every file: under a name of its own in the staging folder, then brought to the disk, then renamed. A
file that is in its place is whole and stays there through Ctrl-C, a full disk or the loss of power. What a killed
process was writing stays in the staging folder until ``empty_staging``, with which every study ends. The final name
depends on the runs or cells in the file alone, so doing a chunk again, after a retry or beside a speculative twin,
replaces files by equal ones. A chunk of runs counts once its file of the table ``runs`` is there, which comes last.

Raises BadInput when the folder cannot be written or the disk is full.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from scenarios.errors import BadInput
from scenarios.runs.dataset.run_record import FailedRun, RunRecord
from scenarios.runs.dataset.table_schemas import RUNS, SCHEMAS, TABLES_KEY

STAGING = "_staging"
"""The folder of files that are being written; Spark and Hive ignore names with an underscore."""


PARTS = "*/experiment=*/strategy=*/part-*.parquet"
"""The files of all tables, below the folder of the data set."""


def chunk_name(run_ids: Sequence[str]) -> str:
    """The name of the chunk that holds these runs, in this order."""
    return hashlib.sha256(",".join(run_ids).encode()).hexdigest()[:16]


def part_path(root: Path, table: str, experiment: str, strategy: str, chunk: str) -> Path:
    """The path of a table's part. Names are percent-encoded, as Hive and Spark do."""
    folders = f"experiment={quote(experiment, safe='')}", f"strategy={quote(strategy, safe='')}"
    return root.joinpath(table, *folders, part_name(chunk))


def part_name(chunk: str) -> str:
    """The name of the chunk's file in each table."""
    return f"part-{chunk}.parquet"


def write_chunk(
    root: Path,
    experiment: str,
    strategy: str,
    chunk: str,
    records: Iterable[RunRecord | FailedRun],
    before_it_counts: Callable[[], object] = lambda: None,
) -> None:
    """Write runs of one strategy as one chunk and make it count.

    ``records`` are taken one by one, and only their columns are kept. The file of ``runs`` names the tables of the
    chunk, so that a reader notices a lost file. ``before_it_counts`` is called when only that file is not written; if
    it raises, the chunk does not count.
    """
    columns: dict[str, list[pa.RecordBatch]] = {table: [] for table in SCHEMAS}
    for record in records:
        for table, schema in SCHEMAS.items():
            columns[table] += table_batches(table, schema, record)
    written = [table for table, batches in columns.items() if batches]
    for table in written:
        content = pa.Table.from_batches(columns[table], schema=SCHEMAS[table])
        if table == RUNS:
            before_it_counts()
            content = content.replace_schema_metadata(
                {**content.schema.metadata, TABLES_KEY: ",".join(written).encode()}
            )
        put_table(root, part_path(root, table, experiment, strategy, chunk), content)


def keep_chunk(root: Path, chunk: str) -> None:
    """Remove all other chunks, those of the table ``runs`` first: the rest of a chunk then does not count. Raises:
    BadInput."""
    others = [path for path in root.glob(PARTS) if path.name != part_name(chunk)]
    try:
        for path in sorted(others, key=lambda path: (path.relative_to(root).parts[0] != RUNS, path)):
            path.unlink()
    except OSError as error:
        raise cannot_write(root, error) from error


def drop_chunk(root: Path, chunk: str) -> bool:
    """Remove the files of a chunk that does not count, and folders that are empty then. Returns whether chunks are
    left; what cannot be removed stays."""
    parts = list(root.glob(PARTS))
    ours = [path for path in parts if path.name == part_name(chunk)]
    if all(path.relative_to(root).parts[0] != RUNS for path in ours):
        for path in ours:
            with suppress(OSError):
                path.unlink()
    folders = (
        *root.glob("*/experiment=*/strategy=*"),
        *root.glob("*/experiment=*"),
        *(root / table for table in SCHEMAS),
    )
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
    return any(path.exists() for path in parts)


def put_table(root: Path, final: Path, table: pa.Table) -> Path:
    """Write a part of a table, see ``put``."""
    return put(root, final, lambda staged: pq.write_table(table, staged, compression="zstd"))


def put_text(root: Path, final: Path, text: str) -> Path:
    """Write a text file, see ``put``."""
    return put(root, final, lambda staged: staged.write_text(text, encoding="utf-8"))


def put(root: Path, final: Path, write: Callable[[Path], Any]) -> Path:
    """Write the file ``final`` of the data set in ``root``: ``write`` gets the path to write to. Raises: BadInput."""
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with _staged(root, final.name) as staged:
            write(staged)
            _to_disk(staged)
            staged.replace(final)
        _to_disk(final.parent)
    except OSError as error:
        raise cannot_write(root, error) from error
    return final


@contextmanager
def _staged(root: Path, name: str) -> Iterator[Path]:
    """A new file in the staging folder. It is removed at the end, unless it has been renamed, and locked until then: a
    file without a lock was left by a process that was killed."""
    staged = root / STAGING / f"{name}-{secrets.token_hex(8)}"
    staged.parent.mkdir(parents=True, exist_ok=True)
    with staged.open("wb") as held:
        with suppress(OSError):  # not every network file system has locks
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield staged
        finally:
            staged.unlink(missing_ok=True)


def empty_staging(root: Path) -> None:
    """Remove the files that killed processes have left in the staging folder, and the folder if it is empty then.
    Files that another process is writing stay."""
    for left in (root / STAGING).glob("*"):
        with suppress(OSError), left.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    with suppress(OSError):
        (root / STAGING).rmdir()


def _to_disk(path: Path) -> None:
    """Return when the file, or the folder's list of names, survives a loss of power."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def cannot_write(root: Path, error: OSError) -> BadInput:
    """The error for a folder that cannot be written."""
    why = os.strerror(error.errno) if error.errno else str(error).splitlines()[0]  # Arrow has words of its own
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


def table_batches(name: str, schema: pa.Schema, record: RunRecord | FailedRun) -> Iterator[pa.RecordBatch]:
    """The run's rows of the table ``name``: one batch, or none."""
    rows = record.rows(name)
    if not rows:
        return
    names = pa.array([record.spec.run_id]).dictionary_encode()
    run_ids = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), len(rows)), names.dictionary)
    columns = [
        pa.array(values, field.type) for field, values in zip(list(schema)[1:], zip(*rows, strict=True), strict=True)
    ]
    yield pa.RecordBatch.from_arrays([run_ids.cast(pa.string()), *columns], schema=schema)
