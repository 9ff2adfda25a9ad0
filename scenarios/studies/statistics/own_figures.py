"""The figures that each run of a data set computed itself, from the table ``figures``: a comparison without Spark."""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from scenarios.runs.dataset.reader import DataSet, read_figures, read_specs, read_table
from scenarios.studies.statistics.run_figures import RunFigures, in_order


def own_figures(data_set: DataSet) -> list[RunFigures]:
    """The figures of every run that is done, in the order of arm and seed."""
    observed_us, metrics = _observed_us(data_set), read_figures(data_set)
    found = []
    for read in read_specs(data_set):
        if not read.is_done:
            continue
        row = read.row
        moved_us = observed_us.get(row["run_id"])
        run = RunFigures(
            run_id=row["run_id"],
            arm=read.arm,
            seed=row["seed"],
            completed=row["completed"],
            observed_s=None if moved_us is None else moved_us / 1_000_000,
            metrics=metrics[row["run_id"]],
            agrees=True,
        )
        found.append(run)
    return in_order(found, data_set.manifest.arms)


def _observed_us(data_set: DataSet) -> dict[Any, int]:
    """Time of each run's moves, up to the run's end where they did not finish, by run."""
    moves = read_table(data_set, "moves").select(["run_id", "t_us", "w_us"])
    moves = moves.append_column("end_us", pc.add(moves["t_us"], moves["w_us"]))
    spans = moves.group_by("run_id").aggregate([("t_us", "min"), ("end_us", "max")])
    return {row["run_id"]: row["end_us_max"] - row["t_us_min"] for row in spans.to_pylist()}
