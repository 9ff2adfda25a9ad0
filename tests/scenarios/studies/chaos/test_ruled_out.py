"""Probabilities that a campaign without findings rules out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.chaos.draw import swarm_digest
from scenarios.studies.chaos.ruled_out import measured, ruled_out, share


@given(st.integers(1, 100_000))
def test_a_bug_of_that_share_stays_unseen_in_one_campaign_of_twenty(seeds: int) -> None:
    assert (1 - share(seeds)) ** seeds == pytest.approx(0.05)
    assert share(seeds) < 3 / seeds or seeds == 1
    assert share(seeds + 1) < share(seeds)
    assert measured(seeds)[0] <= measured(seeds + 1)[0] <= measured(seeds)[1]


def test_it_is_said_in_a_line_and_for_the_default_swarm_in_two() -> None:
    assert list(ruled_out(100, default_swarm=False)) == [
        "with 95% certainty: what breaks a checker in more than 0.03 of such scenarios (1 in 34) would have been seen"
    ]
    found, of = measured(100)
    assert 0 < found < of
    assert list(ruled_out(100, default_swarm=True))[1].startswith(f"so many seeds show {found} of the {of} bugs")


@pytest.mark.parametrize(("measured_with", "named"), [(swarm_digest(), "the"), ("0123", "an earlier")])
def test_it_says_whether_the_swarm_has_changed_since(
    monkeypatch: pytest.MonkeyPatch, measured_with: str, named: str
) -> None:
    monkeypatch.setattr("scenarios.studies.chaos.ruled_out.measured_swarm", lambda: measured_with)
    line = list(ruled_out(100, default_swarm=True))[1]
    assert line.endswith(f"bugs of Kafka that {named} default swarm was measured with")
