"""Quotas after a stretch: those that are alike are put together, those that hold nothing back say nothing."""

import pytest

from benchmarks.sampled.drawn_cases import drawn
from emulator.protocol.types import TopicPartition
from scenarios.runs import run_scenario
from scenarios.runs.leaping.leaper import Leaper
from scenarios.runs.leaping.sharing import Bound, Sharing


@pytest.mark.slow
def test_a_burst_less_in_one_stretch_slows_no_broker_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three pairs of brokers copy alike, four partitions each; which had a burst less is chance."""
    found: list[tuple[dict[int, int], dict[int, float]]] = []
    measured = Leaper._measured

    def watched(self: Leaper, now: int, fetched: list, copies: list) -> bool:  # type: ignore[type-arg]
        windows = self.windows
        known = measured(self, now, fetched, copies)
        if self.windows > windows:
            begun, got, expected = self.sharing._begun, dict[int, int](), dict[int, float]()
            for each in copies:
                node = each.broker.process.node.id
                got[node] = got.get(node, 0) + each.state.offset - begun[each.key]
                expected[node] = expected.get(node, 0.0) + self.sharing.rates[each.key]
            found.append((got, expected))
        return known

    monkeypatch.setattr(Leaper, "_measured", watched)
    run_scenario(drawn(8).with_overrides({"fidelity": "sampled"}), seed=0)
    assert any(max(got.values()) > 1.1 * min(got.values()) for got, _ in found)
    for _, expected in found:
        assert max(expected.values()) == pytest.approx(min(expected.values()), rel=0.01)


def test_a_quota_that_holds_nothing_back_does_not_say_what_quotas_let_pass() -> None:
    """A leader sends to two followers, each of which is exceeded at times. The leader never is, however much of it is
    used: else a leader that alone limits its copies would be taken for one that lets pass as little."""
    first, second = (3, TopicPartition("orders", 0)), (5, TopicPartition("orders", 1))
    sender = Bound(("leader", 0), 15.0, 0.0, (first, second))
    receivers = [Bound(("follower", 3), 15.0, 0.0, (first,)), Bound(("follower", 5), 15.0, 0.0, (second,))]
    uses = {("leader", 0): 0.86, ("follower", 3): 0.84, ("follower", 5): 0.82}
    sharing = Sharing()
    sharing._profiles = {first: [0] * 100, second: [0] * 100}
    sharing._exceeded = {("leader", 0): 0, ("follower", 3): 30, ("follower", 5): 40}
    limiting = {bound.place: keys for bound, keys in sharing._limiting([sender, *receivers], uses)}
    assert limiting == {("follower", 3): [first], ("follower", 5): [second]}
    assert sharing._passes(sender) == 1.0
    assert sharing._passes(receivers[0]) == pytest.approx(0.83)
