"""Stretches of sampled runs, and the weights of what is seen in them."""

from emulator.protocol.events import Leapt, StretchBegan, StretchEnded
from scenarios.observe.measures.stretches import SCALE, Stretches


def leapt(since_us: int, t_us: int) -> Leapt:
    return Leapt(t_us, 0, 0, since_us, 0, "window")


def test_without_leaps_nothing_has_a_weight() -> None:
    stretches = Stretches()
    stretches._began(StretchBegan(0, 0, 0))
    stretches._over(StretchEnded(10, 0, 0))
    stretches._leapt(leapt(12, 12))
    assert stretches.weighted({7: 2}) == {7: 2}


def test_a_stretch_stands_for_the_leaps_up_to_the_end_of_the_next_one() -> None:
    stretches, seen = Stretches(), dict[int, int]()

    def see(t_us: int, value: int) -> None:
        seen[value] = seen.get(value, 0) + 1
        if stretches.open is not None:
            stretches.open.add(t_us, (value,))

    see(5, 1)
    stretches._began(StretchBegan(10, 0, 0))
    see(10, 2)  # at an end: not within
    see(11, 3)
    see(15, 3)
    see(20, 4)  # at the other end
    stretches._over(StretchEnded(20, 0, 0))
    see(21, 5)
    stretches._leapt(leapt(25, 45))
    stretches._leapt(leapt(46, 56))
    stretches._began(StretchBegan(60, 0, 0))  # given up: it stands for nothing
    see(61, 6)
    stretches._began(StretchBegan(70, 0, 0))
    see(71, 7)
    stretches._over(StretchEnded(80, 0, 0))
    stretches._leapt(leapt(80, 85))
    assert stretches.weighted(seen) == {
        1: SCALE, 2: SCALE, 3: 2 * SCALE + 2 * 3 * SCALE, 4: SCALE, 5: SCALE, 6: SCALE, 7: SCALE + SCALE // 2,
    }  # fmt: skip


def test_a_median_between_two_groups_of_values_is_not_known_after_leaps() -> None:
    apart, near = {10: 52, 20: 48}, {100: 40, 110: 20, 120: 40}
    stretches = Stretches()
    assert stretches.percentiles(apart, (0.5, 0.99)) == [10.0, 20.0]
    stretches._leapt(leapt(0, 50))
    assert stretches.percentiles(apart, (0.5, 0.99)) == [None, 20.0]
    assert stretches.percentiles(near, (0.5,)) == [110.0]
    assert stretches.percentiles({}, (0.5,)) == [None]
