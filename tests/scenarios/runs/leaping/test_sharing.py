"""Quotas that are alike: what one stretch says of them is put together."""

import pytest

from benchmarks.sampled.drawn_cases import drawn
from scenarios.runs import run_scenario
from scenarios.runs.leaping.leaper import Leaper


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
