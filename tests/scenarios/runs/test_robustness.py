"""A run that does not end is cut off and has failed; a part of the program that raises is named."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from attrs import evolve

from emulator.protocol.events import BecameLeader, Truncated
from scenarios.cli import exits
from scenarios.errors import BadInput, PartFailed
from scenarios.faults.performer import ActionContext, PerformedAction
from scenarios.language import Scenario
from scenarios.language.actions import ACTIONS
from scenarios.language.files import load
from scenarios.language.strategies.strategy_parts import PARTS, StrategyPart
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.checkers import REGISTRY
from scenarios.observe.findings.isr_facts import IsrEmpty
from scenarios.runs import run_scenario
from scenarios.runs.culprits import named_failures
from scenarios.runs.finding import LIVELOCK
from scenarios.runs.findings import findings
from scenarios.studies.chaos.seed_run import TOOL, Drawn, SeedChunk, work
from tests.scenarios.chaos.test_draw import FAST
from tests.scenarios.runs.building import Table, scenario

QUIET: dict[str, Any] = {"brokers": 3, "controller": 2, "assignment": [[0, 1]], "rate": 0}
BUSY = scenario(brokers=3, controller=2, assignment=[[0, 1]], method=[{"at": "8s", "action": "zk.expire", "target": 0}])
DEMOTION: Table = {"at": "2s", "action": "broker.crash", "target": 0, "duration": "8s"}


@pytest.fixture
def watch() -> Iterator[Callable[[type[Checker]], None]]:
    """Lets a checker watch the runs of this test."""
    names: list[str] = []

    def add(kind: type[Checker]) -> None:
        names.append(kind.name)
        REGISTRY[kind.name] = kind

    yield add
    for name in names:
        del REGISTRY[name]


class Raises(Checker):
    """Fails as it sees its event. Verified: nothing. Not verified: everything."""

    name: ClassVar[str] = "raises"
    ids: ClassVar[tuple[str, ...]] = ("Z1",)
    statement: ClassVar[str] = "nothing"

    def on_leader(self, event: BecameLeader) -> None:
        raise ZeroDivisionError("of no use")


class RaisesAtTruncation(Raises):
    """A fetcher catches the exceptions of its log, among which this one must not be."""

    name: ClassVar[str] = "raises_at_truncation"

    def on_leader(self, event: BecameLeader) -> None:
        """Watch another event instead."""

    def on_truncated(self, event: Truncated) -> None:
        raise ZeroDivisionError("of no use")


class RaisesAtTheEnd(Raises):
    """Fails where it is asked for what it found."""

    name: ClassVar[str] = "raises_at_the_end"

    def on_leader(self, event: BecameLeader) -> None:
        """Nothing."""

    def finish(self) -> None:
        raise ZeroDivisionError("of no use")


def test_a_run_of_more_events_than_allowed_is_cut_off_and_has_failed() -> None:
    wanted = evolve(BUSY, max_events=1000)
    run = run_scenario(wanted)
    assert (run.verdict, run.reason) == ("failed", LIVELOCK)
    [found] = findings(run)
    assert found.checker == LIVELOCK
    assert found.state.startswith("max_events reached: 1,000 events by ")
    assert run.explanation.startswith("FAILED: max_events reached: 1,000 events")
    assert f"--seed {run.seed}" in run.explanation
    assert not run.convergence.to_json()["converged"]
    again = run_scenario(wanted)
    assert (again.digest, again.virtual_s) == (run.digest, run.virtual_s)
    json.dumps(run.to_json())


def test_what_was_violated_before_is_reported_beside_it(watch: Callable[[type[Checker]], None]) -> None:
    class Objects(Raises):
        name: ClassVar[str] = "objects"

        def on_leader(self, event: BecameLeader) -> None:
            self.violated(event, IsrEmpty(event.leader_epoch))

    watch(Objects)
    run = run_scenario(evolve(BUSY, max_events=1000))
    assert [found.checker for found in findings(run)] == [LIVELOCK, "objects"]


def test_time_that_stands_still_is_a_livelock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emulator.kernel.world.LIVELOCK", 20_000)

    def again(context: ActionContext) -> None:
        world = context.cluster.world
        world.call_later(0, lambda _: again(context))

    monkeypatch.setattr(ACTIONS["zk.expire"], "perform", lambda _self, context: again(context))
    run = run_scenario(scenario(**QUIET, method=[{"at": "3s", "action": "zk.expire", "target": 0}]))
    assert run.reason == LIVELOCK
    assert run.cut_off == "a livelock: more than 20,000 events at 3.000000 s of virtual time"
    assert run.virtual_s == 3


@pytest.mark.parametrize("kind", [Raises, RaisesAtTheEnd])
def test_a_checker_that_raises_is_named(
    kind: type[Checker], watch: Callable[[type[Checker]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    watch(kind)
    with pytest.raises(PartFailed, match=f"checker '{kind.name}' failed: ZeroDivisionError: of no use .line") as raised:
        run_scenario(scenario(**QUIET))
    assert raised.value.part == f"checker '{kind.name}'"
    assert exits.explain(raised.value) == exits.TOOL_FAILED
    assert capsys.readouterr().err.startswith(f"understudy: checker '{kind.name}' failed: ZeroDivisionError: of no use")


def test_no_emulated_code_takes_it_for_a_failure_of_its_own(watch: Callable[[type[Checker]], None]) -> None:
    """A follower that truncates under another leader fails the partition where its log raises (KIP-461)."""
    watch(RaisesAtTruncation)
    pause: Table = {"at": "2s", "action": "broker.pause", "target": 1, "duration": "12s"}
    cut: Table = {"at": "1s", "action": "link.cut", "target": 1, "peer": 0, "duration": "6s"}
    old = scenario(brokers=3, controller=2, assignment=[[0, 1]], acks="1", method=[cut, DEMOTION, pause])
    with pytest.raises(PartFailed, match="checker 'raises_at_truncation' failed"):
        run_scenario(evolve(old, profile="kafka-0.8"))


def test_an_action_that_raises_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(self: PerformedAction, context: ActionContext) -> None:
        raise LookupError("there is none")

    monkeypatch.setattr(ACTIONS["zk.expire"], "perform", perform)
    with pytest.raises(PartFailed, match=r"action 'zk.expire' failed: LookupError: there is none"):
        run_scenario(scenario(**QUIET, method=[{"at": "3s", "action": "zk.expire", "target": 0}]))


@pytest.mark.parametrize(
    ("axis", "name", "what"),
    [("order", "wrong", "TypeError: 'NoneType' object"), ("admission", "wrong-3", "TypeError: 'NoneType' object")],
)
def test_a_part_of_a_strategy_that_gives_back_nothing_is_named(
    axis: str, name: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rule(*_: Any, **__: Any) -> Any:
        return None

    stem = name.replace("-3", "-N")
    monkeypatch.setitem(PARTS, stem, StrategyPart(stem, axis, "gives back nothing", rule))
    with pytest.raises(PartFailed, match=f"{axis} {name!r} failed: {what}"):
        load("quick-move").run(strategy=f"wiki+{name}")


def test_a_plug_in_is_named_with_its_file(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from scenarios import plugins

    file = tmp_path / "mine.py"
    file.write_text("def fail(event):\n    raise ValueError('mine')\n")
    monkeypatch.setattr(plugins, "_LOADED", {})
    plugins.load([str(file)])
    module = __import__("sys").modules["understudy_plugin_mine"]
    with (
        pytest.raises(PartFailed, match=f"plug-in {file} failed: ValueError: mine .line 2 of mine.py"),
        named_failures(),
    ):
        module.fail(None)


def test_other_exceptions_stay_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), named_failures():
        raise ZeroDivisionError
    with pytest.raises(BadInput), named_failures():
        raise ExceptionGroup("tasks", [BadInput("wrong")])


def test_a_campaign_goes_on_past_a_part_that_raises(watch: Callable[[type[Checker]], None]) -> None:
    watch(Raises)
    results = work(SeedChunk(Drawn(scenario=Scenario.loads(FAST)), (1, 2)))
    assert [result.seed for result in results] == [1, 2]
    for result in results:
        [found] = result.found
        assert (found.checker, found.statement) == (TOOL, "checker 'raises' does not raise exceptions")
        assert found.state.startswith("checker 'raises' failed: ZeroDivisionError: of no use (line ")


def test_its_name_crosses_processes() -> None:
    error = PartFailed("checker 'x'", "ValueError: 1 (line 2 of x.py)")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.part) == (str(error), error.part)
