"""E8: a broker without a session writes nothing."""

import pytest

from emulator.trace.events import ZkSession, ZkWritten
from emulator.trace.shown_znodes import ZnodeCreated
from scenarios.observe.checkers.no_write_after_expiry import NoWriteAfterExpiry
from tests.scenarios.observe.checkers.written_history import WrittenHistory


def session(run: WrittenHistory, id: int, state: str, client: int = 0) -> None:
    run.emit(ZkSession, client, id, state)


def writes(run: WrittenHistory, client: int = 0) -> None:
    run.emit(ZkWritten, client, "create", "/isr_change_notification/isr_change_1", 0, 9, "{}")


def test_a_write_after_the_session_has_expired() -> None:
    run = WrittenHistory(NoWriteAfterExpiry.name)
    session(run, 1, "created")
    session(run, 1, "expired")
    writes(run)
    [violation] = run.violations()
    assert violation.state == (
        "broker 0 writes /isr_change_notification/isr_change_1 (create); its session expired at 2000 µs"
    )


def test_writes_within_a_session() -> None:
    run = WrittenHistory(NoWriteAfterExpiry.name)
    session(run, 1, "created")
    session(run, 2, "created", client=1)
    writes(run)
    session(run, 1, "expired")
    writes(run, client=1)
    writes(run, client=-1)
    session(run, 3, "created")
    writes(run)
    assert run.violations() == []


def test_the_session_of_an_earlier_incarnation_expires_late() -> None:
    run = WrittenHistory(NoWriteAfterExpiry.name)
    session(run, 1, "created")
    session(run, 2, "created")
    session(run, 1, "expired")
    writes(run)
    assert run.violations() == []


def test_a_second_session_that_the_broker_does_not_use_expires() -> None:
    """Its first attempt to connect was given up, and served after the second one."""
    run = WrittenHistory(NoWriteAfterExpiry.name)
    session(run, 1, "created")
    session(run, 2, "created")
    session(run, 2, "expired")
    writes(run)
    assert run.violations() == []


def test_a_write_after_both_sessions_have_expired() -> None:
    run = WrittenHistory(NoWriteAfterExpiry.name)
    for state in ("created", "expired"):
        session(run, 1, state)
        session(run, 2, state)
    writes(run)
    assert len(run.violations()) == 1


NOTIFICATION = "/isr_change_notification/isr_change_0000000001"


@pytest.mark.parametrize(
    ("client", "path", "ephemeral", "found"),
    [
        (1, "/controller", True, ""),
        (1, "/brokers/ids/1", True, ""),
        (1, NOTIFICATION, False, ""),
        (1, NOTIFICATION, True, f"broker 1 creates {NOTIFICATION}, an ephemeral znode"),
        (1, "/brokers/ids/1", False, "broker 1 creates /brokers/ids/1, a persistent znode"),
        (-2, "/consumers/a", True, ""),
    ],
)
def test_what_ends_with_a_session(client: int, path: str, ephemeral: bool, found: str) -> None:
    run = WrittenHistory(NoWriteAfterExpiry.name)
    run.show(ZnodeCreated, client, path, ephemeral)
    assert [violation.state for violation in run.violations()] == ([found] if found else [])
