"""The emulator as a data source of Spark: ``spark.read.format("understudy")`` runs a scenario and has the rows of one
table of the data set, without a folder in between (docs/use/spark.md).

It is a Python data source of PySpark: the driver plans partitions, executors read them. A partition is some runs; its
rows come as Arrow batches, one for each run. Every action on the DataFrame does the runs again, and gets the same rows:
cache it, or write it, where that is too slow.

This module is imported in every session that looks for data sources (the package ``pyspark_understudy``), so modules
that cost time are imported where they are used.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, ClassVar

from pyspark.sql.datasource import DataSource
from pyspark.sql.types import StructType

from scenarios import plugins
from scenarios.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from scenarios.studies.spark.source_options import SourceOptions
    from scenarios.studies.spark.source_rows import Rows, RunsReader, RunsStream

NAME = "understudy"


class EmulatorSource(DataSource):
    """The data source ``format("understudy")``. Its options are in ``source_options``.

    Attributes:
        PLUGINS: the plug-ins to import in the processes that plan and run; None: those that are found there.
    """

    PLUGINS: ClassVar[tuple[plugins.Plugin, ...] | None] = None
    options: MutableMapping[str, str]
    _asked: SourceOptions | None = None

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        """The columns. Spark calls this when ``load`` is called, so this is where the options are checked. Raises:
        BadInput."""
        from scenarios.studies.spark.tables import source_schema

        return source_schema(self._read_options().table)

    def reader(self, schema: StructType) -> RunsReader:
        from scenarios.studies.spark.source_rows import RunsReader

        return RunsReader(self._columns(schema))

    def streamReader(self, schema: StructType) -> RunsStream:
        from scenarios.studies.spark.source_rows import RunsStream

        return RunsStream(self._columns(schema))

    def _read_options(self) -> SourceOptions:
        """The options, read once: this object travels from one process to the next, and the file may change
        meanwhile."""
        if self._asked is None:
            if self.PLUGINS is None:
                plugins.load()
            else:
                plugins.restore(self.PLUGINS)
            from scenarios.studies.spark.source_options import SourceOptions

            try:
                self._asked = SourceOptions.of(self.options)
            except BadInput as error:
                raise error.with_traceback(None) from None  # Spark shows all of it, the one line that helps at the end
        return self._asked

    def _columns(self, schema: StructType) -> Rows:
        from scenarios.studies.spark.source_rows import Rows
        from scenarios.studies.spark.tables import source_schema

        asked = self._read_options()
        known = source_schema(asked.table)
        for column in schema:
            if column.name not in known.names:
                hint = did_you_mean(column.name, known.names)
                raise BadInput(f"table {asked.table!r} has no column {column.name!r}; {hint}", where="schema")
            if column.dataType != known[column.name].dataType:
                right = known[column.name].dataType.simpleString()
                raise BadInput(f"column {column.name!r} is of type {right}; write that, or no schema", where="schema")
        return Rows(asked, schema, plugins.loaded())


def register(spark: SparkSession) -> None:
    """Make ``format("understudy")`` known to this session, with the plug-ins that are loaded now. Executors on other
    machines get the program and the plug-ins sent."""
    from scenarios.studies.spark.shipping import ship

    plugins.load()
    # Executors cannot import a class that is in no module: it is sent to them as it is, and the plug-ins with it.
    bound = type(EmulatorSource.__name__, (EmulatorSource,), {"PLUGINS": plugins.loaded()})
    spark.dataSource.register(bound)
    ship(spark)
