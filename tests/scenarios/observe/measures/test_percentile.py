"""The percentile's definition: a value with frequency n is n times in the sorted list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.observe.measures.percentile import weighted_percentiles

QUANTILES = (0.0, 0.5, 0.95, 0.99, 1.0)


def test_interpolates_between_neighbours() -> None:
    assert weighted_percentiles({1: 1, 3: 1}, (0.5,)) == [2.0]
    assert weighted_percentiles({1: 3, 5: 1}, (0.5, 1.0)) == [1.0, 5.0]


def test_nothing_has_no_percentile() -> None:
    assert weighted_percentiles({}, (0.5, 0.9)) == [None, None]
    assert weighted_percentiles({7: 0}, (0.5,)) == [None]


@given(st.dictionaries(st.integers(0, 50), st.integers(0, 6), min_size=1))
def test_equals_that_of_the_expanded_list(weights: dict[int, int]) -> None:
    expanded = [value for value, weight in weights.items() for _ in range(weight)]
    found = weighted_percentiles(weights, QUANTILES)
    if expanded:
        assert found == pytest.approx(np.quantile(expanded, QUANTILES))
    else:
        assert found == [None] * len(QUANTILES)
