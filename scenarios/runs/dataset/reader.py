"""Reading a data set: the parts that count, and whether they can be read at all.

A part counts when its chunk has a file in ``runs``, and no other chunk replaces it. Raises BadInput, one line, for a
data set that is missing, empty, corrupt, of another version, that lacks a table, or that holds one run twice.
``open_data_sets`` (``scenarios.runs.dataset.joined``) reads several folders as one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.observe.measures.figure import Value
from scenarios.observe.measures.figures import declared
from scenarios.reading import check_file
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.manifest import SINGLE_RUN, Manifest, read_manifest
from scenarios.runs.dataset.run_record import DONE
from scenarios.runs.dataset.table_schemas import (
    FIGURES,
    REPLACES_KEY,
    RUNS,
    SCHEMAS,
    TABLES_KEY,
    VERSION,
    VERSION_KEY,
    other_columns,
    other_version,
)

BROKEN = (OSError, ValueError, pa.ArrowException)
"""The exceptions of Arrow for a file that is not one of its own, or is damaged."""
_PARTS = "experiment=*/strategy=*/part-*.parquet"


@frozen
class Folder:
    """A folder of a data set.

    Attributes:
        parts: the files of each table that count, in the order of their names.
        hidden: the runs in it that are left out: another folder has them too, or has no run with their seed.
        grid: keys and values in the names of its arms, besides those in its files.
    """

    root: Path
    parts: Mapping[str, tuple[Path, ...]]
    hidden: frozenset[str] = frozenset()
    grid: Mapping[str, str] = field(factory=dict)


@frozen
class DataSet:
    """A data set that was checked.

    Attributes:
        folders: more than one where several were opened as one data set.
        run_ids: the runs in it, in the order of the parts.
    """

    folders: tuple[Folder, ...]
    manifest: Manifest
    run_ids: tuple[str, ...]

    @property
    def place(self) -> str:
        """The folders, for messages."""
        return " ".join(str(folder.root) for folder in self.folders)

    def files(self, tables: Iterable[str]) -> list[Path]:
        return [path for folder in self.folders for name in tables for path in folder.parts[name]]


def open_data_set(root: Path) -> DataSet:
    """Check the folder and find the parts that count; only the files' own descriptions and ``runs`` are read."""
    manifest = read_manifest(root)
    found = committed(root)
    if not found:
        again = "run it again with run --trace" if manifest.experiment == SINGLE_RUN else "run the sweep to its end"
        raise BadInput(f"holds no finished run; {again}", source=str(root))
    for part in found:
        _check_tables(root, part)
    parts = {table: tuple(path for part in found if (path := root / table / part.place).exists()) for table in SCHEMAS}
    for table, paths in parts.items():
        for path in paths:
            _check(path, SCHEMAS[table])
    return DataSet((Folder(root, parts),), manifest, _run_ids(parts[RUNS]))


def finished_runs(root: Path) -> set[str]:
    """The ids of the runs that a sweep into this folder need not repeat."""
    paths = [root / RUNS / part.place for part in committed(root)]
    for path in paths:
        _check(path, SCHEMAS[RUNS])
    return set(_run_ids(paths))


def read_table(data_set: DataSet, table: str) -> pa.Table:
    """A whole table, without Spark and without ``experiment`` and ``strategy``, which are only in the files' paths."""
    schema = SCHEMAS[table]
    tables = [_shown(_read(path, schema), folder) for folder in data_set.folders for path in folder.parts[table]]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def read_events_table(data_set: DataSet, run_id: str) -> pa.Table:
    """The events of one run, in their order."""
    table = read_table(data_set, "events")
    if len(data_set.run_ids) > 1:
        table = table.filter(pc.equal(table["run_id"], pa.scalar(run_id)))
    seq = table["seq"]
    in_order = pc.all(pc.greater(seq.slice(1), seq.slice(0, max(0, len(seq) - 1)))).as_py()
    return table if in_order is not False else table.sort_by("seq")


def _shown(table: pa.Table, folder: Folder) -> pa.Table:
    if not folder.hidden:
        return table
    hidden = pa.array(sorted(folder.hidden), pa.string())
    return table.filter(pc.invert(pc.is_in(table["run_id"], value_set=hidden)))


@frozen
class RunRead:
    """A run of the data set.

    Attributes:
        arm: the arm with its name.
        row: the run's row of the table ``runs``.
    """

    arm: Arm
    row: Mapping[str, Any]

    @property
    def is_done(self) -> bool:
        """Whether it has figures; a failed run has an error instead."""
        return bool(self.row["status"] == DONE)

    @property
    def name(self) -> str:
        """The name of the run in messages."""
        return f"{self.arm.name} with seed {self.row['seed']}"


def read_specs(data_set: DataSet) -> Iterator[RunRead]:
    """Every run of the data set, failed ones too."""
    named, keys = {arm: arm for arm in data_set.manifest.arms}, data_set.manifest.axes
    for folder in data_set.folders:
        for path in folder.parts[RUNS]:
            strategy = unquote(path.parent.name.partition("=")[2])
            for row in _shown(_read(path, SCHEMAS[RUNS]), folder).to_pylist():
                try:
                    grid = {**json.loads(row["grid"]), **folder.grid}
                    arm = Arm(strategy, row["profile"], [(key, grid[key]) for key in keys if key in grid])
                except (ValueError, TypeError, RecursionError) as error:
                    raise corrupt(path) from error
                yield RunRead(named.get(arm, arm), row)


class OwnFigures(dict[str, Value]):
    """The figures of one run. Raises BadInput where one is asked for that the file lacks."""

    def __missing__(self, name: str) -> Value:
        raise BadInput(
            f"a run lacks {name!r}: the file is damaged, or another version wrote it; carry out the runs again",
            source=FIGURES,
        )


def read_figures(data_set: DataSet) -> dict[str, dict[str, Value]]:
    """The figures that each run computed itself, by ``run_id`` and metric; whole numbers as such."""
    table = read_table(data_set, FIGURES)
    times = {figure.metric for figure in declared().values() if figure.is_time}
    found: dict[str, dict[str, Value]] = {}
    rows = zip(*(table[name].to_pylist() for name in ("run_id", "name", "value")), strict=True)
    for run_id, name, value in rows:
        whole = value is not None and name not in times and value == int(value)
        found.setdefault(run_id, OwnFigures())[name] = int(value) if whole else value
    return found


@frozen
class DataSetPart:
    """A chunk that counts.

    Attributes:
        place: the place of its files, below the folder of each table.
        tables: the tables in which it has a file.
        replaces: the names of the files whose rows it has.
    """

    place: Path
    tables: tuple[str, ...]
    replaces: tuple[str, ...]


def committed(root: Path) -> list[DataSetPart]:
    """The chunks that count, in the order of their names. Raises: BadInput."""
    runs = root / RUNS
    found = [_part(root, path.relative_to(runs)) for path in sorted(runs.glob(_PARTS))]
    replaced = {part.place.with_name(name) for part in found for name in part.replaces}
    return [part for part in found if part.place not in replaced]


def read_part(root: Path, table: str, part: DataSetPart) -> pa.Table:
    """A chunk's rows of one of its tables. Raises: BadInput."""
    return _read(root / table / part.place, SCHEMAS[table])


def _part(root: Path, place: Path) -> DataSetPart:
    path = root / RUNS / place
    try:
        check_file(path, "a part of a data set")
        metadata = pq.read_schema(path).metadata or {}
        tables, replaces = (
            tuple(filter(None, metadata.get(key, b"").decode().split(","))) for key in (TABLES_KEY, REPLACES_KEY)
        )
        if any("/" in name for name in (*tables, *replaces)):
            raise ValueError("a name with a slash is none of a table or a file")
    except BROKEN as error:
        raise corrupt(path) from error
    return DataSetPart(place, tables, replaces)


def _check_tables(root: Path, part: DataSetPart) -> None:
    """Check that the chunk's files exist in all tables that it was written to."""
    for table in part.tables:
        if table in SCHEMAS and not (root / table / part.place).exists():
            runs = root / RUNS / part.place
            raise BadInput(
                f"lacks the part {part.place} of the table {table}; delete {runs} and run the sweep again",
                source=str(root),
            )


def _check(path: Path, schema: pa.Schema) -> None:
    try:
        check_file(path, "a part of a data set")
        found = pq.read_schema(path)
        version = (found.metadata or {}).get(VERSION_KEY, b"?").decode()
    except BROKEN as error:
        raise corrupt(path) from error
    if version != str(VERSION):
        raise BadInput(other_version(version), source=str(path))
    if not found.equals(schema):
        raise BadInput(f"{other_columns(found, schema)}; run it again", source=str(path))


def _read(path: Path, schema: pa.Schema) -> pa.Table:
    try:
        found = pq.ParquetFile(path).read().cast(schema)
        found.validate(full=True)  # a text that is not UTF-8, a null where there is none
    except BROKEN as error:
        raise corrupt(path) from error
    return found


def corrupt(path: Path) -> BadInput:
    return BadInput("is corrupt or cut short; delete it and run the sweep again", source=str(path))


def _run_ids(paths: list[Path] | tuple[Path, ...]) -> tuple[str, ...]:
    found: dict[str, Path] = {}
    for path in paths:
        strategy = unquote(path.parent.name.partition("=")[2])
        for row in _read(path, SCHEMAS[RUNS]).select(["run_id", "seed"]).to_pylist():
            run_id: str = row["run_id"]
            if run_id in found:
                run = f"the run of {strategy} with seed {row['seed']}"
                raise BadInput(f"holds {run} twice, in {found[run_id]} too; delete one", source=str(path))
            found[run_id] = path
    return tuple(found)
