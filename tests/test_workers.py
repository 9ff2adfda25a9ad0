"""In a run with workers, all tests that start Spark go to the same one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import pytest

pytest.importorskip("xdist")

from tests.workers import LONGEST, ROOT, SPARK, group, in_order


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


def test_they_come_first_then_the_longest_and_a_file_keeps_its_order(request: pytest.FixtureRequest) -> None:
    def files(items: Iterable[pytest.Item]) -> list[str]:
        return [str(item.path.relative_to(ROOT)) for item in items]

    items = request.session.items
    ordered = in_order(items)
    found = list(dict.fromkeys(files(ordered)))
    spark = [file for file in found if group(file) == SPARK]
    assert found[: len(spark)] == spark
    longest = [file for file in LONGEST if file in found]
    assert found[len(spark) :][: len(longest)] == longest
    assert len([file for file, _ in groupby(files(ordered)) if file not in spark]) == len(found) - len(spark)
    for file in found:
        assert [item for item in ordered if item.path == ROOT / file] == [i for i in items if i.path == ROOT / file]


def test_files_with_a_browser_come_last(request: pytest.FixtureRequest) -> None:
    items = [item for item in request.session.items if group(str(item.path.relative_to(ROOT))) != SPARK]
    with_browser = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    places = [item.path in with_browser for item in in_order(items)]
    assert places == sorted(places)


def test_the_longest_are_there() -> None:
    assert [file for file in LONGEST if not (ROOT / file).exists()] == []


def test_any_other_file_is_a_group() -> None:
    file = "tests/test_workers.py"
    assert group(file) == file
