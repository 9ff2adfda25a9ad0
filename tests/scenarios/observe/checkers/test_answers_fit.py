"""F8: answers fit their fetch sessions, and producers are dropped for an error."""

import pytest

from emulator.protocol.events import NodeStarted
from emulator.protocol.shown import (
    ControllerLeft,
    EpochEndsAsked,
    FetchMisanswered,
    FetchSessionChanged,
    FetchSessionRefused,
    ProducerDropped,
)
from scenarios.observe.checkers.answers_fit import AnswersFit
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


@pytest.mark.parametrize(
    ("error", "topic", "partition", "found"),
    [
        ("NONE", "orders", 0, "for orders-0, which is not in the session"),
        ("FETCH_SESSION_ID_NOT_FOUND", "", -1, "that refuses the session: FETCH_SESSION_ID_NOT_FOUND"),
    ],
)
def test_an_answer_that_does_not_fit(error: str, topic: str, partition: int, found: str) -> None:
    run = WrittenHistory(AnswersFit.name)
    run.show(FetchMisanswered, 1, 0, error, topic, partition)
    assert [violation.state for violation in run.violations()] == [f"broker 1 gets an answer from broker 0 {found}"]


@pytest.mark.parametrize(
    ("errors", "violations"),
    [(("NONE",), 1), (("NONE", "NONE"), 1), (("NONE", "NOT_LEADER_FOR_PARTITION"), 0)],
)
def test_a_producer_is_dropped_for_an_error(errors: tuple[str, ...], violations: int) -> None:
    run = WrittenHistory(AnswersFit.name)
    run.show(ProducerDropped, 1, errors)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("after", "violations"), [(2, 1), (3, 0)])
def test_a_broker_leaves_its_controller_for_another(after: int, violations: int) -> None:
    run = WrittenHistory(AnswersFit.name)
    run.show(ControllerLeft, 1, 2, after)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("on_fetch", "leader", "violations"), [(True, 0, 1), (True, 1, 0), (False, 0, 0)])
def test_where_fetches_name_epochs_their_ends_are_not_asked_for(on_fetch: bool, leader: int, violations: int) -> None:
    run = WrittenHistory(AnswersFit.name, start=StartSettings(truncates_on_fetch=on_fetch))
    run.show(EpochEndsAsked, 1, leader, ((ORDERS_0, 3),))
    assert len(run.violations()) == violations


@pytest.mark.parametrize(
    ("opened", "closed", "restarted", "fits"),
    [
        (False, False, False, "FETCH_SESSION_ID_NOT_FOUND"),
        (True, False, False, "INVALID_FETCH_SESSION_EPOCH"),
        (True, True, False, "FETCH_SESSION_ID_NOT_FOUND"),
        (True, False, True, "FETCH_SESSION_ID_NOT_FOUND"),
    ],
)
@pytest.mark.parametrize("error", ["FETCH_SESSION_ID_NOT_FOUND", "INVALID_FETCH_SESSION_EPOCH"])
def test_a_session_is_refused_for_its_number_or_for_its_epoch(
    opened: bool, closed: bool, restarted: bool, fits: str, error: str
) -> None:
    run = WrittenHistory(AnswersFit.name)
    if opened:
        run.show(FetchSessionChanged, 1, 7, True)
    if closed:
        run.show(FetchSessionChanged, 1, 7, False)
    if restarted:
        run.emit(NodeStarted, 1, 2)
    run.show(FetchSessionRefused, 1, 7, error)
    assert len(run.violations()) == (error != fits)
