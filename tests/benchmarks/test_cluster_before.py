"""The table that compares two checkouts: medians of the speeds, and of the ratios pair by pair."""

from benchmarks.cluster.before import HEADINGS, Pair, Run, rows


def pair(before_cpu_s: float, after_cpu_s: float, *, events: tuple[int, int] = (1_200, 1_200)) -> Pair:
    """A pair of runs over 60 virtual seconds."""
    return Pair(Run(60, before_cpu_s, events[0]), Run(60, after_cpu_s, events[1]))


def test_the_ratio_is_the_median_of_the_pairs_and_not_the_ratio_of_the_medians() -> None:
    # before: 60, 30, 20 (median 30); after: 120, 30, 30 (median 30); pair by pair: 2, 1, 1.5
    found = {"idle": [pair(1, 0.5), pair(2, 2), pair(3, 2)]}
    assert list(rows(found)) == [("idle", "30.0", "30.0", "1.50", "1.00 to 2.00", "1,200")]


def test_each_case_has_a_row_in_the_order_of_the_cases() -> None:
    found = {"small": [pair(1, 2)], "large": [pair(2, 1)]}
    table = list(rows(found))
    assert [(row[0], row[3]) for row in table] == [("small", "0.50"), ("large", "2.00")]
    assert all(len(row) == len(HEADINGS) for row in table)


def test_a_row_shows_both_counts_of_events_where_they_differ() -> None:
    ((*_, events),) = rows({"idle": [pair(1, 1, events=(1_200, 1_201))]})
    assert events == "1,200 before, 1,201 after"
