"""Durations, sizes and rates: read exactly, written so that they read back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios import units
from scenarios.errors import BadInput


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("500us", 500),
        ("90ms", 90_000),
        ("5s", 5_000_000),
        ("10m", 600_000_000),
        ("1h", 3_600_000_000),
        ("1.5s", 1_500_000),
        ("2m30s", 150_000_000),
        ("1h 30m", 5_400_000_000),
        ("1h0m2.5s", 3_602_500_000),
        ("1s500us", 1_000_500),
    ],
)
def test_durations_are_integer_microseconds(text: str, microseconds: int) -> None:
    assert units.parse_duration(text) == microseconds


@pytest.mark.parametrize(
    ("text", "count"),
    [("512B", 512), ("1GiB", 2**30), ("64MiB", 2**26), ("1GB", 10**9), ("20kB", 20_000), ("0B", 0)],
)
def test_binary_and_decimal_sizes_are_kept_apart(text: str, count: int) -> None:
    assert units.parse_size(text) == count


def test_rates_are_bytes_per_second() -> None:
    assert units.parse_rate("200MiB/s") == 200 * 2**20
    assert units.parse_rate("50MB/s") == 50_000_000


@pytest.mark.parametrize("text", ["", "5", "s", "-5s", "5 parsecs", "0.5us", "1e3s", "5ss", "٥s", "2m30", "2m30x"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        units.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("30s2m", "'30s2m' does not name its units from the largest to the smallest, each once; write a duration"),
        ("2m2m", "'2m2m' does not name its units from the largest to the smallest"),
        ("1.5m2s", "'1.5m2s' has a fraction before its last unit"),
        ("2562047788h2562047788m", "'2562047788h2562047788m' is too large"),
    ],
)
def test_a_duration_of_several_units_names_them_from_the_largest_on(text: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        units.parse_duration(text)


@given(st.dictionaries(st.sampled_from(tuple(units.MICROSECONDS)), st.integers(0, 10**6)).filter(bool))
def test_a_duration_is_the_sum_of_its_units(parts: dict[str, int]) -> None:
    text = "".join(f"{parts[unit]}{unit}" for unit in ("h", "m", "s", "ms", "us") if unit in parts)
    assert units.parse_duration(text) == sum(amount * units.MICROSECONDS[unit] for unit, amount in parts.items())


@pytest.mark.parametrize("text", ["5MB", "5MB/h", "5/s", "MB/s"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        units.parse_rate(text)


def test_one_of_a_kind_is_no_plural() -> None:
    counts = [(2_000, "batches"), (1, "batches"), (1, "acknowledged batches"), (1, "records"), (1, "ms"), (0, "events")]
    assert [units.counted(number, nouns) for number, nouns in counts] == [
        "2,000 batches", "1 batch", "1 acknowledged batch", "1 record", "1 ms", "0 events",
    ]  # fmt: skip


@given(st.integers(min_value=0, max_value=10**18))
def test_what_is_written_reads_back(amount: int) -> None:
    assert units.parse_duration(units.format_duration(amount)) == amount
    assert units.parse_size(units.format_size(amount)) == amount
    assert units.parse_rate(units.format_rate(amount)) == amount
