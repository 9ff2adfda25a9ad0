"""Shrinking: what is found gives the same finding, and cannot be shrunk any more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.expect import Expect
from scenarios.observe.findings.convergence_facts import Condition
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.studies.shrink import Limits, Shrinker, Shrunk, Size
from scenarios.studies.shrink.measure import healing, standing
from scenarios.studies.shrink.shrinking_state import State
from scenarios.studies.shrink.trial import Trial, found_in, gives

FINDING = Finding("leader_in_isr")


def noisy(**more: Any) -> Scenario:
    """KAFKA-1028, 0.8: the last in-sync replica that stops leaves an empty ISR; and much besides that."""
    table: dict[str, Any] = {
        "title": "a lot happens",
        "profile": "kafka-0.8",
        "seed": 7,
        "horizon": "30s",
        "cluster": {
            "brokers": 5,
            "controller": 4,
            "network": {"jitter": "200us"},
            "config": {"num.replica.fetchers": 2},
        },
        "strategy": {"name": "kafka-42"},
        "topics": [
            {"name": "orders", "partitions": 2, "replication_factor": 2},
            {"name": "clicks", "assignment": [[3, 4]], "size": "64KiB"},
        ],
        "workloads": [{"topic": "orders", "producerRate": 10, "stop": "9s"}, {"topic": "clicks", "producerRate": 10}],
        "consumers": [{"topic": "clicks"}],
        "method": [
            {"at": "2s", "action": "link.delay", "target": 3, "delay": {"latency": "2ms"}, "duration": "4s"},
            {"at": "3s", "action": "broker.crash", "target": 1, "duration": "20s"},
            {"after": "2s", "action": "zk.expire", "target": 3},
            {"at": "12s", "action": "broker.crash", "for_each": [2, 0], "next": "4s"},
            {"at": "25s", "action": "heal"},
        ],
        **more,
    }  # fmt: skip
    return Scenario.from_table(table)


def less_noisy() -> Scenario:
    """The noisy scenario with less besides the failure, so that each run is short."""
    table = noisy().to_table()
    del table["consumers"], table["workloads"]
    table |= {
        "cluster": {"brokers": 3, "controller": 2},
        "topics": [{"name": "orders", "partitions": 2, "replication_factor": 2}],
        "horizon": "16s",
        "method": [
            {"at": "2s", "action": "broker.pause", "target": 2, "duration": "1s"},
            {"at": "3s", "action": "broker.crash", "target": 1},
            {"after": "1s", "action": "zk.expire", "target": 2},
            {"at": "8s", "action": "broker.controlled_shutdown", "target": 0},
        ],
    }
    return Scenario.from_table(table)


def test_what_is_left_is_small_and_gives_the_same_finding() -> None:
    scenario = less_noisy()
    found = next(one for one in findings(scenario.run()) if one.checker == FINDING.checker)
    shrunk = Shrinker(scenario, found, Limits(runs=45)).shrink()
    assert shrunk.after <= Size(faults=1, partitions=1, brokers=2, replicas=1, clients=0, lines=20)
    again = Scenario.loads(shrunk.scenario.to_toml())
    assert again == shrunk.scenario
    assert found in findings(again.run())


def test_a_scenario_without_the_finding_is_refused() -> None:
    with pytest.raises(BadInput, match="nothing to shrink"):
        Shrinker(less_noisy(), Finding("log_matching")).shrink()


def test_what_nothing_explains_does_not_become_a_case_of_what_is_known() -> None:
    """A replica of 0.8 that is not assigned joins the ISR, which is known, and with another replica it is not."""
    known = Trial(json.dumps(less_noisy().to_table()), FINDING.rule)
    (found,) = (one for one in findings(less_noisy().run()) if one.checker == FINDING.checker)
    assert gives(known._replace(finding=found))
    assert not gives(known._replace(finding=found, by_itself=True))


@pytest.mark.parametrize("needed", [["KAFKA-7128"], []])
def test_a_bug_that_the_finding_does_not_need_goes(needed: list[str]) -> None:
    scenario = noisy(profile="kafka-2.3", strategy={"name": "wiki"}, bugs=["KAFKA-6082", "KAFKA-7128"])

    def shows(trial: Trial) -> bool:
        return set(needed) <= set(json.loads(trial.document).get("bugs", []))

    assert list(Shrinker(scenario, FINDING, gives=shows).shrink().scenario.bugs) == needed


def test_time_that_is_allowed_stays() -> None:
    scenario = noisy(expect=[{"converged": True, "within": "2m"}])
    shrunk = Shrinker(scenario, FINDING, gives=lambda trial: "within" in trial.document).shrink()
    assert shrunk.scenario.to_table()["expect"] == [{"converged": True, "within": "2m"}]


@pytest.mark.parametrize(
    ("finding", "left"),
    [
        (Finding("converged", Condition.NOTHING_ASKED), ["heal"]),
        (Finding("expectation", Expect(converged=True)), ["heal"]),
        (FINDING, []),
    ],
)
def test_what_heals_the_cluster_stays_where_it_should_get_well(finding: Finding, left: list[str]) -> None:
    """Without it the run would fail for another reason: the faults that are left go on."""
    scenario = noisy(rollbacks=[{"action": "broker.start", "target": 1}])
    shrunk = Shrinker(scenario, finding, Limits(runs=60), gives=lambda _trial: True).shrink()
    assert [entry.name for entry in shrunk.scenario.method] == left
    assert bool(shrunk.scenario.rollbacks) is bool(left)


@pytest.mark.parametrize(("checker", "lasts"), [("converged", False), ("leader_in_isr", True)])
def test_a_fault_that_ends_does_not_become_one_that_stays(checker: str, lasts: bool) -> None:
    method = [
        {"at": "3s", "action": "broker.crash", "target": 1, "duration": "20s"},
        {"at": "4s", "action": "link.cut", "target": 0, "peer": 2},
        {"at": "5s", "action": "link.heal", "target": 0},
    ]

    def shows_it(trial: Trial) -> bool:
        return "broker.crash" in trial.document and "link.cut" in trial.document

    found = Shrinker(noisy(method=method), Finding(checker), gives=shows_it).shrink()
    assert standing(found.scenario.to_table()) == (2 if lasts else 0)


@pytest.mark.parametrize(("horizon", "does"), [("55s", {"heal", "time"}), ("54s", {"heal"})])
def test_the_time_to_get_well_ends_before_the_horizon(horizon: str, does: set[str]) -> None:
    table = noisy(horizon=horizon, expect=[{"converged": True, "within": "30s"}]).to_table()
    assert healing(table) == does


def test_an_exception_of_the_program_is_a_finding_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("a defect\nwith details")

    monkeypatch.setattr("scenarios.faults.actions.brokers.ZkExpire.perform", fails)
    (found,) = found_in(less_noisy())
    assert (found.checker, found.statement, found.state) == (
        "tool", "the program does not raise RuntimeError", "a defect"
    )  # fmt: skip
    shrunk = Shrinker(less_noisy(), found, Limits(runs=20)).shrink()
    assert [entry.name for entry in shrunk.scenario.method] == ["zk.expire"]


# -- without runs: the finding is what a table holds ------------------------------------------------------------------

_ACTIONS = st.sampled_from(["broker.crash", "broker.pause", "zk.expire", "broker.start"])
_ENTRIES = st.lists(
    st.fixed_dictionaries(
        {"at": st.sampled_from(["1s", "2500ms", "17s", "28s"]), "action": _ACTIONS, "target": st.integers(0, 3)}
    ),
    max_size=8,
)


def _fake(kind: str, acts: tuple[str, ...]) -> Any:
    """A finding that needs one entry of each action, and as many brokers as the highest id of ``kind``."""

    def gives(trial: Trial) -> bool:
        table = json.loads(trial.document)
        names = [entry["action"] for entry in table.get("method", ())]
        return all(act in names for act in acts) and any(load["topic"] == kind for load in table.get("workloads", ()))

    return gives


@given(entries=_ENTRIES, kind=st.sampled_from(["orders", "clicks"]), needed=st.integers(0, 3))
@settings(max_examples=10, deadline=None)
def test_whatever_the_finding_needs_stays_and_all_else_goes(entries: list[Any], kind: str, needed: int) -> None:
    acts = tuple(sorted({entry["action"] for entry in entries}))[:needed]
    gives = _fake(kind, acts)
    scenario = noisy(method=entries)
    shrunk = Shrinker(scenario, FINDING, gives=gives).shrink()
    assert gives(Trial(json.dumps(shrunk.scenario.to_table()), FINDING.rule))
    assert sorted(entry.name for entry in shrunk.scenario.method) == sorted(acts)
    assert shrunk.after == Size(len(acts), 1, 1, 1, 1, shrunk.after.lines)
    assert Shrinker(shrunk.scenario, FINDING, gives=gives).shrink().scenario == shrunk.scenario


def _interrupted(path: Path, runs: int, gives: Any, jobs: int = 1) -> Shrunk:
    state = State.at(path, "the same")
    return Shrinker(noisy(), FINDING, Limits(runs=runs, jobs=jobs), state, gives=gives).shrink()


def test_an_interrupted_shrinking_goes_on_to_the_same_end(tmp_path: Path) -> None:
    gives = _fake("orders", ("broker.crash",))
    whole = Shrinker(noisy(), FINDING, gives=gives).shrink()
    path = tmp_path / "state"
    parts = [_interrupted(path, 7, gives)]
    while not parts[-1].finished:
        parts.append(_interrupted(path, 7, gives))
    assert len(parts) > 2
    assert parts[-1].scenario == whole.scenario
    assert parts[-1].runs <= whole.runs + len(parts), "nothing was tried twice"
    assert not path.exists()


def test_the_state_of_another_scenario_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    _interrupted(path, 7, _fake("orders", ("broker.crash",)))
    before = path.read_bytes()
    with pytest.raises(BadInput, match=r"holds another shrinking .*; delete it, or name another file with --out"):
        State.at(path, "another")
    assert path.read_bytes() == before


def needs_a_crash(trial: Trial) -> bool:
    """A module's function, for workers in other processes."""
    return _fake("orders", ("broker.crash",))(trial) is True


@pytest.mark.slow
def test_two_jobs_find_what_one_finds(tmp_path: Path) -> None:
    one, two = (Shrinker(noisy(), FINDING, Limits(jobs=jobs), gives=needs_a_crash).shrink() for jobs in (1, 2))
    assert one.scenario == two.scenario


def test_a_branch_is_shrunk_away_or_with_its_entries() -> None:
    """The finding comes from the entries of a branch: these move into the method, or stay as few."""
    table = noisy().to_table()
    method = table.pop("method")
    first = {**method[1], "after": "500ms"}
    del first["at"]
    branch = {"at": "2500000us", "seed": 5, "method": [first, *method[2:]]}
    scenario = Scenario.from_table({**table, "method": method[:1] + method[3:], "branches": [branch]})
    assert FINDING in found_in(scenario)
    shrunk = Shrinker(scenario, FINDING, Limits(runs=60)).shrink()
    assert FINDING in found_in(shrunk.scenario)
    assert shrunk.after.faults < shrunk.before.faults
    assert shrunk.after.lines < shrunk.before.lines


def test_what_a_branch_drops_is_no_fault() -> None:
    table = noisy().to_table()
    table["branches"] = [{"at": "11s", "seed": 1, "method": [{"at": "20s", "action": "heal"}]}]
    with_one = Size.of({**table, "topics": []})
    assert with_one.faults == 3
    assert healing(table) == {"heal"}
    table["branches"][0]["method"] = []
    assert healing(table) == frozenset()
