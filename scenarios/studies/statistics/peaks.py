"""Two peaks, or a tail far from the rest: samples whose mean is a value that no run has.

A gap in the sorted values is held against the values on its one side, by the exact test for the spacings of an
exponential sample: (n - k) times the k-th gap is as large as the mean of such products before it, and their ratio has
an F distribution (Sukhatme 1937). For any distribution with one peak and a tail no heavier than an exponential's, such
as the normal one, the gaps are smaller, so that fewer than ``LEVEL`` of its samples are split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scenarios.studies.statistics.resampling import Array
from scenarios.studies.statistics.result import FEWEST_PAIRS

LEVEL = 0.01
"""How often a sample with a single peak is taken for one with two."""


def split_at(samples: Sequence[Array], resolution: float) -> float | None:
    """The smallest value above the widest of the clear gaps within the samples, among the values of all; None where no
    sample has one. ``resolution``: two values that differ by no more are alike."""
    clear = [gap for values in samples for gap in _clear_gaps(values, resolution)]
    if not clear:
        return None
    _width, middle = max(clear)
    together = np.concatenate(list(samples))
    return float(together[together > middle].min())


def _clear_gaps(values: Array, resolution: float) -> Iterator[tuple[float, float]]:
    """The width and the middle of each, in both directions."""
    if len(values) < FEWEST_PAIRS:
        return
    ordered = np.sort(values)
    gaps = np.diff(ordered)
    p = np.minimum(_ps(gaps, resolution), _ps(gaps[::-1], resolution)[::-1])
    for at in np.flatnonzero(p * 2 * len(p) < LEVEL):
        yield float(gaps[at]), float(ordered[at] + ordered[at + 1]) / 2


def _ps(gaps: Array, resolution: float) -> Array:
    """For each gap but the first its p, held against the gaps before it. What is measured in steps of ``resolution``
    has gaps that are up to one step too large, and others too small."""
    above = np.arange(len(gaps), 0, -1, dtype=float)
    before = np.concatenate([[0.0], np.cumsum(above * gaps)[:-1]]) + (len(gaps) + 1) * resolution
    own = above * np.maximum(gaps - resolution, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(own > 0, own / before, 0.0)
    p: Array = (1 + ratio) ** -np.arange(len(gaps), dtype=float)
    return p
