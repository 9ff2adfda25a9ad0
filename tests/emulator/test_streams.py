"""Named streams: independent, uniform, equal in every process."""

import subprocess
import sys
from itertools import islice
from pathlib import Path
from statistics import NormalDist

from hypothesis import given
from hypothesis import strategies as st

from emulator.streams import Streams

ROOT = Path(__file__).parents[2]


@given(st.integers(0, 2**32), st.integers(0, 50), st.integers(0, 50))
def test_a_draw_moves_no_other_stream(seed: int, others: int, mine: int) -> None:
    alone = Streams(seed)
    expected = [alone.stream("network", "0>1").bits() for _ in range(mine)]
    mixed = Streams(seed)
    got = []
    for number in range(max(others, mine)):
        if number < others:
            mixed.stream("network", "1>0").bits()
            mixed.stream("election").below(7)
        if number < mine:
            got.append(mixed.stream("network", "0>1").bits())
    assert got == expected


def test_other_names_and_other_seeds_give_other_streams() -> None:
    firsts = [
        Streams(seed).stream(purpose, entity).bits()
        for seed in (1, 2, 11)
        for purpose in ("a", "b", "ab")
        for entity in ("", "a", "b", 1, 2)
    ]
    assert len(set(firsts)) == len(firsts)


def test_an_entity_is_its_text() -> None:
    streams = Streams(3)
    assert streams.stream("broker", 7) is streams.stream("broker", "7")


def test_draws_are_uniform_enough() -> None:
    """Chi squared with 15 degrees of freedom: above 45 once in 10,000."""
    stream = Streams(1).stream("uniform")
    counts = [0] * 16
    for _ in range(16_000):
        counts[stream.below(16)] += 1
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 45


@given(st.integers(1, 10**12), st.integers(0, 1000))
def test_below_stays_below(bound: int, seed: int) -> None:
    stream = Streams(seed).stream("below")
    assert all(0 <= stream.below(bound) < bound for _ in range(20))
    assert stream.choice([bound]) == bound


USES = st.one_of(
    st.tuples(st.just("below"), st.sampled_from((1, 7, 401, 2**63))),
    st.tuples(st.sampled_from(("bits", "skip", "ahead")), st.integers(0, 90)),
)


@given(st.lists(st.tuples(USES, st.integers(1, 200)), max_size=8), st.integers(0, 1000))
def test_draws_in_blocks_are_those_made_one_by_one(uses: list[tuple[tuple[str, int], int]], seed: int) -> None:
    stream, one_by_one = Streams(seed).stream("network"), Streams(seed).stream("network")
    for (use, number), times in uses:
        if use == "below":
            expected = [one_by_one.bits() * number >> 64 for _ in range(times)]
            assert [stream.below(number) for _ in range(times)] == expected
        elif use == "bits":
            assert stream.bits() == one_by_one.bits()
        elif use == "skip":
            stream.skip(number)
            for _ in range(number):
                one_by_one.bits()
        else:
            expected = list(islice(stream.ahead(401), number))
            assert [stream.below(401) for _ in range(number)] == expected
            one_by_one.skip(number)


def test_equal_in_another_process() -> None:
    program = "from emulator.streams import Streams; print([Streams(5).stream('p', 'é').bits() for _ in range(3)])"
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == str([Streams(5).stream("p", "é").bits() for _ in range(3)])


def test_normal_draws_have_the_quantiles_of_the_normal_distribution_and_take_one_draw_each() -> None:
    stream, twin = Streams(3).stream("network"), Streams(3).stream("network")
    found = sorted(stream.normal() for _ in range(4000))
    for share in (0.01, 0.2, 0.5, 0.8, 0.99):
        assert abs(found[int(share * 4000)] - NormalDist().inv_cdf(share)) < 0.12
    for _ in range(4000):
        twin.bits()
    assert stream.bits() == twin.bits()


@given(st.integers(0, 2**32), st.integers(1, 2**20), st.integers(0, 700), st.integers(0, 700))
def test_draws_ahead_are_those_that_follow(seed: int, bound: int, drawn: int, count: int) -> None:
    stream = Streams(seed).stream("network", "0>1")
    stream.skip(drawn)
    ahead = list(islice(stream.ahead(bound), count))
    slowly = Streams(seed).stream("network", "0>1")
    for _ in range(drawn):
        slowly.bits()
    assert ahead == [slowly.below(bound) for _ in range(count)]
    stream.skip(count)
    assert stream.bits() == slowly.bits()
