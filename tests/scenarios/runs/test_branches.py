"""A branch of a run: the same up to an instant, another way from there on, and the same each time."""

import subprocess
import sys
from typing import Any

import pytest
from attrs import evolve

from scenarios.chaos.draw import concrete, default_swarm
from scenarios.errors import BadInput
from scenarios.language import At, MethodEntry, Scenario
from scenarios.language.entries import Branch, begun
from scenarios.language.targets import Target
from scenarios.runs import run_scenario

AT_US = 20_000_003

CLUSTER = """
title = "Three brokers"

[cluster]
brokers = 3

[[topics]]
name = "orders"
replication_factor = 3

[[workloads]]
topic = "orders"
producerRate = 20
"""

CRASHES = (
    CLUSTER
    + """
[[method]]
at = "5s"
action = "broker.crash"
target = 0
duration = "10s"

[[method]]
at = "12s"
action = "broker.crash"
target = 1
duration = "2s"

[[method]]
after = "1s"
action = "zk.expire"
target = 2
"""
)


def swarm(seed: int) -> Scenario:
    return evolve(concrete(default_swarm(), seed), source="")


def branched(scenario: Scenario, at_us: int, seed: int) -> Scenario:
    """The scenario with the entries that have not begun by then, and other draws."""
    acted = begun(scenario.method, at_us)
    later = tuple(entry for entry in scenario.method if entry not in acted)
    return evolve(scenario, branches=(*scenario.branches, Branch(at_us=at_us, seed=seed, method=later)))


def events(scenario: Scenario) -> tuple[list[Any], str]:
    found: list[Any] = []
    run = run_scenario(scenario, on_event=found.extend)
    return found, run.digest


def test_a_run_is_the_same_up_to_its_branch_and_another_one_after_it() -> None:
    base = swarm(3)
    before, digest = events(base)
    after, other = events(branched(base, AT_US, 7))
    common = [event for event in before if event.t_us < AT_US]
    assert [repr(event) for event in after[: len(common)]] == [repr(event) for event in common]
    assert after[len(common)].t_us == AT_US
    assert other != digest


def test_each_seed_of_a_branch_is_another_way() -> None:
    base = swarm(3)
    assert len({run_scenario(branched(base, AT_US, seed)).digest for seed in (0, 1, 1, 2)}) == 3


def test_a_branch_replays_from_its_file_in_another_process() -> None:
    scenario = branched(branched(swarm(8), AT_US, 1), 2 * AT_US, 2)
    code = "import sys; from scenarios.language import Scenario; print(Scenario.loads(sys.stdin.read()).run().digest)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=scenario.to_toml(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == run_scenario(scenario).digest


def acted(scenario: Scenario) -> list[tuple[int, str]]:
    found, _ = events(scenario)
    return [(event.t_us, event.action) for event in found if type(event).__name__ == "Fault"]


def test_what_has_not_begun_is_dropped_and_what_has_begun_goes_on() -> None:
    scenario = Scenario.loads(CRASHES)
    pause = MethodEntry(action="broker.pause", trigger=At(13_500_000), target=Target(brokers=(2,)), duration_us=100_000)
    early = evolve(scenario, branches=(Branch(at_us=11_000_000, seed=1, method=(pause,)),))
    assert acted(early) == [
        (5_000_000, "broker.crash"),
        (13_500_000, "broker.pause"),
        (13_600_000, "broker.resume"),
        (15_000_000, "broker.start"),
    ]
    late = evolve(scenario, branches=(Branch(at_us=12_500_000, seed=1, method=(pause,)),))
    assert [action for t_us, action in acted(late)] == [
        "broker.crash", "broker.crash", "zk.expire", "broker.pause", "broker.resume", "broker.start", "broker.start"
    ]  # fmt: skip
    assert run_scenario(early).verdict == run_scenario(late).verdict == "passed"


def test_a_dropped_condition_does_not_fire_any_more() -> None:
    text = CRASHES.replace('at = "12s"', 'when = { message = "LeaderAndIsr", edge = "sent", occurrence = 8 }')
    scenario = Scenario.loads(text)
    assert len(acted(scenario)) > 2
    assert [action for _, action in acted(evolve(scenario, branches=(Branch(at_us=4_000_000, seed=1),)))] == []


@pytest.mark.parametrize(
    ("branches", "wrong"),
    [
        ('[[branches]]\nat = "9s"\nseed = 1\n[[branches]]\nat = "9s"\nseed = 2\n', "branches[1].at: a branch comes"),
        (
            '[[branches]]\nat = "9s"\nseed = 1\nmethod = [{ at = "8s", action = "heal" }]\n',
            "branches[0].method[0].at: it comes before its branch",
        ),
        (
            '[[branches]]\nat = "9s"\nseed = 1\nmethod = [{ at = "10s", action = "broker.crash", target = 7 }]\n',
            "branches[0].method[0].target: broker 7 does not exist",
        ),
    ],
)
def test_a_branch_that_cannot_be_is_refused(branches: str, wrong: str) -> None:
    with pytest.raises(BadInput) as refused:
        Scenario.loads(CRASHES + branches)
    assert wrong in str(refused.value)


def test_a_sampled_run_has_no_branches() -> None:
    text = 'fidelity = "sampled"\n' + CRASHES.lstrip() + '[[branches]]\nat = "9s"\nseed = 1\n'
    with pytest.raises(BadInput, match="branches"):
        Scenario.loads(text)
