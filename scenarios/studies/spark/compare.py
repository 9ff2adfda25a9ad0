"""The comparison of a sweep: every figure per strategy, and the differences to the first strategy, paired by seed.

The figures come from Spark (``scenarios.studies.spark.figures``) and are compared with those that each run computed
itself; the statistics are small and done here. Runs whose moves did not finish are results: their time enters as the
time until the run's end, which is a lower bound; the table marks a median that rests on one, and the numbers of runs
that finished are above it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from pyspark.sql import SparkSession

from scenarios.observe.measures.figure import Compared, Value
from scenarios.observe.measures.figures import Figures, declared
from scenarios.runs.dataset.manifest import Manifest
from scenarios.runs.dataset.reader import DataSet, open_data_set
from scenarios.studies.spark.comparison import Comparison, Row, RunFigures, Sample
from scenarios.studies.spark.figures import OBSERVED, figures, tables_read
from scenarios.studies.spark.session import LOCAL, compile_queries, session
from scenarios.studies.spark.tables import table
from scenarios.studies.statistics.paired import FEW_SEEDS, holm, median_interval, paired_difference

_SMALL_BYTES = 16 * 1024 * 1024
"""Of Parquet, about two million rows. With twice as many, compiled and interpreted queries took about the same time
(benchmarks/spark); where they cross was not measured."""


def compare(directory: str | Path, *, master: str = LOCAL) -> Comparison:
    """Compare the strategies of a data set. Raises: BadInput for a folder without one; JavaMissing."""
    data_set = open_data_set(Path(directory))
    with session(master, brief=_is_small(data_set)) as spark:
        return comparison(data_set.manifest, run_figures(spark, data_set))


def run_figures(spark: SparkSession, data_set: DataSet) -> list[RunFigures]:
    """The figures of every run, computed by Spark, in the order of strategy and seed."""
    compile_queries(spark, not _is_small(data_set))
    frames = {name: table(spark, data_set, name) for name in tables_read()}
    rows = [_run(row.asDict()) for row in figures(frames).collect()]
    return sorted(rows, key=lambda run: (run.strategy, run.seed, run.run_id))


def _is_small(data_set: DataSet) -> bool:
    """Whether compiling the queries would take longer than it saves. The results are the same."""
    return sum(path.stat().st_size for name in tables_read() for path in data_set.parts[name]) < _SMALL_BYTES


def compared(*, consumers: bool) -> list[str]:
    """The metrics that are rows of the table, in its order; those of consumers last, where there are any."""
    wanted = (Compared.YES, Compared.WITH_CONSUMERS) if consumers else (Compared.YES,)
    return [figure.metric for kind in wanted for figure in declared().values() if figure.compared is kind]


def comparison(manifest: Manifest, runs: Sequence[RunFigures]) -> Comparison:
    """The table over these runs; the manifest's first strategy is what the others are compared with."""
    present = {run.strategy for run in runs}
    strategies = tuple(name for name in manifest.strategies if name in present)
    consumers = any(run.metrics["consumed_messages"] for run in runs)
    rows = _holm([_row(metric, strategies, runs) for metric in compared(consumers=consumers)])
    return Comparison(
        manifest=manifest,
        strategies=strategies,
        completed={name: _completed(name, runs) for name in strategies},
        rows=tuple(rows),
        runs=tuple(runs),
        warnings=tuple(_warnings(manifest, strategies, runs)),
    )


def _run(row: Mapping[str, Any]) -> RunFigures:
    metrics = Figures({name: row[name] for name in declared()}).metrics()
    observed_us = row[OBSERVED]
    return RunFigures(
        run_id=row["run_id"],
        strategy=row["strategy"],
        seed=row["seed"],
        completed=row["completed"],
        observed_s=None if observed_us is None else observed_us / 1_000_000,
        metrics=metrics,
        agrees=metrics == json.loads(row["metrics"]),
    )


def _value(run: RunFigures, metric: str) -> Value:
    return run.observed_s if metric == "time_to_complete_s" else run.metrics[metric]


def _by_seed(metric: str, strategy: str, runs: Sequence[RunFigures]) -> dict[int, float]:
    found = {run.seed: _value(run, metric) for run in runs if run.strategy == strategy}
    return {seed: value for seed, value in sorted(found.items()) if value is not None}


def _row(metric: str, strategies: Sequence[str], runs: Sequence[RunFigures]) -> Row:
    values = {name: _by_seed(metric, name, runs) for name in strategies}
    samples = {name: _sample(metric, name, list(values[name].values()), runs) for name in strategies}
    differences = {}
    for name in strategies[1:]:
        base, other = values[strategies[0]], values[name]
        seeds = [seed for seed in base if seed in other]
        differences[name] = paired_difference([base[seed] for seed in seeds], [other[seed] for seed in seeds])
    return Row(metric=metric, samples=samples, differences=differences)


def _sample(metric: str, strategy: str, values: list[float], runs: Sequence[RunFigures]) -> Sample:
    median, low, high = median_interval(values)
    bounds = [
        run.observed_s
        for run in runs
        if run.strategy == strategy and run.completed is False and run.observed_s is not None
    ]
    upper_middle = sorted(values)[len(values) // 2] if values else 0.0
    censored = metric == "time_to_complete_s" and any(bound <= upper_middle for bound in bounds)
    return Sample(runs=len(values), median=median, low=low, high=high, censored=censored)


def _holm(rows: Sequence[Row]) -> list[Row]:
    """Adjust p for all tests of the table together. A metric that is the same everywhere was not tested."""
    keys = [(index, name) for index, row in enumerate(rows) for name in row.differences]
    adjusted = dict(zip(keys, holm([_tested(rows[index], name) for index, name in keys]), strict=True))
    return [evolve(row, p={name: adjusted[index, name] for name in row.differences}) for index, row in enumerate(rows)]


def _tested(row: Row, strategy: str) -> float | None:
    difference = row.differences[strategy]
    same = difference.low == difference.high == 0 or (difference.pairs == 1 and difference.median == 0)
    return None if same else difference.p


def _completed(strategy: str, runs: Sequence[RunFigures]) -> tuple[int, int]:
    moved = [run.completed for run in runs if run.strategy == strategy and run.completed is not None]
    return sum(moved), len(moved)


def _warnings(manifest: Manifest, strategies: Sequence[str], runs: Sequence[RunFigures]) -> list[str]:
    found = []
    for name in manifest.strategies:
        have = sum(run.strategy == name for run in runs)
        if have < len(manifest.seeds):
            found.append(f"{name}: {have} of {len(manifest.seeds)} runs are here; the sweep did not end")
    seeds = [{run.seed for run in runs if run.strategy == name} for name in strategies]
    pairs = len(set.intersection(*seeds)) if seeds else 0
    if pairs < FEW_SEEDS:
        found.append(f"{pairs} seeds in common, fewer than {FEW_SEEDS}: intervals and p values say little")
    disagreeing = [run.run_id for run in runs if not run.agrees]
    if disagreeing:
        found.append(f"the figures of {len(disagreeing)} runs differ from their own account: {disagreeing[0]}, …")
    return found
