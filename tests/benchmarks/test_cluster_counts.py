"""Costs of a case in counts: the same in every run, and divided by what the case is about."""

import pytest

from benchmarks.cluster.before import HERE
from benchmarks.cluster.cases import Case
from benchmarks.cluster.counts import HEADINGS, Counts, Function, counted, counted_floor, heaviest

LOADED = Case("3/12", 3, 12, True, 6, None)
IDLE = Case("3/12, idle", 3, 12, False, 60, None)

FUNCTIONS = (
    Function("/here/brokers/log/log.py", 98, "append", 30, 3.0),
    Function("/here/emulator/trace/trace.py", 98, "emit_columns", 10, 0.0),
    Function("~", 0, "<built-in method _heapq.heappop>", 20, 1.0),
)


@pytest.fixture(scope="module")
def loaded() -> Counts:
    return counted(HERE, LOADED, instructions=False)


@pytest.mark.slow
def test_another_process_counts_the_same(loaded: Counts) -> None:
    assert counted(HERE, LOADED, instructions=False).cells() == loaded.cells()


def test_the_counts_of_a_loaded_case_are_per_acknowledged_batch(loaded: Counts) -> None:
    assert loaded.unit == "batch"
    # One virtual second, 12 partitions, one batch each 100 ms.
    assert loaded.units == pytest.approx(120, abs=12)
    assert loaded.calls(in_python=True) > loaded.units
    assert loaded.kernel_events > 0
    assert 0 < loaded.events <= loaded.rows


def test_the_floor_that_records_costs_less_for_as_many_batches(loaded: Counts) -> None:
    floor = counted_floor(LOADED, instructions=False)
    assert floor.units == pytest.approx(loaded.units, abs=12)
    assert floor.calls(in_python=True) < loaded.calls(in_python=True)
    assert 0 < floor.events < floor.rows


def test_the_counts_of_an_idle_case_are_per_virtual_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.cluster.counts.child", lambda *_: {"acked": 0, "events": 1, "functions": []})
    counts = counted(HERE, IDLE, instructions=False)
    assert (counts.unit, counts.units) == ("virtual s", 10)


def test_a_row_divides_by_the_units_and_tells_python_from_built_in_and_events_from_their_rows() -> None:
    counts = Counts("batch", 10, 70, FUNCTIONS, instructions=50_000)
    assert counts.cells() == ("batch", "4.00", "2.00", "1.00", "7.00", "2.00", "5.0")
    assert len(counts.cells()) + 1 == len(HEADINGS)


def test_instructions_that_were_not_counted_are_not_shown() -> None:
    assert Counts("batch", 10, 70, FUNCTIONS).cells()[-1] == ""


def test_the_heaviest_functions_come_first_with_their_calls_and_share() -> None:
    lines = heaviest("10/500", Counts("batch", 10, 70, FUNCTIONS), 1)
    assert lines[2:] == ["-  75.0%     3.000 `append` (brokers/log/log.py:98)"]
