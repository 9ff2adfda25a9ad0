"""Each experiment, scaled down: it runs, and agrees or states why it does not."""

import pytest

from benchmarks.experiments.registry import experiments

EXPERIMENTS = experiments()
LONG = {"e1", "e3", "e4", "e5", "e8", "e9", "e12", "e17"}
"""The experiments that take more than two seconds each."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in EXPERIMENTS]
)
def test_the_scaled_down_experiment_agrees_or_says_why_not(name: str) -> None:
    outcome = EXPERIMENTS[name].carry_out(True)
    assert outcome.findings
    for finding in outcome.findings:
        assert finding.agrees or finding.why, finding
    assert any(finding.agrees for finding in outcome.findings)
