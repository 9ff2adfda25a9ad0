"""Densities: an estimate from a measurement that was stopped early, and the file that holds them."""

from pathlib import Path

import pytest

from scenarios.museum import densities
from scenarios.museum.densities import Density, write_densities
from scenarios.profiles.tickets import BUGS


@pytest.mark.parametrize(
    ("seeds", "found", "stopped", "per_1000"),
    [(200, 0, False, 0), (200, 3, False, 15), (101, 5, True, 40), (1, 1, True, 1000), (5, 5, True, 1000)],
)
def test_the_last_seed_of_a_stopped_measurement_is_left_out(
    seeds: int, found: int, stopped: bool, per_1000: float
) -> None:
    assert Density("KAFKA-1", seeds, found, {}, stopped).per_1000 == pytest.approx(per_1000)


def test_what_is_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Density("KAFKA-1", 10, 2, {"converged": 2}, False)
    write_densities(tmp_path / "d.json", "0123", [one])
    monkeypatch.setattr(densities, "FILE", tmp_path / "d.json")
    densities.densities.cache_clear()
    try:
        assert densities.densities() == {"KAFKA-1": one}
        assert densities.measured_swarm() == "0123"
    finally:
        densities.densities.cache_clear()


def test_only_bugs_that_are_there_have_one() -> None:
    assert set(densities.densities()) <= set(BUGS)
