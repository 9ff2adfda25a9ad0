"""The fluid model gives the figures of the reference, to the second."""

import math

import pytest

from benchmarks.experiments.fluid import hop, hops, shares

INF = math.inf


def total(size: float, write: float, egress: float, replicas: int, ingress: list[float], width: int) -> float:
    return sum(hop.lasts for hop in hops(size, write, egress, replicas, ingress, width))


def test_shares_are_even_up_to_what_each_takes() -> None:
    assert shares(170, [15, 60, 60, 60]) == pytest.approx([15, 51.667, 51.667, 51.667], rel=1e-3)
    assert shares(300, [15, 60]) == [15, 60]


def test_e4() -> None:
    assert total(20_000, 10, 200, 4, [INF] * 4, 4) == pytest.approx(616, abs=1)
    assert total(20_000, 10, 200, 4, [INF] * 4, 1) == pytest.approx(549, abs=1)
    by_width = [total(20_000, 10, INF, 4, [40] * 4, width) for width in (1, 2, 3, 4)]
    assert by_width == pytest.approx([4_322, 1_556, 1_556, 667], abs=2)


def test_e5() -> None:
    assert total(5_000, 28, 200, 4, [INF] * 4, 4) == pytest.approx(5_000)
    assert total(5_000, 28, 200, 4, [INF] * 4, 1) == pytest.approx(362, abs=2)
    assert total(5_000, 30, 200, 4, [INF] * 4, 4) == INF
    assert total(5_000, 30, 200, 4, [INF] * 4, 1) == pytest.approx(430, abs=2)
    assert total(5_000, 50, 200, 4, [INF] * 4, 1) == INF


def test_e6() -> None:
    all_at_once = hop(20_000, 10, 200, 3, [60, 60, 60, 15])
    assert all_at_once.lasts == pytest.approx(4_000)
    assert all_at_once.excess == pytest.approx(10_560, abs=1)
    assert total(20_000, 10, 200, 4, [60, 60, 60, 15], 1) == pytest.approx(8_368, abs=1)
