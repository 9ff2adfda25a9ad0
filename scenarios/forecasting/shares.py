"""How copies share what is there: max-min, weighted by what their fetchers ask for at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.intp]
_NEARLY = 1.02
"""Limits that are reached within 2 % of each other count as reached together: so a large cluster is quickly done."""


def share(weights: Floats, most: Floats, uses: Numbers, left: Floats) -> tuple[Floats, Floats]:
    """The rate of each flow, and what remains of each resource.

    Args:
        weights: the weight of each flow.
        most: what each flow can take at most.
        uses: for each flow (row) the resources that it goes through.
        left: what each resource has for the flows; infinite where it does not matter.
    """
    rates, left = np.zeros(len(weights)), left.copy()
    growing = np.ones(len(weights), dtype=bool)
    growing &= (most > 0) & (left[uses] > 0).all(axis=1)
    while growing.any():
        flows = uses[growing]
        asked = np.bincount(flows.ravel(), np.repeat(weights[growing], uses.shape[1]), len(left))
        with np.errstate(divide="ignore", invalid="ignore"):
            levels = np.where(asked > 0, left / asked, np.inf)
            own = (most[growing] - rates[growing]) / weights[growing]
        level = min(levels.min(), own.min())
        if level == np.inf:
            rates[growing] = np.inf
            break
        rates[growing] += level * weights[growing]
        left = np.where(asked > 0, left - level * asked, left)
        full = levels <= level * _NEARLY
        done = (own <= level * _NEARLY) | full[flows].any(axis=1)
        growing[np.flatnonzero(growing)[done]] = False
    return rates, left
