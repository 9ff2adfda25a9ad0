"""Which requests count as one move, and which moves are done: overrides, cancellations, refusals, requests that are
lost, and a move whose controller dies before it records the end."""

from __future__ import annotations

import pytest

from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControllerElected, MoveAnswered, MoveCancelled, ReplicaStopped
from emulator.protocol.znodes import REASSIGN_PARTITIONS, Reassigning, encode_reassignment, encode_topic, topic_path
from emulator.trace.events import Step
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
    topic(stream, (4, 1, 2), {})
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
    found = stream.finish(9_000)
    assert (found["under_replicated_draft_us"], found["moves_finished"], found["moves_returned"]) == (0, 1, 1)
    assert moves(stream) == [(1_000, OLD, OLD, True)]


def test_also_one_that_was_asked_for_before_its_topic_was_made() -> None:
    """Seed 415 of kafka-3.6: the topic and its move are asked for while there is no controller."""
    stream = Stream()
    stream.at(1_000).move((3, 1, 2))
    stream.topic("orders", {0: OLD})
    stream.state(0, OLD)
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    answer(stream)
    stream.at(2_000).emit(MoveCancelled, *ORDERS_0)
    topic(stream, (1, 2, 0), {})
    stream.moved()
    answer(stream)
    stream.finish(9_000)
    assert moves(stream) == [(1_000, OLD, OLD, True)]


def test_one_that_asks_for_the_replicas_with_which_its_topic_is_made_moves_nothing() -> None:
    stream = Stream()
    stream.at(1_000).move(OLD)
    stream.topic("orders", {0: OLD})
    answer(stream)
    assert stream.finish(9_000)["moves"] == 0


def test_so_does_one_that_was_begun_by_an_earlier_request() -> None:
    """A request whose answer was lost is carried out after a later one has ended."""
    stream = started()
    stream.at(1_000)
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    stream.move((3, 1, 2))
    stream.at(2_000).emit(MoveCancelled, *ORDERS_0)
    topic(stream, (1, 2, 0), {})
    stream.moved()
    stream.finish(9_000)
    assert moves(stream) == [(1_000, (1, 2, 0), (1, 2, 0), True)]


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
    stream.topic("orders", {0: (3, 1, 2)})
    stream.at(3_000).moved()
    stream.finish(9_000)
    assert moves(stream) == [(2_000, OLD, (3, 1, 2), True)]


def test_nor_does_one_that_is_refused_as_the_move_has_ended() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    answer(stream)
    stream.at(2_000).move((9, 1, 2))
    stream.topic("orders", {0: (3, 1, 2)})
    stream.moved()
    stream.at(3_000)
    answer(stream, Errors.INVALID_REPLICA_ASSIGNMENT)
    stream.finish(9_000)
    assert moves(stream) == [(2_000, OLD, (3, 1, 2), True)]


def test_an_override_that_comes_as_the_move_ends_is_done_when_it_is() -> None:
    """The controller had ended the first move before it got the second request."""
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    answer(stream)
    stream.at(2_000).move((4, 1, 2))
    stream.topic("orders", {0: (3, 1, 2)})
    stream.moved()
    assert stream.measures.under_way == ()
    stream.at(2_500).emit(Step, "kip-455.U1", "before", *ORDERS_0, -1, 0, 0, "")
    assert stream.measures.any_open_moves
    stream.append(4, 3)
    stream.topic("orders", {0: (4, 1, 2)})
    stream.at(5_000).moved()
    assert stream.finish(9_000)["bytes_moved"] == 100
    assert moves(stream) == [(4_000, OLD, (4, 1, 2), True)]


def test_of_two_requests_the_controller_may_get_the_first_one_last() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.move((4, 1, 2))
    stream.topic("orders", {0: (3, 1, 2)})
    stream.at(2_000).moved()
    answer(stream)
    assert stream.measures.finish(2_000_000) is not None
    assert moves(stream) == [(1_000, OLD, (4, 1, 2), False)], "the other one may come"


def test_a_request_without_an_answer_may_be_carried_out_after_the_move_that_it_began() -> None:
    """The first of two equal requests ends the move, and the second is carried out after one for other replicas."""
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.at(1_500).move((3, 1, 2))
    topic(stream, (3, 1, 2), {})
    stream.at(2_000).moved()
    stream.at(3_000).move((4, 1, 2))
    topic(stream, (4, 1, 2), {})
    topic(stream, (3, 1, 2), {})
    stream.at(4_000).moved()
    for _ in range(3):
        answer(stream)
    stream.finish(9_000)
    assert moves(stream) == [(1_000, OLD, (3, 1, 2), True), (1_000, (3, 1, 2), (3, 1, 2), True)]


@pytest.mark.parametrize("error", [Errors.NONE, Errors.REQUEST_TIMED_OUT])
def test_when_all_have_answers_none_will_come(error: Errors) -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.move((4, 1, 2))
    stream.topic("orders", {0: (3, 1, 2)})
    stream.at(2_000).moved()
    answer(stream)
    answer(stream, error)
    stream.finish(9_000)
    assert [row.finished for row in stream.rows("moves")] == [error is Errors.NONE]


def test_what_a_tool_waits_for_is_open_though_the_move_of_an_earlier_request_has_ended() -> None:
    """The tool asks again where its request was lost: the run does not end before the answer."""
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.at(1_500).move((4, 1, 2))
    stream.topic("orders", {0: (3, 1, 2)})
    answer(stream)
    stream.at(2_000).moved()
    waited = stream.measures.any_open_moves
    answer(stream, Errors.REQUEST_TIMED_OUT)
    assert (waited, stream.measures.any_open_moves) == (True, False)
    stream.finish(9_000)
    assert moves(stream) == [(8_000, OLD, (4, 1, 2), False)]


def test_a_cancellation_may_reach_the_controller_after_the_request() -> None:
    stream = started()
    stream.at(1_000).emit(MoveCancelled, *ORDERS_0)
    stream.move((3, 1, 2))
    topic(stream, (3, 1, 2, 0), {0: ReassigningReplicas((3,), (0,))})
    answer(stream)
    topic(stream, (1, 2, 0), {})
    stream.at(2_000).moved()
    answer(stream)
    stream.finish(9_000)
    assert [row.finished for row in stream.rows("moves")] == [True]


@pytest.mark.parametrize(("now", "finished"), [((1, 3), True), ((4, 5), False)])
def test_a_cancellation_that_comes_last_goes_back_to_what_an_earlier_request_has_reached(
    now: tuple[int, ...], finished: bool
) -> None:
    """kafka-2.7, seed 243: three tools ask while there is no controller, and the second is heard last."""
    stream = started()
    stream.at(1_000).move((3, 1))
    stream.emit(MoveCancelled, *ORDERS_0)
    stream.move((4, 1))
    topic(stream, (3, 1), {})
    stream.at(2_000).moved()
    answer(stream)
    topic(stream, (4, 1, 3), {0: ReassigningReplicas((4,), (3,))})
    answer(stream)
    topic(stream, now, {})
    stream.at(3_000).moved()
    answer(stream)
    stream.finish(9_000)
    assert [row.finished for row in stream.rows("moves")] == [finished]


def lost() -> Stream:
    """A move that was asked for at 1 s in /admin/reassign_partitions, which a controller has deleted unread at 2 s."""
    stream = started()
    stream.at(1_000).write(REASSIGN_PARTITIONS, encode_reassignment({ORDERS_0: (3, 1, 2)}), op="create")
    stream.move((3, 1, 2))
    stream.at(2_000).write(REASSIGN_PARTITIONS, "", op="delete")
    return stream


def test_a_request_that_is_gone_when_the_next_controller_is_elected_has_failed() -> None:
    stream = lost()
    assert stream.measures.any_open_moves, "its controller may know it"
    stream.at(3_000).emit(ControllerElected, 5, 2)
    assert (stream.measures.any_open_moves, stream.measures.under_way) == (False, ())
    found = stream.finish(9_000)
    names = ("moves", "moves_finished", "moves_failed", "moves_never_begun", "time_to_complete_us")
    assert [found[name] for name in names] == [1, 0, 1, 1, None]
    assert moves(stream) == [(8_000, OLD, (3, 1, 2), False)]


def test_one_that_is_asked_for_again_goes_on() -> None:
    stream = lost()
    stream.at(3_000).emit(ControllerElected, 5, 2)
    stream.at(4_000).move((3, 1, 2))
    stream.append(3, 3)
    stream.topic("orders", {0: (3, 1, 2)})
    stream.at(5_000).moved()
    found = stream.finish(9_000)
    assert (found["moves_failed"], found["bytes_moved"]) == (0, 100)
    assert moves(stream) == [(4_000, OLD, (3, 1, 2), True)]


@pytest.mark.parametrize("again", [True, False])
def test_a_request_by_the_api_awaits_its_answer_though_the_znode_names_the_partition(again: bool) -> None:
    """kafka-2.5, seed 91: the znode's move ends at the target that the API is asked for too, and another one is begun
    and ended before the controller gets to that request."""
    stream = started()
    stream.at(1_000).write(REASSIGN_PARTITIONS, encode_reassignment({ORDERS_0: (3, 1, 2)}), op="create")
    stream.move((3, 1, 2))
    if again:
        stream.at(1_500).move((3, 1, 2))
    stream.topic("orders", {0: (3, 1, 2)})
    stream.at(2_000).moved()
    stream.at(3_000).move((4, 1, 2))
    answer(stream)
    stream.topic("orders", {0: (4, 1, 2)})
    stream.topic("orders", {0: (3, 1, 2)})
    stream.at(4_000).moved()
    if again:
        answer(stream)
    found = stream.finish(9_000)
    assert (found["moves"], found["moves_failed"]) == (2, 0 if again else 1)


def test_a_move_that_the_controller_refuses_in_the_znode_is_not_done() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.at(2_000).moved()
    found = stream.finish(9_000)
    assert (found["moves_finished"], found["moves_failed"], found["moves_never_begun"]) == (0, 1, 1)
    assert moves(stream) == [(8_000, OLD, (3, 1, 2), False)]


def test_nor_is_one_of_a_topic_that_is_deleted_a_move() -> None:
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.at(2_000).write(topic_path("orders"), "", op="delete")
    stream.moved()
    assert stream.finish(9_000)["moves"] == 0


@pytest.mark.parametrize("again", [True, False])
def test_what_a_topic_is_made_with_during_its_move_is_not_moved(again: bool) -> None:
    """A topic that is deleted and made again, or that is asked to move before it is there: its own replicas fetch, and
    the replica that the move adds to them. Data of the old topic counts, as what was lost."""
    stream = started() if again else Stream()
    stream.at(1_000).move((3, 1, 2))
    if again:
        stream.append(3, 10)
        stream.at(2_000).write(topic_path("orders"), "", op="delete")
        stream.emit(ReplicaStopped, 3, *ORDERS_0, True)
    topic(stream, (4, 5), {})
    stream.append(5, 10)
    topic(stream, (3, 4, 5), {0: ReassigningReplicas((3,), ())})
    stream.append(3, 10)
    found = stream.finish(9_000)
    assert (found["bytes_moved"], found["bytes_wasted"]) == ((200, 100) if again else (100, 0))


def test_nor_is_one_that_is_refused_because_its_topic_is_to_be_deleted() -> None:
    """Even where a new topic has the name before the next controller is elected."""
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.at(2_000).moved()
    stream.at(3_000).write(topic_path("orders"), "", op="delete")
    topic(stream, OLD, {})
    assert stream.finish(9_000)["moves"] == 0


def test_one_that_a_replaced_controller_takes_up_after_its_end_is_done_when_the_cancellation_is_refused() -> None:
    """That controller wakes from a pause, and begins the move that its successor has done meanwhile."""
    stream = started()
    stream.at(1_000).move((3, 1, 2))
    stream.at(2_000).emit(MoveCancelled, *ORDERS_0)
    topic(stream.at(3_000), (3, 1, 2), {})
    stream.moved()
    stream.at(4_000).emit(Step, "kip-455.U1", "before", *ORDERS_0, -1, 0, 0, "")
    answer(stream.at(5_000), Errors.NO_REASSIGNMENT_IN_PROGRESS)
    assert stream.finish(9_000)["moves_finished"] == 1


@pytest.mark.parametrize("ends", [True, False])
def test_a_request_for_what_is_there_is_no_move(ends: bool) -> None:
    stream = started()
    stream.at(1_000).move(OLD)
    assert stream.measures.any_open_moves, "it is waited for"
    if ends:
        stream.at(2_000).moved()
    found = stream.finish(9_000)
    assert (found["moves"], found["moves_finished"]) == (0, 0)


def test_but_an_override_of_it_is_one() -> None:
    stream = started()
    stream.at(1_000).move(OLD)
    stream.at(2_000).move((3, 1, 2))
    stream.finish(9_000)
    assert moves(stream) == [(8_000, OLD, (3, 1, 2), False)]


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
    assert stream.measures.any_open_moves, "it is being reassigned"
    stream.at(3_000).state(3, (3, 1, 2), epoch=4)
    topic(stream, (3, 1, 2), {})
    assert stream.measures.any_open_moves
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
    assert stream.measures.any_open_moves
