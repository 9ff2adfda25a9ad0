"""Burrow's rules for followers, each on rows written by hand."""

from __future__ import annotations

import pytest

from scenarios.observe.measures.burrow import FollowerStatus, Status
from scenarios.observe.measures.replica_lag import LagRow

S = 1_000_000
Spell = tuple[float, int | None, int, int | None]
"""Seconds, lag, distance of the logs, fetch offset."""


def judged(*spells: Spell) -> dict[str, int]:
    """Seconds in each status of a follower whose rows follow each other."""
    status, at_us = FollowerStatus(), 0
    for held_s, lag, true_lag, offset in spells:
        until_us = at_us + round(held_s * S)
        status.ended(LagRow(at_us, until_us - at_us, "orders", 0, 1, 0, lag, true_lag, offset), until_us)
        at_us = until_us
    return {found.value: held_us // S for found, held_us in status.held_us.items() if held_us}


EVEN: Spell = (30, 0, 0, 100)


@pytest.mark.parametrize(
    ("spells", "expected"),
    [
        ([EVEN], {}),
        ([EVEN, (12, 7, 7, 100), EVEN], {"stall": 3}),
        ([EVEN, (30, None, 7, None), EVEN], {"stop": 21}),
        ([EVEN, (30, None, 0, None), EVEN], {}),
        ([EVEN, *((1, lag, lag, 100 + lag) for lag in range(1, 13)), EVEN], {"warn": 3}),
        ([EVEN, *((1, 50 - n, 50 - n, 100 + n) for n in range(20)), EVEN], {}),
        ([(20, 5, 5, 900), *((1, 800 - n, 800, 100 + n) for n in range(11)), EVEN], {"stall": 11, "rewind": 9}),
        ([EVEN, (1.5, 3, 3, 100), (0.2, 0, 0, 103), (20, 3, 3, 103)], {"warn": 2, "stall": 11}),
    ],
    ids=[
        "never a lag", "its offset stays", "it does not fetch", "there is nothing to fetch", "its lag grows",
        "it catches up", "it began again", "what lies between two looks is not seen",
    ],
)  # fmt: skip
def test_each_rule(spells: list[Spell], expected: dict[str, int]) -> None:
    assert judged(*spells) == expected


def test_a_long_spell_is_not_looked_at_second_by_second() -> None:
    day = 86_400
    assert judged((day, 0, 0, 0), (day, 7, 7, 100), (day, 0, 0, 107)) == {"stall": day - 9}


def test_each_follower_is_judged_by_its_own_rows() -> None:
    status = FollowerStatus()
    for node in (1, 2):
        for second in range(15):
            row = LagRow(second * S, S, "orders", 0, node, 0, 5, 5, 100 + node * second)
            status.ended(row, (second + 1) * S)
    assert status.held_us[Status.WARN] == 2 * 6 * S
