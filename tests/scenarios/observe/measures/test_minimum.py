"""The smallest difference that matters: how it is written, and what it is for each metric."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.observe.measures.minimum import Minimum, parse_minimum


def test_a_share_is_of_the_larger_mean_whichever_comes_first() -> None:
    minimum = parse_minimum("5%")
    assert minimum.of("records", 0.0, 40.0) == minimum.of("records", 40.0, 0.0) == 2.0
    assert minimum.of("s", 0.0, 0.0) == 0.0


def test_a_time_is_for_metrics_in_seconds_and_in_milliseconds() -> None:
    minimum = parse_minimum("100ms")
    assert (minimum.of("s", 1.0, 2.0), minimum.of("ms", 1.0, 2.0)) == (0.1, 100.0)
    assert minimum.of("records", 100.0, 200.0) == 2.0


def test_a_value_is_for_the_metrics_in_its_unit_and_joins_others() -> None:
    minimum = parse_minimum("1 partition-second", before=parse_minimum("2%", before=Minimum(time_us=5)))
    assert minimum.of("partition-seconds", 50.0, 60.0) == 1.0
    assert minimum.of("records", 50.0, 100.0) == 2.0
    assert str(minimum) == "2%, 5us, 1 partition-seconds"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1", "is not understood; write a share such as 1%"),
        ("", "is not understood"),
        ("-1%", "is not understood"),
        ("100%", "leaves no difference that matters"),
        ("3 record-seconds", "unknown unit 'record-seconds'; did you mean "),
        ("3 apples", "unknown unit 'apples'; known: %, us, ms, s, m, h, "),
    ],
)
def test_what_is_no_minimum_is_refused_in_one_line(text: str, problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        parse_minimum(text)
    assert problem in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.text(max_size=12))
def test_every_other_text_is_refused_as_bad_input(text: str) -> None:
    with contextlib.suppress(BadInput):
        assert parse_minimum(text).of("records", 1.0, 1.0) >= 0
