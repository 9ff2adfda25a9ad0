"""A plan's hints about its throttle before the run come true in the run."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.language import Plan, Scenario
from scenarios.language.strategies import Throttle
from scenarios.language.throttle_law import NeverEnds, never_ending
from tests.scenarios.language.test_library import LIBRARY
from tests.scenarios.runs.building import EXECUTE, play, scenario


def foreseen(played_rate: int, throttle: int, followers: int, strategy: str = "wiki") -> tuple[list[NeverEnds], bool]:
    """The hints about a move of orders-0, and whether it ends in the run; it has 90 s for 40 MB."""
    old = list(range(followers + 1))
    wanted = scenario(
        assignment=[old],
        plan={0: [*old[:-1], 5]},
        rate=0,
        size="40MB",
        strategy=strategy,
        method=[{**EXECUTE, "throttle": f"{throttle}B/s"}],
        horizon="90s",
        workloads=[{"topic": "orders", "producerRate": played_rate, "messageSize": 1000, "linger": "200ms"}],
    )
    assert wanted.plan is not None
    found = list(never_ending(wanted, wanted.plan, Throttle(throttle)))
    return found, play(wanted).run.metrics["moves_finished"] == 1


@given(
    rate=st.integers(300, 1500),
    share=st.sampled_from((0.3, 0.5, 1.0, 2.0, 4.0)),
    followers=st.integers(0, 2),
    strategy=st.sampled_from(("wiki", "kip-455", "kafka-6794", "width-2")),
)
@settings(max_examples=10, deadline=None)
def test_what_is_foreseen_never_to_end_does_not_end(rate: int, share: float, followers: int, strategy: str) -> None:
    """``share``: of the bound, W for each follower in sync and for the new one."""
    throttle = int(rate * 1000 * (followers + 1) * share)
    found, ends = foreseen(rate, throttle, followers, strategy)
    assert not (found and ends)
    if strategy in ("wiki", "kip-455"):
        assert bool(found) is (share <= 0.5)


def test_with_a_wide_throttle_it_ends_and_nothing_is_said() -> None:
    assert foreseen(500, 8_000_000, 2) == ([], True)


def test_the_words() -> None:
    [leader] = foreseen(500, 500_000, 2)[0]
    assert leader.words == (
        "no move of the partition that broker 0 leads ever ends while the load lasts: a throttle has to be above "
        "1500kB/s: KIP-73 counts the 1MB/s to followers in sync too"
    )


def test_the_words_of_several_brokers() -> None:
    found = list(never_ending(*incident()))
    assert [one.brokers for one in found] == [(0, 1), (2, 3), (4, 5)]
    assert found[0].words == (
        "no move of the 3 partitions that brokers 0, 1 each lead ever ends while the load lasts: a throttle has to be "
        "above 14MB/s: KIP-73 counts the 12MB/s to followers in sync too"
    )


def incident() -> tuple[Scenario, Plan, Throttle]:
    wanted = Scenario.load(LIBRARY / "throttled-move-stands-still.toml")
    assert wanted.plan is not None
    return wanted, wanted.plan, Throttle(5_000_000)
