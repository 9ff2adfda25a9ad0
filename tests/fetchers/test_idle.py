"""A fetcher whose polls are not simulated while nothing happens (``fetchers.idle``)."""

from emulator.network import NetworkSpec
from tests.scenarios.cluster.test_idle_jumped import Deed, play


def test_a_request_times_out_from_when_it_was_sent_again() -> None:
    """Leader 0 pauses just before the time-out that the last simulated request would have had; the followers give it up
    later, as the one in flight is younger."""
    deeds = [Deed(52_000_000, "pause", 0, 1), Deed(40_000_000, "resume", 0, 1)]
    jumped, _ = play(0, NetworkSpec(), deeds, simulate_idle=False)
    simulated, _ = play(0, NetworkSpec(), deeds, simulate_idle=True)
    assert jumped == simulated


def test_a_poll_ends_when_its_request_times_out() -> None:
    """The request waits at the leader, which learns only half a minute later that the follower has given it up
    (2.4, seed 60743)."""
    deeds = [Deed(52_000_000, "crawl", 1, 0), Deed(32_000_000, "heal", 1, 0)]
    jumped, _ = play(0, NetworkSpec(), deeds, simulate_idle=False)
    simulated, _ = play(0, NetworkSpec(), deeds, simulate_idle=True)
    assert jumped == simulated
