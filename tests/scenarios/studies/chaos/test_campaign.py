"""A campaign runs each seed once, whatever stops it, and reports what it has found."""

from __future__ import annotations

import errno
from collections.abc import Callable, Generator, Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from scenarios.chaos.draw import default_swarm
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.chaos import find_kind
from scenarios.runs.batch import ThisProcess
from scenarios.studies.chaos import campaign as campaigns
from scenarios.studies.chaos.campaign import CHUNK, Campaign, Tally
from scenarios.studies.chaos.campaign_results import NAME
from scenarios.studies.chaos.leaning import Reached, packed, unpacked
from scenarios.studies.chaos.seed_run import TOOL, Drawn, ResultFinding, SeedResult, run_seed
from tests.scenarios.chaos.test_draw import FAST

SCENARIO = Scenario.loads(FAST)


def campaign(seeds: Iterable[int], out: Path | None = None, scenario: Scenario = SCENARIO) -> Campaign:
    return Campaign(drawn=Drawn(scenario=scenario), seeds=tuple(seeds), out=out)


def carried_out(asked: Campaign, workers: Any = None) -> tuple[Tally, list[int]]:
    """The tally, and the seeds that were reported, in order."""
    told: list[int] = []
    tally = campaigns.run(asked, workers or ThisProcess(), lambda result, _: told.append(result.seed))
    return tally, told


class Killed(BaseException):
    """The process ends."""


class Dying:
    """Workers that are killed after some chunks."""

    def __init__(self, after: int) -> None:
        self.after = after

    def in_order(self, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Generator[Any, None, None]:
        for number, task in enumerate(tasks):
            if number == self.after:
                raise Killed
            yield work(task)


def test_every_seed_is_reported_once() -> None:
    tally, told = carried_out(campaign(range(3, 9)))
    assert told == list(range(3, 9))
    assert (tally.seeds, tally.before) == (6, 0)
    assert tally.virtual_us > 6 * 6_000_000


def test_a_campaign_that_was_killed_goes_on(tmp_path: Path) -> None:
    asked = campaign(range(3 * CHUNK), tmp_path)
    with pytest.raises(Killed):
        carried_out(asked, Dying(2))
    tally, told = carried_out(asked)
    assert told == list(range(3 * CHUNK))
    assert tally.before == 2 * CHUNK
    assert carried_out(campaign(range(3 * CHUNK)))[0].events == tally.events


def test_a_torn_last_line_is_done_again(tmp_path: Path) -> None:
    asked = campaign(range(4), tmp_path)
    carried_out(asked)
    file = tmp_path / NAME
    whole = file.read_bytes()
    for lost in (1, 5, len(whole.splitlines()[-1]) + 1):
        file.write_bytes(whole[:-lost])
        tally, told = carried_out(asked)
        assert told == [0, 1, 2, 3]
        assert tally.before == 3
        assert file.read_bytes() == whole


def test_more_seeds_join_those_that_are_there(tmp_path: Path) -> None:
    carried_out(campaign(range(2, 4), tmp_path))
    tally, told = carried_out(campaign(range(5), tmp_path))
    assert sorted(told) == [0, 1, 2, 3, 4]
    assert tally.before == 2


def test_another_campaigns_folder_is_refused(tmp_path: Path) -> None:
    carried_out(campaign(range(1), tmp_path))
    for other, said in (
        (SCENARIO.for_run(profile="kafka-2.4"), "of profile 'kafka-2.3', not 'kafka-2.4'; name another folder"),
        (SCENARIO.with_overrides({"horizon": "7m"}), "of another scenario"),
    ):
        with pytest.raises(BadInput, match=f"holds a campaign {said}"):
            carried_out(campaign(range(1), tmp_path, other))


def test_a_campaign_goes_on_with_preferred_kinds_or_without(tmp_path: Path) -> None:
    leaning = evolve(campaign(range(1), tmp_path), leans=True)
    carried_out(leaning)
    with pytest.raises(BadInput, match="holds a campaign with --lean; give that option too, or name another folder"):
        carried_out(evolve(leaning, leans=False))


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    asked = campaign(range(2), tmp_path)

    class Nested:
        def in_order(self, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Generator[Any, None, None]:
            with pytest.raises(BadInput, match="another campaign writes there now"):
                carried_out(asked)
            yield from map(work, tasks)

    assert carried_out(asked, Nested())[1] == [0, 1]


@pytest.mark.parametrize("text", ["not json\n", "[1]\n", "a note without a line's end"])
def test_a_file_that_is_no_campaigns_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(BadInput, match="is no campaign's"):
        carried_out(campaign(range(1), tmp_path))
    assert (tmp_path / NAME).read_text() == text


def test_a_first_line_that_is_torn_is_written_again(tmp_path: Path) -> None:
    carried_out(campaign(range(1), tmp_path))
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole[:30])
    assert carried_out(campaign(range(1), tmp_path))[1] == [0]
    assert (tmp_path / NAME).read_bytes() == whole


def test_results_of_another_version_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    carried_out(campaign(range(1), tmp_path))
    monkeypatch.setattr(campaigns, "code_digest", lambda: "0123")
    with pytest.raises(BadInput, match="that another version of the program has begun, or one with other plug-ins"):
        carried_out(campaign(range(1), tmp_path))


def test_a_corrupt_line_is_named(tmp_path: Path) -> None:
    carried_out(campaign(range(2), tmp_path))
    lines = (tmp_path / NAME).read_text().splitlines()
    (tmp_path / NAME).write_text("\n".join([lines[0], "{}", *lines[2:], ""]))
    with pytest.raises(BadInput, match="line 2 is corrupt"):
        carried_out(campaign(range(2), tmp_path))


def test_an_exception_of_the_program_is_a_result_of_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(drawn: Drawn, seed: int) -> SeedResult:
        if seed == 1:
            raise ZeroDivisionError("a defect")
        return SeedResult(seed=seed)

    monkeypatch.setattr("scenarios.studies.chaos.seed_run.run_seed", broken)
    tally, told = carried_out(campaign(range(3)))
    assert told == [0, 1, 2]
    ((failed,), checkers) = tally.failed, tally.checkers
    assert failed.found[0].checker == TOOL
    assert "ZeroDivisionError: a defect" in failed.found[0].state
    assert "broken" in failed.error
    assert checkers == {TOOL: 1}


def test_a_result_reads_back_from_its_line() -> None:
    result = SeedResult(seed=3, virtual_us=5, events=7, error="why")
    assert SeedResult.from_line(result.to_line()) == result


def test_what_a_release_does_by_itself_is_known_and_no_failure() -> None:
    known, new = ResultFinding("log_matching", "s", "x", ("KAFKA-1",)), ResultFinding("isr_complete", "s", "y")
    tally = Tally(Reached(()))
    tally.add(SeedResult(seed=4, found=(known,)))
    tally.add(SeedResult(seed=5, found=(known, new)))
    assert (tally.passed, [one.seed for one in tally.failed], tally.checkers) == (1, [5], {"isr_complete": 1})
    assert (tally.known, tally.known_in) == ({"KAFKA-1": [4, 5]}, {"KAFKA-1": 2})
    assert SeedResult.from_line(tally.failed[0].to_line()) == tally.failed[0]


def test_no_seed_begins_after_its_time() -> None:
    asked = Campaign(drawn=Drawn(scenario=SCENARIO), seeds=range(100), for_s=0.0)
    assert carried_out(asked)[1] == []


NAMES = ("controller elected", "session expired", "step failover.F1", "truncation to the end of an epoch")


def test_what_seeds_have_reached_is_counted_and_kept(tmp_path: Path) -> None:
    drawn = Drawn(scenario=SCENARIO, names=NAMES)
    asked = Campaign(drawn=drawn, seeds=range(3), out=tmp_path)
    reached = carried_out(asked)[0].reached
    assert (reached.seeds["controller elected"], reached.first["controller elected"]) == (3, 0)
    assert "truncation to the end of an epoch" in reached.never
    assert carried_out(asked)[0].reached.seeds == reached.seeds


def test_what_was_reached_is_packed() -> None:
    assert unpacked(packed(["step failover.F1", "controller elected", "unforeseen"], NAMES), NAMES) == [
        "controller elected",
        "step failover.F1",
    ]
    assert unpacked("", NAMES) == []


def test_a_campaign_ends_once_something_is_reached() -> None:
    drawn = Drawn(scenario=SCENARIO, names=NAMES)
    asked = Campaign(drawn=drawn, seeds=range(100), until="controller elected")
    assert carried_out(asked)[1] == [0]


class Ahead:
    """Workers to which all chunks were handed out before the first result is asked for."""

    def in_order(self, work: Callable[[Any], Any], tasks: Iterable[Any]) -> Generator[Any, None, None]:
        yield from map(work, list(islice(tasks, 5)))


def test_seeds_that_were_handed_out_end_with_the_campaign_too(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = Drawn(scenario=SCENARIO, names=NAMES)
    asked = Campaign(drawn=drawn, seeds=range(100), until="controller elected")
    assert carried_out(asked, Ahead())[1] == [0]

    def slow(drawn: Drawn, seed: int) -> SeedResult:
        clock[0] += 1.0
        return SeedResult(seed=seed)

    clock = [1_000.0]
    monkeypatch.setattr("scenarios.studies.chaos.seed_run.run_seed", slow)
    monkeypatch.setattr("time.time", lambda: clock[0])
    assert carried_out(Campaign(drawn=drawn, seeds=range(100), for_s=6.0), Ahead())[1] == list(range(6))


def test_a_scenario_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str, **_: Any) -> int:
        with path.open("w") as file:
            file.write(text[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    asked, failed = campaign(range(1), tmp_path), SeedResult(seed=0, found=(ResultFinding("isr_complete", "s", "y"),))
    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        with pytest.raises(BadInput, match=r"seed-0\.toml: cannot be written \(No space left on device\); make room"):
            campaigns.write_failing(asked, failed)
    assert list(tmp_path.iterdir()) == []
    path = campaigns.write_failing(asked, failed)
    assert path is not None
    assert Scenario.load(path).description.startswith("Drawn by seed 0")


def test_weights_prefer_kinds_that_reach_what_is_seldom() -> None:
    blocks = [find_kind("pauses")(share=0.4), find_kind("cuts")(share=0.4), find_kind("cluster")()]
    reached = Reached(NAMES)
    for seed in range(40):
        reached.add(seed, packed(NAMES[:2], NAMES), ["cuts"])
        reached.add(seed, packed(NAMES[2:3] if seed % 8 == 0 else (), NAMES), ["pauses"])
    weights = reached.weights(blocks)
    assert set(weights) == {"pauses", "cuts"}
    assert weights["cuts"] > 0.4 > weights["pauses"]
    assert Reached(NAMES).weights(blocks) == {}


def test_a_result_keeps_the_weights_that_it_was_drawn_with() -> None:
    result = SeedResult(seed=3, weights={"cuts": 0.7}, reach="5")
    assert SeedResult.from_line(result.to_line()) == result
    drawn = Drawn(scenario=default_swarm(), weights={"pauses": 1.0, "attrition": 0.0})
    asked = Campaign(drawn=drawn, seeds=range(1), leans=True)
    kinds = asked.kinds_of(SeedResult(seed=2, weights=drawn.weights))
    assert "pauses" in kinds
    assert "attrition" not in kinds
    assert run_seed(drawn, 2).weights == drawn.weights
