"""The oracle accepts what the emulator does, refuses what an injected bug does, and quotes the specification."""

import re

import pytest
from attrs import evolve

from scenarios.chaos.draw import default_swarm
from scenarios.errors import BadInput
from scenarios.language.files import load
from scenarios.museum.exhibits import exhibit
from scenarios.observe.specification import (
    Sentence,
    fencing,
    isr_rules,
    logs,
    move_rules,
    request_rules,
    rest_rules,
    state_machines,
    step_rules,
)
from scenarios.observe.specification.constants import RELEASES, release_of
from scenarios.profiles import PROFILES
from scenarios.runs import run_scenario
from scenarios.runs.run import Run
from tests.workers import ROOT

LIBRARY = ROOT / "scenarios" / "library"
QUICK = (
    "broker-loses-its-network", "controller-dies-mid-move", "leader-dies-mid-move", "old-leader-hears-late",
    "reassign-cancel", "reassign-override", "unclean-election", "kafka-42-replica-never-starts", "follower-cut-off",
)  # fmt: skip
RULES = (fencing, isr_rules, logs, state_machines, move_rules, request_rules, step_rules, rest_rules)
SENTENCES = list(
    dict.fromkeys(
        one
        for module in RULES
        for value in vars(module).values()
        for one in (value.values() if isinstance(value, dict) else [value])
        if type(one) is Sentence
    )
)

REFUSED = {
    "KAFKA-1028": "ElectForOffline",
    "KAFKA-1097": "MayJoin",
    "KAFKA-2143": "TruncateToEpochEndOffset",
    "KAFKA-3919": "TruncateToEpochEndOffset",
    "KAFKA-708": "ToOffline",
    "KAFKA-7128": "MayJoin",
    "KAFKA-7152": "ShrinkIsr",
    "KAFKA-7164": "TruncateToEpochEndOffset",
    "KAFKA-9769": "BecomeLeaderOrFollower",
    "KAFKA-10301": "LeaderAppends",
    "KIP-101": "TruncateToEpochEndOffset",
    "KIP-279": "TruncateToEpochEndOffset",
    "KAFKA-1096": "Decide",
    "KAFKA-1382": "Fetch",
    "KAFKA-4447": "MoveNotLost",
    "KAFKA-6082": "MayWrite",
    "KAFKA-6193": "RaiseEpochAndTell",
    "KAFKA-9212": "Decide",
}
"""Bugs of the museum, with an action of the specification that their case breaks."""


def held(run: Run) -> None:
    assert not run.rejections, "\n".join(map(str, run.rejections))


@pytest.mark.parametrize("name", QUICK)
def test_a_scenario_of_the_library_is_in_the_specification(name: str) -> None:
    held(run_scenario(load(str(LIBRARY / f"{name}.toml")), against_specification=True))


@pytest.mark.parametrize("profile", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7", "kafka-3.9"])
def test_a_seed_of_the_default_swarm_is_in_the_specification(profile: str) -> None:
    held(run_scenario(default_swarm(), seed=4, profile=profile, against_specification=True))


@pytest.mark.parametrize("bug", REFUSED)
def test_an_injected_bug_is_refused_and_its_case_without_it_is_not(bug: str) -> None:
    case = exhibit(bug).scenario
    broken = run_scenario(case, against_specification=True)
    assert REFUSED[bug] in {one.sentence.action for one in broken.rejections}
    held(run_scenario(evolve(case, bugs=()), against_specification=True))


def test_a_rejection_says_the_event_the_guard_the_sentence_and_the_state_before() -> None:
    [first, *_] = run_scenario(exhibit("KAFKA-7128").scenario, against_specification=True).rejections
    assert str(first) == (
        "MayJoin of Isr: end >= p.start \\/ JoinsBelowEpochStart; at 13.719164 s, event 1289, IsrProposed of orders-0: "
        "1 proposes [1, 2, 3]: 3 is at 1580, and the epoch starts at 1600; who joins the ISR has all from before the "
        "leader's epoch; before: broker 1 leads epoch 1, ISR [1, 2], version 2, log up to 1600, high watermark 1580; "
        "broker 3 follows 1 in epoch 1, fetching, log up to 1580, high watermark 1580"
    )
    assert first.to_json()["guard"] == "end >= p.start \\/ JoinsBelowEpochStart"


def test_the_events_of_a_run_do_not_depend_on_it() -> None:
    scenario = load(str(LIBRARY / "leader-dies-mid-move.toml"))
    with_it, without = run_scenario(scenario, against_specification=True), run_scenario(scenario)
    assert with_it.digest == without.digest
    assert without.rejections == ()


def test_a_sampled_run_is_not_held_against_it() -> None:
    sampled = evolve(load(str(LIBRARY / "quick-move.toml")), fidelity="sampled")
    with pytest.raises(BadInput, match="leave out --sampled"):
        run_scenario(sampled, against_specification=True)


@pytest.mark.parametrize("sentence", SENTENCES, ids=lambda one: f"{one.action}-{one.guard[:20]}")
def test_a_sentence_stands_in_its_module(sentence: Sentence) -> None:
    text = (ROOT / "docs" / "specification" / f"{sentence.module}.tla").read_text(encoding="utf-8")
    operator = re.search(rf"^{sentence.action}\b.*?==(.*?)(?=^\w+(\([^)]*\))? ==|^=====)", text, re.M | re.S)
    assert operator is not None, f"{sentence.module} has no {sentence.action}"
    assert _words(sentence.guard) in _words(operator[0]), sentence


def _words(text: str) -> str:
    return " ".join(text.replace("/\\", " ").split())


def test_a_profile_has_the_constants_of_the_nearest_release_that_was_read() -> None:
    nearest = {profile.name: release_of(profile.release) for profile in PROFILES.values()}
    assert {*nearest.values()} <= {*RELEASES}
    assert nearest["kafka-2.3"] == nearest["wiki-text"] == "2.3.1"
    assert (nearest["kafka-0.8"], nearest["kafka-2.6"], nearest["kafka-3.3"]) == ("0.8.0", "2.6.0", "2.7.2")
