"""The comparison of a data set: the figures of the runs that are done, and the runs that failed, from its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from scenarios.observe.measures.minimum import parse_minima
from scenarios.runs.dataset.joined import open_data_sets
from scenarios.runs.dataset.reader import DataSet, read_specs
from scenarios.runs.dataset.run_record import FAILED
from scenarios.studies.statistics.own_figures import own_figures
from scenarios.studies.statistics.result import Comparison
from scenarios.studies.statistics.run_figures import RunFigures, in_order
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs


def compare_folders(*directories: str | Path, asked: ComparisonSpec | None = None) -> Comparison:
    """Compare the arms of a data set, or of several that share seeds, by the figures that each run computed itself:
    without Spark. Raises: BadInput for a folder without one, and for what is asked and not there."""
    data_set = open_data_sets(directories)
    return compare_data_set(data_set, own_figures(data_set), asked=asked)


def compare_data_set(
    data_set: DataSet, done: Sequence[RunFigures], *, asked: ComparisonSpec | None = None
) -> Comparison:
    """Compare the arms of a data set. ``done``: the figures of its runs, by Spark or by the runs themselves.

    Metrics and the smallest difference that matters are those of the study, where nothing else is asked for.
    Raises: BadInput as ``compare_runs`` does.
    """
    manifest, asked = data_set.manifest, asked or ComparisonSpec()
    if manifest.minimum and asked.minimum is None:
        asked = evolve(asked, minimum=parse_minima(manifest.minimum))
    asked = evolve(asked, metrics=asked.metrics or manifest.compare)
    return compare_runs(
        in_order([*done, *failed_runs(data_set)], manifest.arms),
        title=manifest.title,
        planned=dict.fromkeys(manifest.arms, len(manifest.seeds)),
        asked=asked,
    )


def failed_runs(data_set: DataSet) -> Iterator[RunFigures]:
    """The runs that broke: they have no figures, and are counted."""
    for run in read_specs(data_set):
        if not run.is_done:
            yield RunFigures(
                run_id=run.row["run_id"],
                arm=run.arm,
                seed=run.row["seed"],
                completed=None,
                observed_s=None,
                metrics={},
                agrees=True,
                status=FAILED,
                error=run.row["error"],
            )
