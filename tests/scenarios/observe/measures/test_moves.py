"""Which requests count as one move: overrides, cancellations, refusals, and a move whose controller dies before it
records the end."""

from __future__ import annotations

import pytest

from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControllerElected, MoveAnswered, MoveCancelled
from emulator.protocol.znodes import Reassigning, encode_topic, topic_path
from tests.scenarios.observe.measures.streams import ORDERS_0, Stream

OLD = (0, 1, 2)


def started() -> Stream:
    """orders-0 on [0,1,2], all in sync, at time 0."""
    stream = Stream()
    stream.topic("orders", {0: OLD})
    stream.state(0, OLD)
    return stream


def topic(stream: Stream, replicas: tuple[int, ...], reassigning: Reassigning) -> None:
    stream.write(topic_path("orders"), encode_topic({0: replicas}, reassigning))


def answer(stream: Stream, error: Errors = Errors.NONE) -> None:
    stream.emit(MoveAnswered, *ORDERS_0, error.name)


def moves(stream: Stream) -> list[tuple[int, tuple[int, ...], tuple[int, ...], bool]]:
    """Length in milliseconds, original, target, finished."""
    return [(row.w_us // 1000, row.original, row.target, row.finished) for row in stream.rows("moves")]


def test_an_override_goes_on_with_another_target() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    answer(stream)
    stream.at(2_000).move((4, 1, 2))
    topic(stream, (4, 1, 2, 0), {0: ReassigningReplicas((4,), (0,))})
    answer(stream)
    stream.at(3_000).moved()
    stream.finish(9_000)
    assert moves(stream) == [(2_000, OLD, (4, 1, 2), True)]


def test_a_cancelled_move_ends_where_it_began() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    answer(stream)
    stream.at(2_000).emit(MoveCancelled, *ORDERS_0)
    topic(stream, (1, 2, 0), {})
    stream.moved()
    answer(stream)
    assert stream.finish(9_000)["under_replicated_draft_us"] == 0
    assert moves(stream) == [(1_000, OLD, OLD, True)]


@pytest.mark.parametrize("error", [Errors.INVALID_REPLICA_ASSIGNMENT, Errors.REQUEST_TIMED_OUT])
def test_a_refused_request_is_no_move_and_one_without_an_answer_may_be(error: Errors) -> None:
    stream = started()
    stream.at(1_000).move((3, 3))
    answer(stream, error)
    stream.finish(9_000)
    expected = [(8_000, OLD, (3, 3), False)] if error is Errors.REQUEST_TIMED_OUT else []
    assert moves(stream) == expected


def test_a_refused_override_leaves_the_move_as_it_was() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    answer(stream)
    stream.at(2_000).move((9, 1, 2))
    answer(stream, Errors.INVALID_REPLICA_ASSIGNMENT)
    stream.at(3_000).moved()
    stream.finish(9_000)
    assert moves(stream) == [(2_000, OLD, (3, 1, 2), True)]


def test_a_cancellation_of_nothing_changes_nothing() -> None:
    stream = started()
    stream.at(1_000).emit(MoveCancelled, *ORDERS_0)
    answer(stream, Errors.NO_REASSIGNMENT_IN_PROGRESS)
    assert stream.finish(9_000)["moves"] == 0


def test_a_move_that_is_over_in_zookeeper_ends_with_the_next_controllers_election() -> None:
    """The last controller has died between KIP-455's B6 and B7."""
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    stream.at(2_000).emit(ControllerElected, 5, 2)
    assert stream.measures.open_moves == 1, "it is being reassigned"
    stream.at(3_000).state(3, (3, 1, 2), epoch=4)
    topic(stream, (3, 1, 2), {})
    assert stream.measures.open_moves == 1
    stream.at(9_000).emit(ControllerElected, 6, 3)
    # By the draft the original replicas count to the end of the move, at 9.0; broker 0 is out of the ISR since 3.0.
    assert stream.finish(10_000)["under_replicated_draft_us"] == 6_000_000
    assert moves(stream) == [(8_000, OLD, (3, 1, 2), True)]


def test_a_new_request_is_not_ended_by_the_election_that_finds_the_last_one_over() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    topic(stream, (3, 1, 2), {})
    stream.at(5_000).move((4, 1, 2))
    stream.at(9_000).emit(ControllerElected, 6, 3)
    assert stream.measures.open_moves == 1
