"""What a case costs in counts: the same in every run, and divided by what the case is about."""

import pytest

from benchmarks.cluster.before import HERE
from benchmarks.cluster.cases import Case
from benchmarks.cluster.counts import HEADINGS, Counts, Function, counted, heaviest

LOADED = Case("3/12", 3, 12, True, 6, None)
IDLE = Case("3/12, idle", 3, 12, False, 60, None)

FUNCTIONS = (
    Function("/here/brokers/log/log.py", 98, "append", 30, 3.0),
    Function("~", 0, "<built-in method _heapq.heappop>", 20, 1.0),
)


@pytest.mark.parametrize("case", [LOADED, IDLE], ids=lambda case: case.name)
def test_two_processes_count_the_same(case: Case) -> None:
    first, second = (counted(HERE, case, instructions=False) for _ in range(2))
    assert first.cells() == second.cells()


def test_the_counts_of_a_loaded_case_are_per_acknowledged_batch() -> None:
    counts = counted(HERE, LOADED, instructions=False)
    assert counts.unit == "batch"
    # One virtual second, 12 partitions, one batch each 100 ms.
    assert counts.units == pytest.approx(120, abs=12)
    assert counts.calls(in_python=True) > counts.units
    assert counts.kernel_events > 0


def test_the_counts_of_an_idle_case_are_per_virtual_second() -> None:
    counts = counted(HERE, IDLE, instructions=False)
    assert (counts.unit, counts.units) == ("virtual s", 10)


def test_a_row_divides_by_the_units_and_tells_python_from_built_in() -> None:
    counts = Counts("batch", 10, 40, FUNCTIONS, instructions=50_000)
    assert counts.cells() == ("batch", "3.00", "2.00", "4.00", "2.00", "5.0")
    assert len(counts.cells()) + 1 == len(HEADINGS)


def test_instructions_that_were_not_counted_are_not_shown() -> None:
    assert Counts("batch", 10, 40, FUNCTIONS).cells()[-1] == ""


def test_the_heaviest_functions_come_first_with_their_calls_and_share() -> None:
    lines = heaviest("10/500", Counts("batch", 10, 40, FUNCTIONS), 1)
    assert lines[2:] == ["-  75.0%     3.000 `append` (brokers/log/log.py:98)"]
