"""The oracle accepts what the emulator does, refuses what an injected bug does, and quotes the specification."""

import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any, NamedTuple

import pytest
from attrs import evolve

from brokers.log.leader_epoch_cache import LeaderEpochFileCache
from emulator.protocol.errors import Errors
from emulator.protocol.events import IsrUpdateFailed
from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from fetchers.truncation import Kip279
from scenarios.chaos.draw import default_swarm
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.museum.exhibits import exhibit
from scenarios.observe.history.history import History
from scenarios.observe.history.settings_history import StartSettings
from scenarios.observe.past.cluster_past import Past, PastReplay
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
from scenarios.observe.specification.logs import Logs
from scenarios.observe.specification.replica import Replica
from scenarios.observe.specification.variables import Variables
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


WITHOUT_A_LEADER = """
schema = "scenario/1"
title = "a partition that has never had a leader is to be moved"
profile = "kafka-2.4"
horizon = "1m"
[cluster]
brokers = 3
controller = 0
[[topics]]
name = "orders"
assignment = [[0, 1]]
[plan]
partitions = [{ topic = "late", partition = 0, replicas = [1] }]
[[method]]
at = "1s"
action = "broker.crash"
target = 2
[[method]]
after = "20s"
action = "topic.create"
topic = { name = "late", assignment = [[2]] }
[[method]]
after = "1s"
action = "reassign.execute"
[[rollbacks]]
action = "broker.start"
target = 2
"""
ONCE_REFUSED = (
    ("kafka-0.8", 21), ("kafka-0.8", 65), ("kafka-0.8", 98), ("kafka-1.1", 63), ("kafka-1.1", 73), ("kafka-1.1", 86),
    ("kafka-1.1", 90), ("kafka-2.4", 12), ("kafka-2.4", 30), ("kafka-2.4", 57), ("kafka-2.4", 64), ("kafka-2.4", 66),
    ("kafka-3.9", 26), ("kafka-3.9", 32), ("kafka-3.9", 34), ("kafka-3.9", 41), ("kafka-0.8", 6), ("kafka-3.9", 1),
    ("kafka-3.9", 512), ("kafka-3.9", 513),
)  # fmt: skip
"""Seeds that were refused until the oracle or the specification was corrected."""


def held(run: Run) -> None:
    assert not run.rejections, "\n".join(map(str, run.rejections))


@pytest.mark.parametrize("name", QUICK)
def test_a_scenario_of_the_library_is_in_the_specification(name: str) -> None:
    held(run_scenario(load(str(LIBRARY / f"{name}.toml")), against_specification=True))


@pytest.mark.parametrize("profile", ["kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7", "kafka-3.9"])
def test_a_seed_of_the_default_swarm_is_in_the_specification(profile: str) -> None:
    held(run_scenario(default_swarm(), seed=4, profile=profile, against_specification=True))


@pytest.mark.parametrize("profile", ["kafka-2.3", "kafka-2.4"])
def test_a_request_goes_whose_move_fails_as_its_partition_has_no_state(profile: str) -> None:
    written: list[str] = []

    def see(chunk: list[Any]) -> None:
        written.extend(f"{one.op} {one.path}" for one in chunk if type(one) is ZkWritten)

    scenario = Scenario.loads(WITHOUT_A_LEADER, source="late.toml")
    strategy = PROFILES[profile].strategy
    held(run_scenario(scenario, profile=profile, strategy=strategy, on_event=see, against_specification=True))
    refused = written.index("delete /admin/reassign_partitions")
    assert refused < written.index("create /brokers/topics/late/partitions/0/state")


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "seed"), ONCE_REFUSED)
def test_a_seed_that_was_refused_is_in_the_specification(profile: str, seed: int) -> None:
    held(run_scenario(default_swarm(), seed=seed, profile=profile, against_specification=True))


class Epochs(NamedTuple):
    """A follower's log, of which the rule reads the end and the epochs."""

    entries: tuple[tuple[int, int], ...]
    log_end_offset: int
    log_start_offset: int = 0

    @property
    def latest_epoch(self) -> int:
        return self.entries[-1][0]

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        return LeaderEpochFileCache(self.entries).end_offset_for(epoch, self.log_end_offset)


def caches(epochs: int = 3, end: int = 3) -> Iterator[tuple[tuple[int, int], ...]]:
    """All leader epoch caches of a log with three records, of which the last epoch may have none."""
    for size in range(1, epochs + 1):
        for known in combinations(range(epochs), size):
            for starts in combinations(range(1, end + 1), size - 1):
                yield tuple(zip(known, (0, *starts), strict=True))


def test_a_cut_is_where_the_rule_of_the_release_has_it() -> None:
    """Two readings of ``getOffsetTruncationState`` and ``endOffsetFor``, over all pairs of small caches."""
    replay: Any = PastReplay()
    history = History(replay, Past(replay), StartSettings())
    logs, rule, end = Logs(Variables(history, frozenset(), other_hops=False)), Kip279(), 3
    for mine, its in product(caches(), caches()):
        leader, follower = Replica(1), Replica(2)
        leader.epoch = leader.latest = 3
        leader.cache, leader.end = [*its, (3, end)], end
        follower.cache, follower.latest, follower.end = [*mine], mine[-1][0], end
        known, upto = LeaderEpochFileCache((*its, (3, end))).end_offset_for(follower.latest, end)
        log: Any = Epochs(mine, end)
        cut = rule.cut(log, EpochEndOffset(TopicPartition.of("t", 0), Errors.NONE, known, upto), 0)
        assert logs._cut(follower, leader, 0) == cut.offset, (mine, its)


@pytest.mark.parametrize("bug", REFUSED)
def test_an_injected_bug_is_refused_and_its_case_without_it_is_not(bug: str) -> None:
    case = exhibit(bug).scenario
    broken = run_scenario(case, against_specification=True)
    assert REFUSED[bug] in {one.sentence.action for one in broken.rejections}
    held(run_scenario(evolve(case, bugs=()), against_specification=True))


@pytest.mark.parametrize("profile", ["kafka-1.1", "kafka-2.3"])
def test_a_leader_whose_session_expires_does_not_learn_of_its_write(profile: str) -> None:
    case = (ROOT / "scenarios/museum/cases/KAFKA-1382.toml").read_text()
    expires = '"message.cut"\n[[method]]\nafter = "1ms"\naction = "zk.expire"\ntarget = 0\n'
    unseen = '[[method]]\nat = "1s"\naction = "broker.pause"\ntarget = 2\n\n[[method]]\nwhen'
    case = case.replace('bugs = ["KAFKA-1382"]\n', "").replace('"message.cut"\n', expires)
    case = case.replace("[[method]]\nwhen", unseen)
    failed: list[str] = []

    def see(chunk: list[Any]) -> None:
        failed.extend(one.topic for one in chunk if type(one) is IsrUpdateFailed)

    scenario = Scenario.loads(case, source="expires.toml")
    held(run_scenario(scenario, profile=profile, on_event=see, against_specification=True))
    assert failed


def test_a_rejection_says_the_event_the_guard_the_sentence_and_the_state_before() -> None:
    [first, *_] = run_scenario(exhibit("KAFKA-7128").scenario, against_specification=True).rejections
    assert str(first) == (
        "MayJoin of Isr: end >= p.start \\/ JoinsBelowEpochStart; "
        f"at 13.719164 s, event {first.seq}, IsrProposed of orders-0: "
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
