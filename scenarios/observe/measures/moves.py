"""The times that the moves of partitions took, from the operator's first request to the end of the last move.

A move is done when it has ended (``move_ends``) and ZooKeeper has its target as the assignment, with nothing to add or
remove. A move that has ended otherwise has failed, as ``kafka-reassign-partitions --verify`` calls it: the controller
refused it in /admin/reassign_partitions, or nothing in ZooKeeper asks for it any more. A move that has failed, or is
open at the run's end, is censored: a result of its own, never a number. The same holds for a move that the operator
gives up, and for one that was planned and never requested, whose time counts from the plan.

A request for a partition that is already moving continues the open move with a new target, and so does one for a
partition whose move has failed; a request to cancel continues it with the original replicas as its target. A request
that is refused changes nothing. A request for the present replicas of a partition is no move, nor is one whose topic is
deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from attrs import define, evolve

from controller.procedures import STEPS
from emulator.protocol.assignments import without
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveAnswered, MoveCancelled, MovePlanned, MoveReported, MoveStarted
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from emulator.trace.events import Step
from scenarios.observe.measures.added_replicas import AddedReplicaRow, AddedReplicas
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, RunParts, Table
from scenarios.observe.measures.move_ends import MoveEnds
from scenarios.observe.past.changes import AssignmentWritten

TAKEN_UP = "move.listen"


class MoveRow(NamedTuple):
    """One partition's move, from the operator's request; ``w_us`` ends with the run when ``finished`` is false.

    Attributes:
        finished: whether it was done.
        failed: whether it ended and was not done.
        begun: whether a controller began it.
    """

    t_us: int
    seq: int
    w_us: int
    topic: str
    partition: int
    original: tuple[int, ...]
    target: tuple[int, ...]
    finished: bool = False
    failed: bool = False
    begun: bool = False


@define(eq=False)
class _Move:
    """A move that is not done.

    Attributes:
        needed: whether a request was for other replicas than the partition had.
        taken_up_again: whether a controller has taken it up after it had ended; one that was replaced ends nothing.
    """

    row: MoveRow
    needed: bool
    taken_up_again: bool = False


class Moves(Fold):
    """The fold over one run. Its rows are in the order of the moves' ends, unfinished ones last."""

    FIGURES = (
        Figure(
            name="time_to_complete_us",
            text="from the first move's start until the last one is done; none if a move is unfinished",
            unit="s",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(name="moves", text="moves of partitions", unit="moves", compared=Compared.NO),
        Figure(
            name="moves_finished",
            text="moves that were done",
            unit="moves",
            better=Better.HIGHER,
            compared=Compared.NO,
        ),
        Figure(
            name="moves_returned",
            text="of the moves that were done, those that ended at the replicas from before: cancelled, or asked back",
            unit="moves",
            compared=Compared.NO,
        ),
        Figure(
            name="moves_failed",
            text="moves that ended without their target: refused, or lost with all that asks for them",
            unit="moves",
            better=Better.LOWER,
            compared=Compared.NO,
        ),
        Figure(
            name="moves_never_begun",
            text="of the moves that were not done, those that no controller took up",
            unit="moves",
            better=Better.LOWER,
            compared=Compared.NO,
        ),
        Figure(
            name="bytes_moved",
            text="what replicas received that moves added",
            unit="bytes",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="bytes_wasted",
            text="of these, what was lost again, or was received by replicas that their moves did not keep",
            unit="bytes",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"moves": Table(MoveRow), "added_replicas": Table(AddedReplicaRow)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._rows: list[MoveRow] = []
        self._open: dict[TopicPartition, _Move] = {}
        """The moves that are not done, including failed ones."""
        self._before: dict[TopicPartition, _Move | None] = {}
        self._planned: dict[TopicPartition, _Move] = {}
        self._unanswered: dict[TopicPartition, int] = {}
        """The number of requests through the API without an answer yet, by partition; one that was given up as its time
        was over may still be carried out, and counts."""
        self._awaited: dict[TopicPartition, int] = {}
        """The number of them whose tools still wait, and ask again: what they ask for is not over, also where the move
        of an earlier request has ended otherwise."""
        self._asked: dict[TopicPartition, tuple[tuple[int, ...], ...]] = {}
        """The requested targets of the open moves, with those of requests that were without an answer when an earlier
        move was done: a new controller may still carry them out."""
        self._cancels: dict[TopicPartition, None] = {}
        """The partitions for which one of these requests is to cancel."""
        self._added = AddedReplicas(source.trace)
        self._added_rows: list[AddedReplicaRow] = []
        self._keep_rows = source.measured.keep_rows
        self._bytes_moved = self._bytes_wasted = 0
        self._cluster = source.past.now
        self._ends = MoveEnds(source.trace, source.past, self._ended)

    @property
    def any_open(self) -> bool:
        """Whether moves are in progress, or the operator will still request some. It is asked all the time."""
        if self._planned:
            return True
        return any(not move.row.failed or self._awaited.get(tp, 0) > 0 for tp, move in self._open.items())

    @property
    def under_way(self) -> tuple[TopicPartition, ...]:
        """The partitions whose moves were requested and have not ended."""
        return tuple(tp for tp, move in self._open.items() if not move.row.failed)

    def adding(self, tp: TopicPartition) -> tuple[int, ...]:
        """The replicas that a move in progress adds to a partition."""
        move = self._open.get(tp)
        return () if move is None or move.row.failed else without(move.row.target, move.row.original)

    @property
    def open_rows(self) -> tuple[MoveRow, ...]:
        """The rows of the moves in progress, up to now."""
        return tuple(move.row for move in self._open.values() if not move.row.failed)

    @property
    def unfinished(self) -> tuple[TopicPartition, ...]:
        """After ``finish``: the partitions whose moves were not done."""
        return tuple(TopicPartition(row.topic, row.partition) for row in self._rows if not row.finished)

    def finish(self, end_us: int) -> None:
        for move in (*self._open.values(), *self._planned.values()):
            if move.needed:
                self._rows.append(move.row._replace(w_us=end_us - move.row.t_us))
        for tp in self.under_way:
            self._received(tp, end_us)
        self._open.clear()
        self._planned.clear()

    def figures(self) -> Mapping[str, Value]:
        rows, finished = self._rows, sum(row.finished for row in self._rows)
        took_us = None
        if rows and finished == len(rows):
            took_us = max(row.t_us + row.w_us for row in rows) - min(row.t_us for row in rows)
        return {
            "time_to_complete_us": took_us,
            "moves": len(rows),
            "moves_finished": finished,
            "moves_returned": sum(row.finished and row.target == row.original for row in rows),
            "moves_failed": sum(row.failed for row in rows),
            "moves_never_begun": sum(not (row.finished or row.begun) for row in rows),
            "bytes_moved": self._bytes_moved,
            "bytes_wasted": self._bytes_wasted,
        }

    def tables(self) -> Mapping[str, list[Any]]:
        return {"moves": self._rows, "added_replicas": self._added_rows}

    # -- requests -----------------------------------------------------------------------------------------------------

    def on_announced(self, event: MovePlanned) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._planned[tp] = self._new(tp, event)

    def on_started(self, event: MoveStarted) -> None:
        tp = TopicPartition(event.topic, event.partition)
        self._planned.pop(tp, None)
        before = self._before[tp] = self._open.get(tp)
        move = self._open[tp] = self._new(tp, event)
        if before is not None:
            move.row = before.row._replace(target=event.target, failed=False)
            move.needed = before.needed or move.needed
        earlier = self._asked.get(tp, ()) if before is not None or self._unanswered.get(tp) else ()
        self._asked[tp] = (*earlier, event.target)
        if not self._ends.announces_znode(tp):
            self._await_answer(tp)
        if before is None or before.row.failed:
            self._added.begin(tp, move.row.t_us, move.row.original)

    def _new(self, tp: TopicPartition, event: MovePlanned | MoveStarted) -> _Move:
        original, target = self._cluster.original(tp), event.target
        row = MoveRow(event.t_us, event.seq, 0, tp.topic, tp.partition, original, target)
        return _Move(row, original != target or self._cluster.is_reassigning(tp))

    def on_cancelled(self, event: MoveCancelled) -> None:
        tp = TopicPartition(event.topic, event.partition)
        before = self._before[tp] = self._open.get(tp)
        self._await_answer(tp)
        self._cancels[tp] = None
        if before is not None:
            self._open[tp] = evolve(before, row=before.row._replace(target=before.row.original))

    def _await_answer(self, tp: TopicPartition) -> None:
        for requests in (self._unanswered, self._awaited):
            requests[tp] = requests.get(tp, 0) + 1

    def on_answered(self, event: MoveAnswered) -> None:
        tp = TopicPartition(event.topic, event.partition)
        before = self._before.pop(tp, None)
        self._awaited[tp] = max(0, self._awaited.get(tp, 0) - 1)
        if event.error != Errors.REQUEST_TIMED_OUT.name:
            self._unanswered[tp] = max(0, self._unanswered.get(tp, 0) - 1)
        if refused(event):
            self._refused(tp, before, event)
        move = self._open.get(tp)
        if move is not None and (move.row.failed or move.taken_up_again) and self._is_done(tp, move):
            self._done(tp, move, event)
        if not self._unanswered.get(tp):
            self._cancels.pop(tp, None)

    def _refused(self, tp: TopicPartition, before: _Move | None, event: MoveAnswered) -> None:
        move = self._open.get(tp)
        if before is None:
            self._planned.pop(tp, None)
            self._open.pop(tp, None)
        if move is None:
            return
        if not move.row.failed and (before is None or before.row.failed):
            self._received(tp, event.t_us)
        if before is not None:
            move.row = move.row._replace(target=before.row.target, failed=move.row.failed or before.row.failed)
            move.needed = before.needed

    # -- how they go on -----------------------------------------------------------------------------------------------

    def on_stepped(self, event: Step) -> None:
        """Take note that a controller works on a move, even one that seemed to have failed because it ended at the
        target of an earlier request."""
        move = self._open.get(TopicPartition(event.topic, event.partition)) if event.topic else None
        if move is None or event.edge != "before":
            return
        procedure = STEPS[event.step]
        if procedure.reassignment and event.step == procedure.phases[TAKEN_UP].first:
            if move.row.failed:
                self._added.begin(TopicPartition(event.topic, event.partition), move.row.t_us, move.row.original)
                move.taken_up_again = True
            move.row = move.row._replace(begun=True, failed=False)

    def _ended(self, event: Event, tp: TopicPartition) -> None:
        move = self._open.get(tp)
        if move is None:
            return
        if not move.row.failed:
            self._received(tp, event.t_us)
        if self._is_done(tp, move):
            self._done(tp, move, event)
        elif self._cluster.assignment(tp):
            move.row = move.row._replace(failed=True)
        else:
            del self._open[tp]

    def on_assigned(self, event: AssignmentWritten) -> None:
        """Forget a move that was refused because its topic was to be deleted, as that topic goes. One that was asked
        for before its topic is made begins with the replicas with which that is."""
        move = self._open.get(event.tp)
        if move is None:
            return
        if not (event.before or move.row.failed):
            self._added.made(event.tp, event.replicas)
        if move.row.failed and not event.replicas:
            del self._open[event.tp]
        elif not move.row.original and event.replicas:
            move.row = move.row._replace(original=event.replicas, target=move.row.target or event.replicas)
            move.needed = move.row.target != event.replicas

    def _done(self, tp: TopicPartition, move: _Move, event: Event) -> None:
        del self._open[tp]
        if move.needed:
            now, took_us = self._cluster.assignment(tp), event.t_us - move.row.t_us
            target = now if now in self._asked.get(tp, ()) else move.row.original
            self._rows.append(move.row._replace(target=target, w_us=took_us, finished=True, failed=False))

    def _is_done(self, tp: TopicPartition, move: _Move) -> bool:
        """Whether a move is done. A cancelled one is done with the original replicas in any order, since Kafka does not
        keep it. Requests through the API may reach the controller in another order than they were made: when all are
        answered, each of their targets may be the last, and a cancellation may go back to any of them."""
        row, now = move.row, self._cluster.assignment(tp)
        all_answered = self._unanswered.get(tp) == 0
        cancelled = row.target == row.original or (all_answered and tp in self._cancels)
        asked = self._asked.get(tp, ()) if all_answered else ()
        reached = now == row.target or now in asked
        returned = cancelled and any(sorted(now) == sorted(before) for before in (row.original, *asked))
        return (reached or returned) and not self._cluster.is_reassigning(tp)

    def on_reported(self, event: MoveReported) -> None:
        tp = TopicPartition(event.topic, event.partition)
        if event.interrupted and not event.done and tp in self._open:
            move = self._open.pop(tp)
            if move.needed:
                self._rows.append(move.row._replace(w_us=event.t_us - move.row.t_us))
            if not move.row.failed:
                self._received(tp, event.t_us)

    def _received(self, tp: TopicPartition, t_us: int) -> None:
        """End a move that was in progress: take in what its added replicas received."""
        rows = self._added.end(tp, t_us, self._cluster.assignment(tp))
        for row in rows:
            self._bytes_moved += row.bytes
            self._bytes_wasted += row.lost_bytes if row.assigned else row.bytes
        if self._keep_rows:
            self._added_rows += rows


def refused(event: MoveAnswered) -> bool:
    """Whether the request was refused. One without an answer may have been granted."""
    return event.error not in (Errors.NONE.name, Errors.REQUEST_TIMED_OUT.name)
