"""The data set of a study in Python: its comparison, and its tables as frames.

Arrow, pandas and Spark are imported when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from scenarios.errors import BadInput

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from scenarios.runs.dataset.reader import DataSet, RunRead
    from scenarios.studies.statistics.result import Comparison

LOCAL = "local[2]"


@frozen(repr=False)
class Results:
    """A data set, or several as one."""

    data_set: DataSet

    @classmethod
    def open(cls, *folders: str | Path) -> Results:
        """The results in folders that sweeps wrote; several are read as one, over the seeds that they share. Raises:
        BadInput."""
        from scenarios.runs.dataset.joined import open_data_sets

        return cls(open_data_sets(folders))

    @property
    def failed(self) -> tuple[tuple[str, int, str], ...]:
        """The runs that broke: arm, seed and error."""
        return tuple((run.arm.name, run.row["seed"], run.row["error"]) for run in self._runs if not run.is_done)

    @property
    def _runs(self) -> list[RunRead]:
        from scenarios.runs.dataset.reader import read_specs

        places = {arm: place for place, arm in enumerate(self.data_set.manifest.arms)}
        return sorted(read_specs(self.data_set), key=lambda run: (places.get(run.arm, len(places)), run.row["seed"]))

    def compare(
        self,
        *,
        by: str | None = None,
        where: Mapping[str, str] | None = None,
        metrics: Sequence[str] = (),
        baseline: str | None = None,
        minimum: str | Sequence[str] = (),
        recount: bool = False,
        master: str = LOCAL,
    ) -> Comparison:
        """Compare the arms, as ``understudy compare`` does.

        Args:
            by: an axis whose values are compared. where: axis to value: only arms with that.
            metrics, minimum: names and smallest difference that matters; by default those of ``[study]``.
            baseline: what all others are compared with; by default each arm is compared with the one that differs from
                it in a single axis.
            recount: let Spark on ``master`` compute every figure again, and warn where a run computed another one.

        Raises: BadInput; JavaMissing.
        """
        from scenarios.observe.measures.minimum import parse_minima
        from scenarios.studies.statistics.of_data_set import compare_data_set
        from scenarios.studies.statistics.study_comparison import ComparisonSpec

        minima = [minimum] if isinstance(minimum, str) else minimum
        asked = ComparisonSpec(
            by=by,
            where=tuple((where or {}).items()),
            metrics=tuple(metrics),
            baseline=baseline,
            minimum=parse_minima(minima) if minima else None,
        )
        if recount:
            from scenarios.studies.spark.compare import compare_with_spark

            return compare_with_spark(self.data_set, master=master, asked=asked)
        from scenarios.studies.statistics.own_figures import own_figures

        return compare_data_set(self.data_set, own_figures(self.data_set), asked=asked)

    def to_arrow(self, table: str) -> pa.Table:
        """A table of the data set (docs/use/dataset.md). Raises: KeyError for one that there is not."""
        from scenarios.runs.dataset.reader import read_table

        return read_table(self.data_set, table)

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """A table of the data set; by default a row for each run, with its arm, its axes, its seed and its figures."""
        import pandas as pd

        return self.to_arrow(table).to_pandas() if table else pd.DataFrame(list(self._wide()))

    def _wide(self) -> Iterable[dict[str, Any]]:
        from scenarios.runs.dataset.reader import read_figures

        figures = read_figures(self.data_set)
        for run in self._runs:
            axes = {axis: run.arm.value_of(axis) for axis in run.arm.axes}
            said = {name: run.row[name] for name in ("seed", "status", "verdict", "completed")}
            run_id = run.row["run_id"]
            yield {"run_id": run_id, "arm": run.arm.name, **axes, **said, **figures.get(run_id, {})}

    def to_spark(self, table: str = "figures", spark: SparkSession | None = None) -> DataFrame:
        """A table of the data set as a frame of Spark, with the columns ``experiment`` and ``strategy``.

        Args:
            spark: the session; by default the one that is active.

        Raises: BadInput where no session is active.
        """
        from pyspark.sql import SparkSession

        from scenarios.studies.spark.tables import table as read

        spark = spark or SparkSession.getActiveSession()
        if spark is None:
            raise BadInput("no session of Spark is active; start one: spark = SparkSession.builder.getOrCreate()")
        return read(spark, self.data_set, table)

    def __repr__(self) -> str:
        arms = ", ".join(arm.name for arm in self.data_set.manifest.arms)
        return f"{len(self.data_set.run_ids):,} runs in {self.data_set.place}: {arms}"

    def _repr_html_(self) -> str:
        from scenarios.studies.report.notebook import results_html

        return results_html(self.data_set.manifest.title, self._runs)
