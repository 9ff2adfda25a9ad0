"""The rows of a comparison: of each metric the samples of all levels and the differences between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import hypot
from typing import Literal

import numpy as np
from attrs import evolve
from scipy import stats  # type: ignore[import-untyped]

from scenarios.observe.measures.figure import Figure
from scenarios.observe.measures.minimum import Minimum
from scenarios.observe.measures.sampling_errors import sampling_error
from scenarios.studies.statistics.differences import Pairs, compare_pairs
from scenarios.studies.statistics.layout import Layout, by_seed, cells
from scenarios.studies.statistics.peaks import split_at
from scenarios.studies.statistics.resampling import Array
from scenarios.studies.statistics.result import (
    CONFIDENCE,
    DIFFERENT,
    Interval,
    MetricDifference,
    MetricVerdict,
    Row,
    Sample,
    Split,
)
from scenarios.studies.statistics.run_figures import TIME_TO_COMPLETE
from scenarios.studies.statistics.strata import with_strata


def rows_of(
    layout: Layout,
    figures: Mapping[str, Figure],
    minimum: Minimum,
    unfinished: Mapping[str, int],
    sampled: Collection[str] = (),
) -> tuple[Row, ...]:
    """A row for each metric.

    Args:
        unfinished: each level's runs that did not finish.
        sampled: the levels that have runs with leaps.
    """
    splits = {metric: _split(layout, figure, minimum) for metric, figure in figures.items()}
    differences = _differences(layout, figures, minimum, splits, sampled)
    ranks: dict[int, tuple[int, int] | None] = {}
    return tuple(
        Row(
            metric=metric,
            text=figure.text,
            unit=figure.unit,
            better=figure.better,
            samples={
                level: _sample(
                    by_seed(layout.of(metric, level)),
                    unfinished[level] if metric == TIME_TO_COMPLETE else 0,
                    ranks,
                    "linear" if splits[metric] is None else "inverted_cdf",
                )
                for level in layout.levels
            },
            differences={level: differences[metric, level] for level in layout.levels[1:]},
            split=splits[metric],
        )
        for metric, figure in figures.items()
    )


# -- differences -----------------------------------------------------------------------------------------------------


def _differences(
    layout: Layout,
    figures: Mapping[str, Figure],
    minimum: Minimum,
    splits: Mapping[str, Split | None],
    sampled: Collection[str],
) -> dict[tuple[str, str], MetricDifference]:
    """Differences by metric and level. A metric with two peaks has the tests of its shares in place of its mean's."""
    places = list(cells(layout))
    both = {place: layout.both(*place) for place in places}

    def pairs_of(place: tuple[str, str], reference: Array, other: Array) -> Pairs:
        levels = layout.references[place[1]].level, place[1]
        return _pairs(reference, other, figures[place[0]], minimum, [level in sampled for level in levels])

    def pairs(place: tuple[str, str]) -> Pairs:
        return pairs_of(place, *both[place])

    split = {place: one for place in places if (one := splits[place[0]]) is not None}
    upper = {place: _upper(both[place], one) for place, one in split.items()}
    plain = [place for place in places if place not in split]
    shares = [_shares(*upper[place], figures[place[0]]) for place in split]
    alike = [pairs_of(place, *_same_side(both[place], upper[place])) for place in split]
    tested = compare_pairs([*map(pairs, plain), *shares, *alike])
    found = dict(zip(plain, tested, strict=False))
    means = compare_pairs([pairs(place) for place in split])
    parts = zip(means, tested[len(plain) :], tested[len(plain) + len(split) :], strict=False)
    found |= {place: _of_parts(*three) for place, three in zip(split, parts, strict=True)}

    def at_places(place: tuple[str, str], kept: Sequence[int]) -> Pairs:
        reference, other = (values[:, kept] for values in upper.get(place, both[place]))
        if place in split:
            return _shares(reference, other, figures[place[0]])
        return pairs_of(place, reference, other)

    return with_strata(layout, found, at_places)


def _pairs(reference: Array, other: Array, figure: Figure, minimum: Minimum, sampled: Sequence[bool]) -> Pairs:
    """``sampled``: whether the reference has leaps, and the other one."""
    baseline, level = by_seed(reference), by_seed(other)
    means = (float(baseline.mean()), float(level.mean())) if len(baseline) else (0.0, 0.0)
    return Pairs(
        baseline=baseline.tolist(),
        other=level.tolist(),
        minimum=minimum.of(figure.unit, *means),
        better=figure.better,
        grain=float(figure.readable(1) or 0.0),
        error=sampling_error(figure.metric)
        * hypot(*(abs(mean) for mean, has in zip(means, sampled, strict=True) if has)),
    )


# -- two peaks -------------------------------------------------------------------------------------------------------


def _split(layout: Layout, figure: Figure, minimum: Minimum) -> Split | None:
    block = layout.values[layout.metrics.index(figure.metric)]
    samples = [values[~np.isnan(values)] for level in block for values in level.T]
    means = [float(values.mean()) for values in samples if len(values)]
    if not means:
        return None
    resolution = max(float(figure.readable(1) or 0.0), minimum.of(figure.unit, max(means), max(means)))
    at = split_at([values for values in samples if len(values)], resolution)
    if at is None:
        return None
    shares = {level: by_seed(_is_upper(layout.of(figure.metric, level), at)) for level in layout.levels}
    return Split(at=at, shares={level: float(of.mean()) if len(of) else 0.0 for level, of in shares.items()})


def _is_upper(values: Array, at: float) -> Array:
    """1 for a value in the upper part, 0 for one below; NaN for none."""
    return np.where(np.isnan(values), np.nan, values >= at)


def _upper(both: tuple[Array, Array], split: Split) -> tuple[Array, Array]:
    reference, other = (_is_upper(values, split.at) for values in both)
    return reference, other


def _shares(reference: Array, other: Array, figure: Figure) -> Pairs:
    """The share of a seed's runs in the upper part. With one run a seed, flipping signs is McNemar's exact test."""
    return Pairs(baseline=by_seed(reference).tolist(), other=by_seed(other).tolist(), minimum=0.0, better=figure.better)


def _same_side(both: tuple[Array, Array], upper: tuple[Array, Array]) -> tuple[Array, Array]:
    """The values of the pairs that are both in the upper part, or both below."""
    alike = upper[0] == upper[1]
    return np.where(alike, both[0], np.nan), np.where(alike, both[1], np.nan)


def _of_parts(mean: MetricDifference, share: MetricDifference, alike: MetricDifference) -> MetricDifference:
    """The difference of a metric with two peaks: the share's finding, else that of the pairs that are alike."""
    verdicts = [part.verdict for part in (share, alike) if part.pairs]
    found = next((verdict for verdict in verdicts if verdict in DIFFERENT), None)
    same = all(verdict is MetricVerdict.SAME for verdict in verdicts)
    needed = [part.seeds_needed for part in (share, alike) if part.seeds_needed is not None]
    verdict = found or (MetricVerdict.SAME if same and verdicts else MetricVerdict.UNKNOWN)
    return evolve(
        mean,
        p=None,
        p_adjusted=None,
        verdict=verdict,
        seeds_needed=max(needed) if needed and verdict is MetricVerdict.UNKNOWN else None,
        deterministic=False,
        share=evolve(share, deterministic=False),
        alike=alike,
    )


# -- samples ---------------------------------------------------------------------------------------------------------


def _sample(
    values: Array,
    censored: int,
    ranks: dict[int, tuple[int, int] | None],
    median: Literal["linear", "inverted_cdf"],
) -> Sample:
    """A sample.

    Args:
        ranks: by number of values, the places of the ends of the median's interval among the sorted values.
        median: ``inverted_cdf`` is one of the values, where half of the way between two peaks would be none.
    """
    count = len(values)
    if not count:
        return Sample(
            seeds=0, mean=None, median=None, median_interval=None, smallest=None, largest=None, spread=None,
            censored=censored,
        )  # fmt: skip
    if count not in ranks:
        ranks[count] = _median_ranks(count)
    ends, ordered = ranks[count], np.sort(values)
    return Sample(
        seeds=count,
        mean=float(values.mean()),
        median=float(np.quantile(values, 0.5, method=median)),
        median_interval=None if ends is None else Interval(float(ordered[ends[0]]), float(ordered[ends[1]])),
        smallest=float(ordered[0]),
        largest=float(ordered[-1]),
        spread=float(values.std(ddof=1)) if count > 1 else None,
        censored=censored,
    )


def _median_ranks(count: int) -> tuple[int, int] | None:
    """The places, from 0, of the values that enclose the median with 95 %, by the binomial distribution; None where
    the values are too few for that."""
    with np.errstate(invalid="ignore"):
        found = stats.quantile_test(np.arange(count), p=0.5).confidence_interval(CONFIDENCE)
    return None if np.isnan(found.low) or np.isnan(found.high) else (int(found.low), int(found.high))
