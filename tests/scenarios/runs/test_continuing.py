"""Several ways on from one instant: forks of the run have the events of their files played from the start."""

from attrs import evolve

from scenarios.chaos.draw import concrete, default_swarm
from scenarios.chaos.redraw import redrawn, sub_seed
from scenarios.language import Scenario
from scenarios.language.entries import Branch
from scenarios.runs import run_scenario
from scenarios.runs.continuing import continuations, with_branch
from scenarios.runs.run import Run

AT_US = 12_345_679


def judged(run: Run) -> tuple[str, str, int, Scenario]:
    return run.digest, run.verdict, run.events, run.scenario


def ways(base: Scenario, at_us: int, number: int = 2) -> list[Branch]:
    swarm = default_swarm()
    return [redrawn(swarm, base, at_us, sub_seed(base.seed, at_us, each)) for each in range(number)]


def test_a_fork_has_the_events_of_its_file_played_from_the_start() -> None:
    base = evolve(concrete(default_swarm(), 8), source="")
    branches = ways(base, AT_US)
    found = continuations(base, branches, judged)
    assert len({digest for digest, *_ in found}) == len(branches)
    for branch, (digest, verdict, events, _) in zip(branches, found, strict=True):
        run = run_scenario(Scenario.loads(with_branch(base, branch).to_toml()))
        assert (run.digest, run.verdict, run.events) == (digest, verdict, events)


def test_a_fork_of_a_branch_is_a_branch_of_a_branch() -> None:
    base = evolve(concrete(default_swarm(), 3), source="")
    once = with_branch(base, ways(base, AT_US, 1)[0])
    branches = ways(once, 2 * AT_US, 2)
    assert continuations(once, branches, judged) == continuations(once, branches, judged, forks=False)


def test_a_run_that_ends_before_the_instant_is_its_own_continuation() -> None:
    base = Scenario.loads('title = "quiet"\n[cluster]\nbrokers = 1\n')
    late = [Branch(at_us=500_000_000, seed=seed) for seed in range(2)]
    found = continuations(base, late, lambda run: run.digest)
    assert found == [run_scenario(base).digest] * 2
