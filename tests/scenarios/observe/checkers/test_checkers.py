"""The frame around the checkers: names, subscriptions, what is remembered, what it costs."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, ClassVar

import pytest

from emulator.protocol import events as e
from scenarios.errors import BadInput
from scenarios.observe.checkers import REGISTRY, Checker, register
from scenarios.observe.checkers_page import catches
from scenarios.observe.history.replica_logs import ReplicaLogs
from scenarios.observe.history.subscriptions import subscriptions
from scenarios.observe.invariants import INVARIANTS
from scenarios.observe.past.changes import StateWritten
from scenarios.profiles.tickets import TICKETS
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def test_scenarios_may_expect_exactly_the_checkers_there_are() -> None:
    assert set(REGISTRY) == set(INVARIANTS)


def test_reading_scenarios_imports_no_checker() -> None:
    code = "import sys, scenarios.language; print([name for name in sys.modules if 'observe.checkers' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_taken_cannot_be_registered() -> None:
    with pytest.raises(ValueError, match="'log_matching' already: scenarios"):
        register(REGISTRY["log_matching"])


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=REGISTRY)
def test_a_checker_says_what_it_is_for(kind: type[Checker]) -> None:
    assert ": " in kind.statement, "the formal line, then the sentence"
    assert catches(kind) or kind.fails_when or any(kind.name in ticket.breaks for ticket in TICKETS.values())
    assert kind.__doc__ is not None
    assert "Verified: " in kind.__doc__
    assert "Not verified: " in kind.__doc__


def test_an_unknown_invariant() -> None:
    with pytest.raises(BadInput, match="'one_leader_per_epok'; did you mean 'one_leader_per_epoch'"):
        WrittenHistory("one_leader_per_epok")


def test_only_the_chosen_ones_watch() -> None:
    run = WrittenHistory("high_watermark_monotone")
    run.leads(0, 1)
    run.leads(1, 1)
    assert run.violations() == []
    assert list(run.checkers.counts) == ["high_watermark_monotone"]


def test_the_first_violations_are_remembered_and_all_are_counted() -> None:
    run = WrittenHistory("high_watermark_monotone", kept=3)
    run.begin()
    for offset in range(100, 80, -1):
        run.high_watermark(0, offset, leader=True)
    found = [violation.state.rpartition(": ")[2] for violation in run.violations()]
    assert found == [f"from {offset} back to {offset - 1} as leader" for offset in (100, 99, 98)]
    assert run.checkers.counts == {"high_watermark_monotone": 19}
    assert sum(type(event) is e.Violated for event in run.events_so_far()) == 3


def test_the_end_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run = WrittenHistory("no_acked_record_lost")
    ends: list[str] = []

    def finish(checker: Checker) -> None:
        ends.append(checker.name)

    monkeypatch.setattr(REGISTRY["no_acked_record_lost"], "finish", finish)
    run.violations()
    run.violations()
    assert ends == ["no_acked_record_lost"]


def test_a_checker_subscribes_by_annotation() -> None:
    class Watcher:
        seen: ClassVar[list[Any]] = []

        def on_crash(self, event: e.NodeCrashed) -> None:
            self.seen.append(event)

        def on_state(self, event: StateWritten) -> None:
            self.seen.append(event)

    kinds = [kind for kind, _ in subscriptions(Watcher())]
    assert kinds == [e.NodeCrashed, StateWritten]


def test_a_subscription_without_a_kind_is_refused() -> None:
    class Vague:
        def on_something(self, event) -> None:  # type: ignore[no-untyped-def]
            pass

    with pytest.raises(TypeError, match=r"Vague\.on_something: annotate"):
        list(subscriptions(Vague()))


def appended(node: int, base: int, id: int, epoch: int) -> e.BatchesAppended:
    """An append to the log of ``orders-0``."""
    return e.BatchesAppended(0, 0, 0, node, "orders", True, (0,), (epoch,), (base,), (base + 10,), (id,), (1,))


def test_equal_histories_are_one_object_and_different_ones_are_not() -> None:
    logs = ReplicaLogs()

    def append(node: int, base: int, id: int, epoch: int = 0) -> None:
        logs.on_appended(appended(node, base, id, epoch))

    for node in (0, 1):
        append(node, 0, 1)
    append(0, 10, 2)
    append(1, 10, 3)
    first, second = logs.get(0, ORDERS_0), logs.get(1, ORDERS_0)
    assert first is not None
    assert second is not None
    shared, own = first.entries[1], first.entries[2]
    assert second.holds(shared)
    assert not second.holds(own)
    assert first.find(10, 2) is own
    assert first.find(10, 3) is None
    assert first.find(5, 1) is None


def test_a_batch_sent_again_in_another_epoch_is_another_entry() -> None:
    logs = ReplicaLogs()
    for node, epoch in ((0, 0), (1, 1)):
        logs.on_appended(appended(node, 0, 1, epoch))
    first, second = logs.get(0, ORDERS_0), logs.get(1, ORDERS_0)
    assert first is not None
    assert second is not None
    assert not second.holds(first.entries[1])


def test_a_log_with_a_hole_holds_nothing_before_it() -> None:
    run = WrittenHistory("no_acked_record_lost").begin()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1)
    run.append(1, 10, 2)
    run.state(1, (1,), 1)
    run.leads(1, 1)
    assert run.invariants() == ["no_acked_record_lost"]


def test_a_log_whose_start_has_moved_is_left_alone() -> None:
    run = WrittenHistory("no_acked_record_lost").begin()
    run.append(0, 0, 1, leader=True)
    run.acked(0, 1)
    run.truncated(1, 500)
    run.append(1, 500, 7)
    run.state(1, (1,), 1)
    run.leads(1, 1)
    assert run.violations() == []
