"""Why does a move wait?"""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import (
    ControllerElected,
    MoveAnswered,
    MoveFinished,
    MoveReported,
    MoveStarted,
    NodeCrashed,
)
from emulator.trace.events import Step
from scenarios.observe.timeline.moment import OpenMove
from scenarios.observe.timeline.words import words
from scenarios.observe.why.answer import Answer, ids, when
from scenarios.observe.why.past import Past
from scenarios.observe.why.replicas import Found, how_it_left, what_keeps_it_out


def move(past: Past) -> Answer:
    """Why the partition's move has not ended."""
    tp, at = past.tp, when(past.at_us)
    question = f"why does the move of {tp} wait at {at}"
    waiting = open_move(past)
    started = past.of_partition(MoveStarted)
    if waiting is None:
        return Answer.of(question, *_ended(past, started))
    step = past.of_partition(Step)
    found = _reason(past, waiting)
    way = f"from {ids(waiting.original)} to {ids(waiting.target)}"
    sentence = f"The move of {tp} {way} is {waiting.place} at {at}: {found.clause}."
    return Answer.of(question, (started, step, *found.events), sentence)


def _ended(past: Past, started: MoveStarted | None) -> tuple[tuple[Any, ...], str]:
    if started is None:
        return (), f"No move of {past.tp} was requested by {when(past.at_us)}."
    ends = (past.of_partition(kind) for kind in (MoveFinished, MoveReported, MoveAnswered))
    ended = next((end for end in ends if end is not None and end.seq > started.seq), None)
    how = "" if ended is None else f": {words(ended)}, at {when(ended.t_us)}"
    return (started, ended), f"No move of {past.tp} is open at {when(past.at_us)}{how}."


def open_move(past: Past) -> OpenMove | None:
    """The partition's move that is under way."""
    return next((one for one in past.moment.moves if one.partition == str(past.tp)), None)


def _reason(past: Past, waiting: OpenMove) -> Found:
    if past.moment.controller < 0:
        gone = past.last(NodeCrashed, lambda crash: crash.node == _last_controller(past))
        since = "" if gone is None else f" since broker {gone.node} died at {when(gone.t_us)}"
        return Found(f"there has been no controller{since}, so nothing goes on", (gone,))
    state = past.state
    if not waiting.step:
        return Found(f"controller {past.moment.controller} has not begun it", ())
    assert state is not None
    missing = [broker for broker in waiting.target if broker not in state.isr]
    if not missing:
        return Found(f"all target replicas are in the ISR {ids(state.isr)}, and the controller has still to go on", ())
    events: list[Any] = []
    clauses: dict[str, list[int]] = {}
    for broker in missing:
        obstacle = what_keeps_it_out(past, broker)
        left = how_it_left(past, broker) if any(broker in stated.isr for stated in past.stated) else None
        clause = obstacle.clause if left is None else f"{left.clause}; {obstacle.clause}"
        clauses.setdefault(clause, []).append(broker)
        events += [*(left.events if left is not None else ()), *obstacle.events]
    reasons = ". ".join(f"{_named(brokers)}: {clause}" for clause, brokers in clauses.items())
    return Found(f"it waits until {ids(missing)} are in the ISR {ids(state.isr)}. {reasons}", tuple(events))


def _named(brokers: list[int]) -> str:
    return f"Broker{'s' * (len(brokers) > 1)} {', '.join(map(str, brokers))}"


def _last_controller(past: Past) -> int:
    elected = past.last(ControllerElected)
    return -1 if elected is None else int(elected.node)
