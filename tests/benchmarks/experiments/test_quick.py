"""Each experiment, scaled down: it runs, and agrees or states why it does not."""

import pytest

from benchmarks.experiments.registry import experiments

EXPERIMENTS = experiments()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_scaled_down_experiment_agrees_or_says_why_not(name: str) -> None:
    outcome = EXPERIMENTS[name].carry_out(True)
    assert outcome.findings
    for finding in outcome.findings:
        assert finding.agrees or finding.why, finding
    assert any(finding.agrees for finding in outcome.findings)
