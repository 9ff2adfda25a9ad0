"""Partitions and rows of the data source: the readers on Spark's executors."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from attrs import frozen
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from scenarios import plugins
from scenarios.runs import run_record
from scenarios.runs.batch import failure_of
from scenarios.runs.dataset.run_record import FailedRun, RunRecord, RunSpec
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.runs.dataset.writer import table_batches
from scenarios.studies.spark.source_options import SourceOptions

_OFFSET = "runs"


class Runs(InputPartition):
    """The runs of one Spark task."""

    def __init__(self, specs: tuple[RunSpec, ...]) -> None:
        super().__init__(specs)


@frozen
class Rows:
    """Makes partitions of runs, and rows of a partition.

    Attributes:
        schema: the wanted columns: those of the table, or some of them.
        plugins: the plug-ins that a process has to import before it does the runs.
    """

    asked: SourceOptions
    schema: StructType
    plugins: tuple[plugins.Plugin, ...]

    def partitions(self, first: int, stop: int) -> list[InputPartition]:
        """The partitions of the runs with the numbers from ``first`` to ``stop``, excluded."""
        specs, size = self.asked.specs(first, stop), self.asked.runs_per_partition
        return [Runs(specs[start : start + size]) for start in range(0, len(specs), size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The rows of the partition's runs. Doing a partition twice gives the same rows."""
        plugins.restore(self.plugins)
        asked, columns = self.asked, to_arrow_schema(self.schema, timezone="UTC")
        for spec in partition.value or ():
            for batch in table_batches(asked.table, SCHEMAS[asked.table], self._done(spec)):
                arrays = [
                    batch.column(name)
                    if name in batch.schema.names
                    else pa.repeat(pa.scalar(_of_run(name, asked, spec)), batch.num_rows)
                    for name in columns.names
                ]
                yield pa.RecordBatch.from_arrays(
                    [array.cast(column.type) for array, column in zip(arrays, columns, strict=True)], schema=columns
                )

    def _done(self, spec: RunSpec) -> RunRecord | FailedRun:
        """The record of a run. If the program raises, the run is a row of ``runs`` and not the end of the query."""
        try:
            return run_record(spec, recorded=self.asked.is_recorded)
        except Exception as error:
            return FailedRun(spec, failure_of(spec, error).what)


def _of_run(column: str, asked: SourceOptions, spec: RunSpec) -> str:
    """The value of a column that describes the arm of a row."""
    arm = spec.arm
    of_arm = {"strategy": arm.strategy, "profile": arm.profile, "grid": arm.grid_json}
    return {"experiment": asked.experiment, **of_arm}[column]


@frozen
class RunsReader(DataSourceReader):
    """``spark.read``: all runs."""

    rows: Rows

    def partitions(self) -> list[InputPartition]:
        return self.rows.partitions(0, self.rows.asked.runs)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.rows.read(partition)


class RunsStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """``spark.readStream``: an offset is the number of runs before it, so a query that starts again from its checkpoint
    goes on with the next run."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def initialOffset(self) -> dict[str, int]:
        return {_OFFSET: 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.rows.asked.runs_per_batch)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self.rows.asked.runs
        return {_OFFSET: min(start[_OFFSET] + most, self.rows.asked.runs)}

    def prepareForTriggerAvailableNow(self) -> None:
        """Do nothing: all runs are available from the start."""

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        return self.rows.partitions(start[_OFFSET], end[_OFFSET])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self.rows.read(partition)
