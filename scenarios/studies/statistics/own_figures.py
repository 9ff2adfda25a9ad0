"""The figures that each run of a data set computed itself, read from the table ``runs``: a comparison without Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from scenarios.runs.dataset.reader import DataSet, open_data_set, read_runs, read_table
from scenarios.studies.statistics.comparison import comparison
from scenarios.studies.statistics.comparison_table import Comparison, RunFigures


def quick_comparison(directory: str | Path) -> Comparison:
    """Compare the strategies of a data set. Raises: BadInput for a folder without one."""
    data_set = open_data_set(Path(directory))
    return comparison(data_set.manifest, own_figures(data_set))


def own_figures(data_set: DataSet) -> list[RunFigures]:
    """The figures of every run, in the order of strategy and seed."""
    observed_us = _observed_us(data_set)
    found = []
    for strategy, row in read_runs(data_set):
        moved_us = observed_us.get(row["run_id"])
        run = RunFigures(
            run_id=row["run_id"],
            strategy=strategy,
            seed=row["seed"],
            completed=row["completed"],
            observed_s=None if moved_us is None else moved_us / 1_000_000,
            metrics=json.loads(row["metrics"]),
            agrees=True,
        )
        found.append(run)
    return sorted(found, key=lambda run: (run.strategy, run.seed, run.run_id))


def _observed_us(data_set: DataSet) -> dict[Any, int]:
    """By run, the time of its moves, up to the run's end where they did not finish."""
    moves = read_table(data_set, "moves").select(["run_id", "t_us", "w_us"])
    moves = moves.append_column("end_us", pc.add(moves["t_us"], moves["w_us"]))
    spans = moves.group_by("run_id").aggregate([("t_us", "min"), ("end_us", "max")])
    return {row["run_id"]: row["end_us_max"] - row["t_us_min"] for row in spans.to_pylist()}
