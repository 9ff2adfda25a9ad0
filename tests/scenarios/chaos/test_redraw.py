"""The rest of a run, drawn again: it fits its scenario, is healed, and does not depend on the process."""

from attrs import evolve

from scenarios.chaos.draw import concrete, default_swarm
from scenarios.chaos.redraw import FileMethod, redrawn, sub_seed, varied
from scenarios.language import At, Scenario
from scenarios.runs.continuing import with_branch

FILE = """
title = "Two crashes"

[cluster]
brokers = 3

[[method]]
at = "5s"
action = "broker.crash"
target = 0

[[method]]
after = "1s"
action = "broker.crash"
target = 1

[[method]]
at = "9s"
action = "broker.pause"
target = 2
duration = "1s"

[[method]]
at = "20s"
action = "heal"
"""


def heal_us(scenario: Scenario) -> int:
    [heal] = [entry.trigger for entry in scenario.method if entry.name == "heal"]
    assert isinstance(heal, At)
    assert isinstance(heal.time_us, int)
    return heal.time_us


def test_what_is_drawn_fits_every_scenario_and_ends_with_the_same_healing() -> None:
    for profile, seeds in (("kafka-2.3", range(4)), ("kafka-2.7", range(4, 7)), ("kafka-0.8", range(7, 9))):
        swarm = default_swarm().for_run(profile=profile)
        for seed in seeds:
            base = concrete(swarm, seed)
            for at_us in (heal_us(base) * part // 100 + 1 for part in (20, 60, 95, 120)):
                branch = redrawn(swarm, base, at_us, sub_seed(seed, at_us))
                with_branch(base, branch).check()
                heals = [entry for entry in branch.method if entry.name == "heal"]
                assert heals == [entry for entry in base.method if entry.name == "heal" and at_us < heal_us(base)]
                if heals:
                    [old] = [entry for entry in base.method if entry.name == "heal"]
                    assert heals == [old]


def test_a_part_of_the_cluster_that_is_not_healed_is_asked_for_nothing() -> None:
    swarm, cores = default_swarm(), 0
    for seed in range(40):
        base = concrete(swarm, seed)
        core = next(entry.action.brokers for entry in base.method if entry.name == "heal")  # type: ignore[attr-defined]
        branch = redrawn(swarm, base, 10_000_001, sub_seed(seed))
        if core:
            cores += 1
            plans = filter(None, (entry.action.own_plan() for entry in branch.method))
            assert all(broker in core for plan in plans for move in plan.partitions for broker in move.replicas)
    assert cores


def test_another_sub_seed_draws_another_rest() -> None:
    base = concrete(default_swarm(), 3)
    drawn = [redrawn(default_swarm(), base, 10_000_001, sub_seed(3, number)).method for number in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_of_a_file_what_has_not_acted_is_left_out_half_of_the_time_and_healing_stays() -> None:
    left = FileMethod.of(Scenario.loads(FILE))
    found = [varied(left, 1, seed) for seed in range(100)]
    assert all(branch.method[-1].name == "heal" for branch in found)
    crashes = sum(branch.method[0].name == "broker.crash" for branch in found)
    assert 30 < crashes < 70
    later = [varied(left.without({(0, 0)}), 6_000_000, seed) for seed in range(100)]
    assert {tuple(entry.name for entry in branch.method) for branch in later} == {("broker.pause", "heal"), ("heal",)}


def test_entries_that_a_branch_drops_are_not_drawn_from() -> None:
    base = Scenario.loads(FILE)
    branched = with_branch(base, varied(FileMethod.of(base), 7_000_000, 1))
    assert [place for place, _ in FileMethod.of(branched).chains if place[1] == 0] == [(0, 0)]
    assert evolve(base, branches=()) == base
