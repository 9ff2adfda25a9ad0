"""The cost of a run as it is estimated, against what the run simulates."""

from __future__ import annotations

import pytest

from scenarios.forecasting.cpu_cost import Cost, cheaper, cost_of
from scenarios.forecasting.sampled_cost import simulated
from scenarios.language.files import load
from scenarios.runs import run_scenario
from tests.scenarios.forecasting.test_arithmetic import move


def cost(**more: object) -> Cost:
    found = cost_of(move(**more))  # type: ignore[arg-type]
    assert found is not None
    return found


def test_batches_are_those_that_a_run_acknowledges() -> None:
    scenario = move(
        partitions=10, size="1MB", rate=1000, linger="100ms", horizon="60s",
        method=[{"at": "50s", "action": "reassign.execute"}],
    )  # fmt: skip
    found = cost_of(scenario)
    assert found is not None
    run = run_scenario(scenario)
    assert found.batches == pytest.approx(run.metrics["acked_batches"], rel=0.2)


def test_a_longer_linger_costs_less_and_is_what_is_proposed() -> None:
    method = [{"at": "30s", "action": "reassign.execute", "throttle": "100MB/s"}]
    often, seldom = cost(linger="100ms", method=method), cost(linger="500ms", method=method)
    assert often.batches == pytest.approx(5 * seldom.batches)
    assert often.cpu_s > 2 * seldom.cpu_s
    assert any("a linger of 0.5 s, five times as long" in line for line in cheaper(often))


def test_a_sampled_run_is_proposed_where_it_saves_much_and_where_the_run_is_none() -> None:
    method = [{"at": "30s..40s", "action": "reassign.execute", "throttle": "100MB/s"}]
    exact, sampled = cost(method=method), cost(method=method, fidelity="sampled")
    assert "a sampled run (--sampled) takes about" in next(cheaper(exact))
    assert sampled.cpu_s == exact.sampled_s < exact.cpu_s / 10
    assert not any("--sampled" in line for line in cheaper(sampled))
    unthrottled = cost(method=[{"at": "30s", "action": "reassign.execute"}])
    assert not any("--sampled" in line for line in cheaper(unthrottled))


@pytest.mark.parametrize(
    ("study", "changes", "took_s"),
    [
        ("throttles-at-size", {"strategy.throttle": "45MB/s"}, 36),
        ("throttles-at-size", {"strategy.throttle": "20MB/s"}, 47),
        ("many-small-moves-at-size", {}, 76),
        ("waves-or-a-window-at-size", {}, 18),
        ("waves-or-a-window-at-size", {"strategy.name": "kip-455+waves-20"}, 32),
        ("waves-or-a-window-at-size", {"strategy.name": "kip-455+window-20"}, 94),
        ("one-terabyte", {}, 68),
    ],
)
def test_a_sampled_run_is_estimated_within_a_factor_of_two(study: str, changes: dict[str, str], took_s: float) -> None:
    """What the runs took is of ``python -m benchmarks.cost``, on a machine that others used."""
    found = cost_of(load(study, changes.items()).for_run(seed=0), precise=True)
    assert found is not None
    assert took_s / 2 < found.cpu_s < 2 * took_s


def test_what_is_simulated_grows_slower_than_the_time_and_with_the_parts_of_a_plan() -> None:
    hour, ten = (simulated(seconds, 600, 600, 11.0) for seconds in (3_600, 36_000))
    assert hour.seconds < ten.seconds < 2 * hour.seconds
    parts = simulated(3_600, 600, 30, 11.0, requests=20)
    assert parts.seconds > 1.5 * hour.seconds
    assert (parts.pieces, hour.pieces > 0) == (0, True)


def test_a_move_without_copies_or_of_a_minute_is_simulated_as_a_whole() -> None:
    assert simulated(60, 200, 200, 11.0).seconds == 60
    assert simulated(600, 0, 0, 11.0).seconds == 600


def test_the_share_of_a_run_says_how_many_windows_its_leaper_measures() -> None:
    """The estimate has the leaper's rule; here it is held to a run of it."""
    method = [{"at": "5s", "action": "reassign.execute", "throttle": "20MB/s"}]
    scenario = move(partitions=4, size="2GB", rate=400, linger="1s", method=method, fidelity="sampled", horizon="3h")
    found, run = cost_of(scenario, precise=True), run_scenario(scenario)
    assert found is not None
    assert run.leaping is not None
    simulated_s = run.virtual_s - run.leaping.leapt_us / 1e6
    assert found.simulated * found.virtual_s == pytest.approx(simulated_s, rel=0.5)


def test_a_large_move_is_costly_and_a_small_one_is_not_worth_a_word() -> None:
    assert 600 < cost(method=[{"at": "30s", "action": "reassign.execute", "throttle": "100MB/s"}]).cpu_s < 5000
    assert not cost(partitions=2, size="10MB", rate=100, horizon="1m").worth_saying


def test_the_time_is_the_arithmetic_s_and_at_most_the_horizon() -> None:
    method = [{"at": "30s", "action": "reassign.execute", "throttle": "100MB/s"}]
    assert cost(method=method).virtual_s == pytest.approx(33_500, rel=0.08)
    assert cost(method=method, horizon="1h").virtual_s == 3600
    assert cost(method=[{**method[0], "throttle": "50MB/s"}]).virtual_s == 12 * 3600


def test_chance_has_no_cost() -> None:
    assert cost_of(move(chaos=[{"kind": "attrition"}])) is None
