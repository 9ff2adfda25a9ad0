"""A run's identity changes with everything that its events depend on, and with nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from scenarios.runs.dataset.identity import code_digest, run_id

BASE: dict[str, Any] = {
    "scenario": "abc", "profile": "kafka-2.3", "strategy": "wiki", "seed": 3,
    "grid": {"a": 1, "b": 2}, "code": "c0de",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scenario", "abd"),
        ("profile", "kafka-2.4"),
        ("strategy", "kafka-6794"),
        ("seed", 4),
        ("grid", {}),
        ("code", "c0df"),
    ],
)
def test_everything_that_matters_changes_it(name: str, value: object) -> None:
    assert run_id(**{**BASE, name: value}) != run_id(**BASE)


def test_the_order_of_the_grid_does_not_matter() -> None:
    assert run_id(**{**BASE, "grid": {"b": 2, "a": 1}}) == run_id(**BASE)


def test_the_code_has_one_digest() -> None:
    assert len(code_digest()) == 16
    code_digest.cache_clear()
    assert len(code_digest()) == 16
