"""Several objectives at once: the levels that no other one beats (Pareto), instead of a weighted score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scenarios.observe.measures.figure import Better
from scenarios.studies.statistics.result import Front


def front(metrics: Mapping[str, Better], means: Mapping[str, Sequence[float]], minima: Sequence[float]) -> Front:
    """The front of levels whose means, in the order of ``metrics``, are given. A level is beaten by one that is nowhere
    worse and somewhere better, by more than what matters (``minima``, in the same order).

    Raises: ValueError for a metric without a direction, which is no objective.
    """
    if Better.NEITHER in metrics.values():
        raise ValueError("an objective needs a direction")
    signs = [-1 if better is Better.HIGHER else 1 for better in metrics.values()]
    costs = {name: [sign * mean for sign, mean in zip(signs, means[name], strict=True)] for name in means}
    beaten_by: dict[str, list[str]] = {
        name: [other for other in costs if _beats(costs[other], costs[name], minima)] for name in costs
    }
    best = tuple(name for name, by in beaten_by.items() if not by)
    return Front(
        metrics=tuple(metrics),
        points={name: tuple(points) for name, points in means.items()},
        best=best,
        beaten_by={name: next((one for one in by if one in best), by[0]) for name, by in beaten_by.items() if by},
    )


def _beats(one: Sequence[float], other: Sequence[float], minima: Sequence[float]) -> bool:
    differences = [(b - a, least) for a, b, least in zip(one, other, minima, strict=True)]
    return all(gain >= -least for gain, least in differences) and any(gain > least for gain, least in differences)
