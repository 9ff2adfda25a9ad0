"""TLC's output is read as figures; and TLC, where it is, finds in small configurations what is known."""

from pathlib import Path

import pytest
from attrs import evolve

from benchmarks.specification.__main__ import main, missed, row
from benchmarks.specification.checker import SPECIFICATION, Checked, check, checker, read
from benchmarks.specification.configurations import Configuration
from benchmarks.specification.kept import Kept
from benchmarks.specification.questions import CONFIGURATIONS
from benchmarks.specification.scenario_file import Moment, moments, scenario
from scenarios.language import Scenario

BY_NAME = {one.name: one for one in CONFIGURATIONS}
STALE = BY_NAME["kafka-2.3.1-kafka-9212"]

HOLDS = """Progress(16) at 2026-11-29 02:35:08: 1,665 states generated (9 s/min), 588 distinct states found (9 ds/min)
Model checking completed. No error has been found.
15049 states generated, 4603 distinct states found, 0 states left on queue.
The depth of the complete state graph search is 33.
"""
BREAKS = """Error: Invariant MetadataFresh is violated.
Error: The behavior up to this point is:
State 1: <Initial predicate>
/\\ zk = 1
State 2: <ToolAsksForMove line 22, col 3 to line 25, col 50 of module Controller>
17 states generated, 10 distinct states found, 1 states left on queue.
The depth of the complete state graph search is 6.
"""
CUT_OFF = "Progress(24) at 02:43:45: 2,880,953 states generated (9 s/min), 564,389 distinct states found (9 ds/min)"


def test_a_check_that_ends_without_a_find_is_read() -> None:
    checked = read(HOLDS, 5.0, STALE)
    assert checked == Checked(4603, 15049, 33, 5.0, True, None, ())
    assert list(missed(STALE, checked)) == [f"{STALE.name} found nothing instead of MetadataFresh"]


def test_a_counterexample_is_read_with_its_steps() -> None:
    checked = read(BREAKS, 5.0, STALE)
    assert (checked.violated, checked.steps) == ("MetadataFresh", ("Initial", "ToolAsksForMove"))
    assert not list(missed(STALE, checked))
    assert row(STALE, checked)[-1] == "not MetadataFresh, in 1 step"
    assert list(missed(BY_NAME["wiki-as-meant-records"], checked))


def test_a_broken_property_of_behaviours_is_read() -> None:
    ends = BY_NAME["wiki-as-meant-ends"]
    text = BREAKS.replace("Invariant MetadataFresh is violated", "Temporal properties were violated")
    assert read(text, 5.0, ends).violated == "MovesEnd"


def test_a_check_that_was_cut_off_is_said_so() -> None:
    checked = read(CUT_OFF, 60.0, STALE)
    assert (checked.states, checked.finished) == (564_389, False)
    assert list(missed(STALE, checked)) == [f"{STALE.name} did not end"]
    assert row(STALE, checked)[-1] == "did not end"


def test_what_is_no_check_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"TLC cannot check kafka-2\.3\.1-kafka-9212"):
        read("Error: Parsing or semantic analysis failed.", 1.0, STALE)


def test_an_unknown_configuration_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])
    assert "no such configuration; there are wiki-as-meant-failover" in capsys.readouterr().err


def test_what_was_found_is_kept_for_the_same_text_only(tmp_path: Path) -> None:
    file = tmp_path / "found.jsonl"
    checked = read(BREAKS, 5.0, STALE)
    assert Kept(file).keep(STALE, checked) == checked
    assert Kept(file).found(STALE) == checked
    assert Kept(file).found(evolve(STALE, asks="the same, asked otherwise")) == checked
    assert Kept(file).found(evolve(STALE, corrected=("CachedLeadershipStale",))) is None
    assert Kept(None).found(STALE) is None
    Kept(file).keep(STALE, read(CUT_OFF, 5.0, STALE))
    assert Kept(file).found(STALE) is None, "what did not end is run again"


@pytest.mark.java
@pytest.mark.slow
def test_tlc_finds_the_stale_epoch_where_the_release_has_it_and_not_where_it_is_corrected() -> None:
    class_path = _class_path()
    assert check(STALE, class_path, 60).violated == "MetadataFresh"
    corrected = Configuration(
        name="corrected", asks="2.3.1 with KAFKA-9212's fix", release="2.3.1", corrected=("CachedLeadershipStale",),
        invariants=("MetadataFresh",), after="13",
    )  # fmt: skip
    checked = check(corrected, class_path, 120)
    assert checked.finished
    assert checked.violated is None


@pytest.mark.java
@pytest.mark.slow
def test_tlc_finds_two_writers_only_before_writes_were_fenced() -> None:
    class_path = _class_path()
    zombie = BY_NAME["kafka-1.1.1-zombie"]
    assert check(zombie, class_path, 60).violated == "OneWriter"


def _class_path() -> str:
    try:
        return checker()
    except LookupError as missing:
        pytest.skip(f"{missing}; python -m benchmarks.specification --fetch")


COURSE = """Error: Invariant LeaderCompleteness is violated.
State 1: <Initial predicate>
/\\ alive = <<TRUE, TRUE, TRUE>>
State 2: <ToolAsksForMove line 22, col 3 of module Controller>
/\\ alive = <<TRUE, TRUE, TRUE>>
State 3: <WikiSteps5To7 line 22, col 3 of module Wiki>
/\\ alive = <<TRUE, TRUE, TRUE>>
State 4: <HandleRequest line 22, col 3 of module Fencing>
/\\ alive = <<TRUE, TRUE, TRUE>>
State 5: <LeaderAppends line 22, col 3 of module Isr>
/\\ alive = <<TRUE, TRUE, TRUE>>
State 6: <BrokerDies line 22, col 3 of module Fencing>
/\\ alive = <<TRUE, FALSE, TRUE>>
State 7: <ControllerDies line 22, col 3 of module Fencing>
/\\ alive = <<TRUE, FALSE, TRUE>>
17 states generated, 10 distinct states found, 1 states left on queue.
"""


def test_a_counterexample_becomes_a_scenario_file() -> None:
    loss = BY_NAME["kafka-2.3.1-step-7-loss"]
    asked = Scenario.loads(scenario(loss, moments(COURSE)), source="loss.toml")
    by_hand = Scenario.loads(
        (SPECIFICATION / "kafka-2.3.1-step-7-loss.toml").read_text(encoding="utf-8"), source="by-hand.toml"
    )
    assert [entry.action for entry in asked.method] == [entry.action for entry in by_hand.method]
    assert [one.invariant for one in asked.expect] == ["no_acked_record_lost"]
    assert (asked.profile, asked.strategy.name, len(asked.workloads)) == ("kafka-2.3", "wiki", 2)


def test_a_controller_that_dies_with_its_requests_dies_at_the_step() -> None:
    untold = [one for one in moments(COURSE) if one.action not in ("HandleRequest", "BrokerDies", "LeaderAppends")]
    text = scenario(BY_NAME["kafka-2.3.1-stray"], untold)
    assert 'when = { step = "wiki.7", edge = "after", partition = "orders-0" }\naction = "controller.crash"' in text
    assert "link.cut" not in text


def test_what_no_action_brings_about_is_said() -> None:
    with pytest.raises(LookupError, match="ShrinkIsr has no action"):
        scenario(STALE, [*moments(COURSE), Moment("ShrinkIsr", frozenset())])
