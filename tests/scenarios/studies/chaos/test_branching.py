"""A branching search: the same for any number of workers, resumed as if it had not been stopped, and made of files."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from scenarios.chaos.draw import default_swarm
from scenarios.errors import BadInput
from scenarios.observe.branch_visits import BranchVisits, can_watch
from scenarios.runs import run_scenario
from scenarios.runs.batch import Processes, ThisProcess
from scenarios.studies.chaos import search as searching
from scenarios.studies.chaos.branching_run import LIVE_WAYS
from scenarios.studies.chaos.campaign import BRANCHING, Campaign, Tally, run
from scenarios.studies.chaos.leaning import names_of
from scenarios.studies.chaos.paths import name_of, on_path
from scenarios.studies.chaos.search import Corpus, Prefix, Search
from scenarios.studies.chaos.seed_run import Drawn, SeedResult, run_seed

PROFILE = "kafka-2.3"
SEEDS = range(3)


SMALL = {"ROUND": 2, "PICKED": 1, "WAYS": 2, "WARM": 2}
"""Rounds of two seeds, of which the first tells what is rare."""


@pytest.fixture(autouse=True, scope="module")
def small() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patches:
        for name, value in SMALL.items():
            patches.setattr(searching, name, value)
        yield


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return Drawn(scenario=default_swarm().for_run(profile=PROFILE), names=names_of(PROFILE))


def searched(drawn: Drawn, done: tuple[SeedResult, ...] = ()) -> Iterator[SeedResult]:
    known = {(one.seed, one.path): one for one in done}
    search = Search(drawn=drawn, seeds=SEEDS, done=known, ends_s=math.inf, is_over=lambda: False)
    for results in search.results(ThisProcess()):
        yield from results


@pytest.fixture(scope="module")
def whole(drawn: Drawn) -> tuple[SeedResult, ...]:
    """All results of a search."""
    return tuple(searched(drawn))


def test_a_search_continues_runs_and_each_continuation_is_a_file(drawn: Drawn, whole: tuple[SeedResult, ...]) -> None:
    assert {one.seed for one in whole if not one.path} == set(SEEDS)
    continued = [one for one in whole if one.path]
    assert continued
    for one in (continued[0], continued[-1]):
        again = run_scenario(on_path(drawn, one.seed, one.path), figures=False)
        assert (again.events, round(again.virtual_s * 1e6)) == (one.events, one.virtual_us)


def test_a_seed_of_a_search_is_the_seed_of_a_plain_campaign(drawn: Drawn, whole: tuple[SeedResult, ...]) -> None:
    """Neither the watch nor the forks change a run that is not branched."""
    for one in whole:
        if not one.path:
            assert evolve(one, rare=()) == run_seed(drawn, one.seed)


def test_a_search_that_was_stopped_goes_on_as_if_it_had_not_been(drawn: Drawn, whole: tuple[SeedResult, ...]) -> None:
    before = tuple(SeedResult.from_line(one.to_line()) for one in whole[: len(whole) // 2])
    assert (*before, *searched(drawn, before)) == whole
    assert list(searched(drawn, whole)) == []


@pytest.mark.slow
def test_a_campaign_in_other_processes_has_the_same_results_and_keeps_them(
    drawn: Drawn, whole: tuple[SeedResult, ...], tmp_path: Path
) -> None:
    asked = Campaign(drawn=drawn, seeds=SEEDS, out=tmp_path, search=BRANCHING)
    told = list[SeedResult]()
    first = run(asked, Processes(2), lambda result, _: told.append(result))
    assert tuple(told) == whole
    again = run(asked, ThisProcess(), lambda *_: None)
    assert first.continued == again.continued > 0
    assert (first.seeds, again.seeds, again.before) == (len(SEEDS), len(SEEDS), len(SEEDS))
    with pytest.raises(BadInput, match="--search branching"):
        run(evolve(asked, search="plain"), ThisProcess(), lambda *_: None)


def test_continuations_do_not_count_as_seeds_for_the_chance_of_the_next_seed() -> None:
    from scenarios.studies.chaos.leaning import Reached

    tally = Tally(Reached(()))
    for path in ((), ((5, 0),), ((5, 1),)):
        tally.add(SeedResult(seed=1, path=path))
    assert (tally.seeds, tally.continued, tally.findings.chance().seeds) == (1, 2, 1)


def test_energy_falls_with_visits_and_with_each_pick() -> None:
    prefix = Prefix(1, (), 10_000_000, (7, 8))
    assert prefix.energy({}) == 2 > prefix.energy({7: 1}) > prefix.energy({7: 3, 8: 3})
    corpus = Corpus(prefixes=[prefix, Prefix(2, (), 10_000_000, (9,))])
    assert [one.seed for one in corpus.picks()] == [1]
    assert [one.seed for one in corpus.picks()] == [2]
    numbers = [number for one in corpus.picks() for number in one.numbers]
    assert prefix.picked == 2
    assert min(numbers) == LIVE_WAYS + SMALL["WAYS"]


def test_the_corpus_keeps_where_something_new_was_visited_and_nothing_else() -> None:
    corpus = Corpus()
    corpus.add([SeedResult(seed=seed, rare=((1, 5_000_000),)) for seed in range(2)])
    corpus.add([SeedResult(seed=3, rare=((1, 5_000_000), (2, 6_000_000), (3, 1_000_000)))])
    assert [(one.seed, one.at_us, one.places) for one in corpus.prefixes] == [(3, 6_000_001, (2,))]


def test_a_path_names_its_file() -> None:
    assert name_of(12, ()) == "seed-12"
    assert name_of(12, ((23_456_789, 3),)) == "seed-12-at-23.456789s-3"


@pytest.mark.skipif(not can_watch(), reason="needs sys.monitoring, of Python 3.12")
def test_a_watched_run_has_the_same_events_and_tells_each_branch_once(drawn: Drawn) -> None:
    visits, told = BranchVisits(), list[int]()
    scenario = on_path(drawn, 3, ())
    plain = run_scenario(scenario, figures=False).digest
    visits.begin(told.append)
    try:
        assert run_scenario(scenario, figures=False).digest == plain
    finally:
        visits.end()
    assert len(told) > 2_000
    assert any(visits.names[place].startswith("controller/") for place in told)
    count = len(told)
    run_scenario(scenario, figures=False)
    assert len(told) == count
