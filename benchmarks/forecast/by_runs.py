"""The second half of a forecast, its sampled runs, against exact runs of the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from benchmarks.forecast.cases import Case
from scenarios.forecasting.arithmetic import forecast
from scenarios.forecasting.trials import variants
from scenarios.language import Scenario
from scenarios.runs import Run, run_scenario

HEAD = ("moves", "case", "a broker dies", "exact, s", "sampled, s", "off by", "produce p99", "in leaps")


def rows(case: Case, seeds: int) -> Iterator[tuple[str, ...]]:
    """The means over ``seeds``, as the case is and where a broker dies in the middle."""
    scenario = case.scenario
    plan = scenario.plans[0]
    for dies, variant in zip(("no", "yes"), variants(scenario, plan, forecast(scenario, plan)), strict=False):
        exact = _runs(variant.with_overrides({"fidelity": "exact"}), seeds)
        sampled = _runs(variant, seeds)
        before, after = (_mean(each, "time_to_complete_s") for each in (exact, sampled))
        p99s = [_mean(each, "produce_p99_ms") for each in (exact, sampled)]
        leapt_us = [0 if run.leaping is None else run.leaping.leapt_us for run in sampled]
        leapt = fmean(us / run.virtual_s for us, run in zip(leapt_us, sampled, strict=True)) / 1e6
        yield (
            case.kind, str(case.number), dies, f"{before:.1f}", f"{after:.1f}", f"{after / before - 1:+.1%}",
            f"{p99s[1] / p99s[0] - 1:+.1%}" if p99s[0] else "-", f"{leapt:.0%}",
        )  # fmt: skip


def _runs(scenario: Scenario, seeds: int) -> Sequence[Run]:
    return [run_scenario(scenario, seed=seed) for seed in range(seeds)]


def _mean(runs: Sequence[Run], name: str) -> float:
    """The mean of a figure over the runs that have it; 0 where none has."""
    found = [float(value) for run in runs if (value := run.metrics[name]) is not None]
    return fmean(found) if found else 0.0
