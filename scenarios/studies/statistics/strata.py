"""Differences at each value of the axes that a comparison by one axis leaves out: where a level is better at some of
them and worse at others, a mean over them answers nothing (a qualitative interaction: Gail and Simon 1985).

Two questions are asked of the strata. Whether signs differ at all: a level has to be significantly better in one
stratum and significantly worse in another, with a correction for the number of strata, and for all cells of the table.
And whether the mean over them may be told: not where any two strata, each read by itself, are findings both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from scenarios.studies.statistics.differences import Pairs, compare_pairs, holm
from scenarios.studies.statistics.layout import Layout
from scenarios.studies.statistics.result import DIFFERENT, SIGNIFICANT, MetricDifference, MetricVerdict, Stratum

Cell = tuple[str, str]
UP, DOWN = (MetricVerdict.WORSE, MetricVerdict.HIGHER), (MetricVerdict.BETTER, MetricVerdict.LOWER)


@frozen
class _Strata:
    """The values of some of the axes, each with the places that have it."""

    axes: tuple[str, ...]
    places: dict[tuple[str, ...], list[int]]


def with_strata(
    layout: Layout, differences: Mapping[Cell, MetricDifference], at_places: Callable[[Cell, Sequence[int]], Pairs]
) -> dict[Cell, MetricDifference]:
    """The differences; ``DEPENDS`` with the strata where signs differ.

    Args:
        at_places: a cell's pairs at these places.
    """
    divisions = list(_divisions(layout))
    wanted = [(cell, division, values) for cell in differences for division in divisions for values in division.places]
    tested = compare_pairs(
        [at_places(cell, division.places[values]) for cell, division, values in wanted], together=False
    )
    of_cell: dict[Cell, dict[tuple[str, ...], list[Stratum]]] = {}
    for (cell, division, values), difference in zip(wanted, tested, strict=True):
        stratum = Stratum(axes=division.axes, values=values, difference=difference)
        of_cell.setdefault(cell, {}).setdefault(division.axes, []).append(stratum)
    opposed = {cell: _most_opposed(list(strata.values())) for cell, strata in of_cell.items()}
    ps = holm([1.0 if one is None else one[0] for one in opposed.values()])
    adjusted = dict(zip(opposed, ps, strict=True))
    found = dict(differences)
    for cell, one in opposed.items():
        if one is not None and (_is_said(found[cell]) or (adjusted[cell] or 0.0) < SIGNIFICANT):
            found[cell] = evolve(found[cell], verdict=MetricVerdict.DEPENDS, seeds_needed=None, strata=tuple(one[1]))
    return found


def _divisions(layout: Layout) -> Iterator[_Strata]:
    """Strata by each axis that is left out, and by all of them together."""
    alone = [(at,) for at in range(len(layout.pooled))]
    for which in [*alone, tuple(range(len(layout.pooled)))] if len(alone) > 1 else alone:
        places: dict[tuple[str, ...], list[int]] = {}
        for number, place in enumerate(layout.places):
            places.setdefault(tuple(place[at] for at in which), []).append(number)
        yield _Strata(tuple(layout.pooled[at] for at in which), places)


def _is_said(difference: MetricDifference) -> bool:
    return difference.verdict in DIFFERENT or difference.verdict is MetricVerdict.SAME


def _most_opposed(divisions: Sequence[Sequence[Stratum]]) -> tuple[float, Sequence[Stratum]] | None:
    """The strata whose signs differ most surely, with the p of that; None where no two are findings both ways."""
    found = [(p, strata) for strata in divisions if (p := _p_opposed(strata)) is not None]
    if not found:
        return None
    p, strata = min(found, key=lambda one: one[0])
    return min(1.0, p * len(divisions)), strata


def _p_opposed(strata: Sequence[Stratum]) -> float | None:
    """By intersection and union: the larger of the two ways' smallest p, times the strata that could have shown it."""
    ways = [[one.difference.p or 0.0 for one in strata if one.difference.verdict in way] for way in (UP, DOWN)]
    return None if not all(ways) else max(map(min, ways)) * (len(strata) - 1)
