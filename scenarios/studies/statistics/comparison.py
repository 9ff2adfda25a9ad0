"""The comparison of a sweep: every figure per strategy, and the differences to the first strategy, paired by seed.

Runs whose moves did not finish are results: their time enters as the time until the run's end, which is a lower bound;
the table marks a median that rests on one, and the numbers of runs that finished are above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from scenarios.observe.measures.figure import Compared, Value
from scenarios.observe.measures.figures import declared
from scenarios.runs.dataset.manifest import Manifest
from scenarios.studies.statistics.comparison_table import Comparison, Row, RunFigures, Sample
from scenarios.studies.statistics.paired import FEW_SEEDS, holm, median_interval, paired_difference


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
