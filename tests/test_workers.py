"""In a run with workers, all tests that start Spark go to the same one."""

from __future__ import annotations

import pytest

pytest.importorskip("xdist")

from tests.workers import ROOT, SPARK, group, in_order


def test_tests_with_spark_are_one_group(request: pytest.FixtureRequest) -> None:
    """Those that take the session or have the mark, of all that this run collected; and three by name."""
    with_spark = [
        str(item.path.relative_to(ROOT))
        for item in request.session.items
        if item.get_closest_marker("spark") or "spark" in getattr(item, "fixturenames", ())
    ]
    named = [
        "tests/scenarios/studies/spark/test_sweep.py",
        "tests/scenarios/cli/test_spark_commands.py",
        "tests/packaging/test_wheel.py",
    ]
    assert {file: group(file) for file in (*with_spark, *named) if group(file) != SPARK} == {}


def test_they_come_first_and_the_others_keep_their_order(request: pytest.FixtureRequest) -> None:
    items = request.session.items
    ordered = in_order(items)
    first = [item for item in ordered if group(str(item.path.relative_to(ROOT))) == SPARK]
    assert ordered[: len(first)] == first
    assert ordered[len(first) :] == [item for item in items if item not in first]


def test_any_other_file_is_a_group() -> None:
    file = "tests/test_workers.py"
    assert group(file) == file
