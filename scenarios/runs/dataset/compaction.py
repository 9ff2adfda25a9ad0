"""The joining of many small chunks into few large ones.

A sweep writes a chunk every few seconds, so that little is lost when it is killed, and every chunk has a file in each
table. Reading the data set then means opening thousands of files, which takes longer than reading their content. So a
sweep that has ended joins its chunks.

The joined chunk counts as soon as its file of ``runs`` exists, and from then on the chunks that this file names do not.
They are removed afterwards. Killed at any moment, the data set has each row once. A name stays in the list for good: a
worker that was given up can write its chunk again even later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scenarios.runs.dataset.reader import DataSetPart, committed, read_part
from scenarios.runs.dataset.table_schemas import REPLACES_KEY, RUNS, SCHEMAS, TABLES_KEY
from scenarios.runs.dataset.writer import PARTS, chunk_name, part_name, put

LARGE = 64 * 1024 * 1024
"""The bytes of a joined chunk in all tables together. Spark still divides large data sets well."""

_ROW_GROUP = 1_000_000
"""The most rows that are in memory at a time."""


def small_chunks(root: Path) -> list[list[DataSetPart]]:
    """The chunks that are worth joining, in groups of about ``LARGE`` bytes, each of one experiment and strategy.
    Raises: BadInput."""
    found: list[list[DataSetPart]] = []
    for _folder, parts in groupby(committed(root), lambda part: part.place.parent):
        group, size = list[DataSetPart](), 0
        for part in parts:
            if not all(table in SCHEMAS for table in part.tables):
                continue  # one of a plug-in that is not here
            own = sum((root / table / part.place).stat().st_size for table in part.tables)
            if own > LARGE // 2:
                continue
            if size + own > LARGE:
                found.append(group)
                group, size = [], 0
            group.append(part)
            size += own
        found.append(group)
    return [group for group in found if len(group) > 1]


def join_chunks(
    root: Path, parts: Sequence[DataSetPart], before_it_counts: Callable[[], object] = lambda: None
) -> None:
    """Write the rows of ``parts``, all in one folder, as one chunk, and make it count in their place.

    ``before_it_counts`` is called when only the file of ``runs`` is not written; if it raises, nothing has changed.
    Raises: BadInput.
    """
    run_ids = [str(run_id) for part in parts for run_id in read_part(root, RUNS, part).column("run_id").to_pylist()]
    place = parts[0].place.with_name(part_name(chunk_name(run_ids)))
    tables = [table for table in SCHEMAS if any(table in part.tables for part in parts)]
    replaced = dict.fromkeys(name for part in parts for name in (*part.replaces, part.place.name))
    for table in tables:
        schema = SCHEMAS[table]
        if table == RUNS:
            before_it_counts()
            lists = {TABLES_KEY: ",".join(tables).encode(), REPLACES_KEY: ",".join(replaced).encode()}
            schema = schema.with_metadata({**(schema.metadata or {}), **lists})
        _write(root, root / table / place, schema, _row_groups(root, table, parts))
    drop_what_does_not_count(root)


def drop_what_does_not_count(root: Path) -> None:
    """Remove the parts of chunks that do not count: their worker was killed or too late, or they were joined. Those of
    ``runs`` are removed first, so that a rest does not count either. Raises: BadInput."""
    counts = {part.place for part in committed(root)}
    parts = {path: path.relative_to(root).parts for path in root.glob(PARTS)}
    for path, (_table, *place) in sorted(parts.items(), key=lambda item: (item[1][0] != RUNS, item[0])):
        if Path(*place) not in counts:
            path.unlink(missing_ok=True)


def _row_groups(root: Path, table: str, parts: Sequence[DataSetPart]) -> Iterator[pa.Table]:
    held: list[pa.Table] = []
    for part in parts:
        if table in part.tables:
            held.append(read_part(root, table, part))
            if sum(one.num_rows for one in held) >= _ROW_GROUP:
                yield pa.concat_tables(held)
                held = []
    if held:
        yield pa.concat_tables(held)


def _write(root: Path, final: Path, schema: pa.Schema, groups: Iterator[pa.Table]) -> None:
    def write(staged: Path) -> None:
        with pq.ParquetWriter(staged, schema, compression="zstd") as writer:
            for group in groups:
                writer.write_table(group.replace_schema_metadata(schema.metadata))

    put(root, final, write)
