"""The chance that the next seed shows something new: the estimate, its interval, and the campaign that ends by it."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.studies.chaos.chance import Shown
from scenarios.studies.statistics.counted_share import wilson

THINGS = st.sets(st.sampled_from("abcdefgh"))


def shown(seeds: list[set[str]]) -> Shown:
    found = Shown()
    for things in seeds:
        found.add(things)
    return found


def test_of_nothing_nothing_is_known() -> None:
    chance = Shown().chance()
    assert (chance.low, chance.high) == (0.0, 1.0)


def test_where_no_seed_has_anything_to_itself_the_chance_is_bounded_by_their_number() -> None:
    chance = shown([{"a"}] * 300).chance()
    assert chance.estimate == 0
    assert chance.high == pytest.approx(3.84 / 303.84, rel=0.02)
    assert chance.unseen == 0


def test_one_seed_says_next_to_nothing() -> None:
    chance = shown([{"a"}]).chance()
    assert (chance.estimate, chance.high) == (1, 1)
    assert chance.low == pytest.approx(0.207, abs=0.001)


@given(st.lists(THINGS, min_size=1, max_size=30))
def test_the_estimate_is_the_share_of_seeds_that_show_what_no_other_does(seeds: list[set[str]]) -> None:
    alone = [things for place, things in enumerate(seeds) if things - set().union(*seeds[:place], *seeds[place + 1 :])]
    found = shown(seeds)
    assert found.chance().estimate == len(alone) / len(seeds)
    low, high = wilson(len(alone), len(seeds))
    assert found.chance().low <= min(low, found.chance().estimate)
    assert found.chance().high >= max(high, found.chance().estimate)
    for things in seeds:
        assert all(thing in found for thing in things)


def test_the_interval_covers_the_chance_in_nineteen_of_twenty_drawn_campaigns() -> None:
    random = Random(7)
    covered = 0
    campaigns = 400
    for _ in range(campaigns):
        exponent = random.uniform(0.8, 2.0)
        chances = [min(0.9, 0.8 / place**exponent) for place in range(1, 80)]
        found = Shown()
        for _ in range(random.choice((50, 120, 300))):
            found.add({str(place) for place, chance in enumerate(chances) if random.random() < chance})
        true = 1 - math.prod(1 - chance for place, chance in enumerate(chances) if str(place) not in found)
        covered += found.chance().low <= true <= found.chance().high
    assert covered / campaigns >= 0.95


def test_an_interval_without_the_doubletons_would_be_too_narrow() -> None:
    """The check above can fail: half the interval covers less."""
    random = Random(7)
    covered = 0
    for _ in range(200):
        found = Shown()
        chances = [0.8 / place for place in range(1, 80)]
        for _ in range(100):
            found.add({str(place) for place, chance in enumerate(chances) if random.random() < chance})
        true = 1 - math.prod(1 - chance for place, chance in enumerate(chances) if str(place) not in found)
        chance = found.chance()
        covered += abs(true - chance.estimate) <= (chance.high - chance.estimate) / 3
    assert covered / 200 < 0.9
